"""Search functions over the rows of a pattern: words, relevance, distance, and two rankings merged.

What is true or how much it counts depends on the rows alone, never on an index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.embed import embedder_from_environment
from omnigraph.execute.bindings import Entities
from omnigraph.execute.dense import DenseGraph
from omnigraph.execute.rows import constant
from omnigraph.execute.texts import has_texts, texts_of
from omnigraph.execute.vectors import vectors_of
from omnigraph.model.errors import BadRequest
from omnigraph.query import ir
from omnigraph.search.distance import cosine_distances
from omnigraph.search.texts import Texts, counts_of, read_texts, scores, statistics
from omnigraph.search.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.bindings import Bindings, Mask
    from omnigraph.execute.execution import Execution

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

Search = ir.TextMatch | ir.Nearest | ir.TextScore | ir.Fusion
EDITS_MAX = 16
_BLOCK_ROWS = 16_384
_INDEX_ROWS = 20_000
"""Texts of fewer rows are cut into words about as fast as an index is asked."""
_NEAR_ROWS = 1_000
"""Fewer vectors are compared as fast as it is told which ones could be near."""
_SHARE = 4
"""When at least this part of a table's texts is asked for, all are cut into words and kept."""


def search_values(execution: Execution, bindings: Bindings, value: ir.Expression) -> pa.Array:
    """Give the value of a search function for each row of a pattern.

    A text filter is true, false, or null where there is no text. A score or distance is null where there is nothing
    to compare: no text with one of the words, no vector. A row a ranking has no value for is not shown by it.
    """
    assert isinstance(value, Search)
    if isinstance(value, ir.Fusion):
        return _fusion(execution, bindings, value)
    entities = bindings.columns[value.variable]
    assert isinstance(entities, Entities)
    if not isinstance(value, ir.Nearest) or _are_distinct(entities):
        return _entity_values(execution, entities, value)
    codes = execution.codes(entities)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    found = _entity_values(execution, entities.take(first), value)
    return found.take(pa.array(inverse))


def _are_distinct(entities: Entities) -> bool:
    """Whether each node is there once, as far as that can be seen at a glance."""
    return entities.kinds is None and bool((entities.ordinals[1:] > entities.ordinals[:-1]).all())


def _entity_values(
    execution: Execution, entities: Entities, value: ir.TextMatch | ir.Nearest | ir.TextScore
) -> pa.Array:
    query = constant(value.query, execution.params, execution.now)
    if query is None:
        kind = pa.bool_() if isinstance(value, ir.TextMatch) else pa.float64()
        return pa.nulls(len(entities), kind)
    match value:
        case ir.TextMatch():
            return _matches(execution, entities, value, str(query))
        case ir.TextScore():
            return _relevance(execution, entities, value, str(query))
        case ir.Nearest():
            return _distances(execution, entities, value, query)


# -- texts ---------------------------------------------------------------------------------------------


def _matches(execution: Execution, entities: Entities, value: ir.TextMatch, query: str) -> pa.Array:
    edits = None
    if value.edits is not None:
        edits = cast("int | None", constant(value.edits, execution.params, execution.now))
        if edits is None:
            return pa.nulls(len(entities), pa.bool_())
        if not 0 <= edits <= EDITS_MAX:
            raise BadRequest(f"fuzzy takes 0 to {EDITS_MAX} edits, not {edits}", edits=edits)
    found, missing = np.zeros(len(entities), np.bool_), np.ones(len(entities), np.bool_)
    for key in entities.keys:
        indexed = _by_index(execution, key, value, query, entities.ordinals) if len(entities.keys) == 1 else None
        if indexed is not None:
            return indexed
        texts, rows = _texts(execution, key, value.property, entities.of(key))
        hits = _hits(texts, value.function, query, edits)
        present = np.flatnonzero(rows >= 0)
        found[present], missing[present] = hits[rows[present]], (texts.lengths < 0)[rows[present]]
    return pa.array(found, mask=missing)


def _by_index(
    execution: Execution, key: str, value: ir.TextMatch, query: str, ordinals: Numbers
) -> pa.BooleanArray | None:
    """Ask the index of a large table whose texts are not in memory yet; None if there is a better way.

    It gives the rows that have the words, also of those it does not cover. Whether they stand in a row, and which other
    rows have a text, is read.
    """
    access, words = execution.access, words_of(query)
    if not isinstance(access, DenseGraph) or value.function == "fuzzy" or not words:
        return None
    memory, count = access.memory, access.count(key)
    if count < _INDEX_ROWS or len(ordinals) * _SHARE < count or has_texts(memory, key, value.property):
        return None
    is_phrase = value.function == "match_text"
    found = memory.snapshot.text_rows(key, value.property, query, every=is_phrase)
    if found is None or len(found) * _SHARE > count:
        return None
    if is_phrase and len(found):
        texts = read_texts(access.gather(key, [value.property], found).column(value.property).to_pylist())
        found = found[texts.phrase(words)]
    hits = np.zeros(count, np.bool_)
    hits[found] = True
    column = memory.columns(key, [value.property])[value.property].data
    missing = ordinals < 0
    if column.null_count:
        missing |= np.asarray(column.is_null())[ordinals]
    return pa.array(hits[ordinals], mask=missing if missing.any() else None)


def _hits(texts: Texts, function: str, query: str, edits: int | None) -> Mask:
    if function == "fuzzy":
        return texts.similar(query, edits)
    return texts.phrase(words_of(query)) if function == "match_text" else texts.any_of(words_of(query))


def _relevance(execution: Execution, entities: Entities, value: ir.TextScore, query: str) -> pa.Array:
    words = words_of(query)
    tables = {key: _all_texts(execution, key, value.property) for key in entities.keys}
    counts = {key: counts_of(texts, words) for key, (texts, _) in tables.items()}
    each = [statistics(texts, counts[key]) for key, (texts, _) in tables.items()]
    known = sum(each[1:], each[0])
    found = np.full(len(entities), np.nan)
    for key, (texts, rows) in tables.items():
        mine = entities.of(key)
        present = np.flatnonzero(mine >= 0)
        found[present] = scores(texts, words, counts[key], known)[rows(mine[present])]
    return pa.array(found, mask=np.isnan(found))


def _texts(execution: Execution, key: str, name: str, ordinals: Numbers) -> tuple[Texts, Numbers]:
    """Texts of a table, and in which of their rows those are that are asked for; -1 where there is none.

    All texts of a table, if they are in memory or most are asked for; else only those.
    """
    access = execution.access
    if isinstance(access, DenseGraph) and len(ordinals) * _SHARE >= access.count(key):
        return texts_of(access.memory, key, name), ordinals
    column = access.gather(key, [name], ordinals).column(name)
    return read_texts(column.to_pylist()), np.where(ordinals < 0, -1, np.arange(len(ordinals)))


def _all_texts(execution: Execution, key: str, name: str) -> tuple[Texts, Callable[[Numbers], Numbers]]:
    """All texts of a table, and how ordinals become their rows."""
    access = execution.access
    if isinstance(access, DenseGraph):
        return texts_of(access.memory, key, name), lambda ordinals: ordinals
    everything = access.scan(key, None)
    column = access.gather(key, [name], everything).column(name)
    order = np.argsort(everything)
    return read_texts(column.to_pylist()), lambda ordinals: order[np.searchsorted(everything[order], ordinals)]


# -- vectors -------------------------------------------------------------------------------------------


def _distances(execution: Execution, entities: Entities, value: ir.Nearest, query: object) -> pa.Array:
    goal = _goal(execution, entities.keys, value, query)
    parts: list[Floats] = []
    for start in range(0, len(entities), _BLOCK_ROWS):
        execution.watch.check()
        block = entities.take(np.arange(start, min(start + _BLOCK_ROWS, len(entities))))
        parts.append(_block_distances(execution, block, value.property, goal))
    found = np.concatenate(parts) if parts else np.zeros(0)
    return pa.array(found, mask=np.isnan(found))


def may_be_shown(execution: Execution, bindings: Bindings, rank: ir.Expression, count: int | None) -> Numbers | None:
    """The rows that can be among the first of a ranking; None if that is not told faster than by the values of all."""
    if not isinstance(rank, ir.Nearest | ir.TextScore):
        return None
    entities, access = cast("Entities", bindings.columns[rank.variable]), execution.access
    if entities.kinds is not None or not isinstance(access, DenseGraph):
        return None
    (key,) = entities.keys
    query = constant(rank.query, execution.params, execution.now)
    if query is None or (entities.ordinals < 0).any():
        return None
    if isinstance(rank, ir.TextScore):
        return np.flatnonzero(
            texts_of(access.memory, key, rank.property).any_of(words_of(str(query)))[entities.ordinals]
        )
    is_part = bindings.count * _SHARE < access.count(key)
    if is_part or count is None or bindings.count < _NEAR_ROWS or count >= bindings.count:
        return None
    goal = _goal(execution, entities.keys, rank, query)
    found = vectors_of(access.memory, key, rank.property).near(goal, entities.ordinals, count)
    return None if found is None else np.flatnonzero(found)


def _goal(execution: Execution, keys: tuple[str, ...], value: ir.Nearest, query: object) -> Floats:
    """The vector that others are compared with."""
    where = f"nearest(${value.variable}.{value.property})"
    goal = _embedded(execution, keys, value, str(query)) if value.embed_text else np.array(query, np.float64)
    if not np.isfinite(goal).all():
        raise BadRequest(f"{where} needs finite numbers")
    if not goal.any():
        raise BadRequest(f"{where} cannot compare with a vector of zeros")
    return goal


def _embedded(execution: Execution, keys: tuple[str, ...], value: ir.Nearest, text: str) -> Floats:
    """The vector of a text, by the model that made the vectors of the property."""
    embedder = execution.embedder or embedder_from_environment()
    declared = [
        execution.catalog.node_types[key.removeprefix("node:")].properties_by_name[value.property] for key in keys
    ]
    for key, each in zip(keys, declared, strict=True):
        embedder.check_model(each.embed.model if each.embed else None, f"{key.removeprefix('node:')}.{value.property}")
    dimension = declared[0].type.vector_dim
    assert dimension is not None
    return embedder.embed_query(text, dimension).astype(np.float64)


def _block_distances(execution: Execution, block: Entities, name: str, goal: Floats) -> Floats:
    column = execution.gather(block, [name]).column(name).combine_chunks()
    vectors = cast("pa.FixedSizeListArray", column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    found = np.full(len(vectors), np.nan)
    present = np.flatnonzero(np.asarray(vectors.is_valid()))
    flat = np.asarray(vectors.drop_null().flatten(), np.float32).reshape(len(present), len(goal))
    found[present] = cosine_distances(flat, goal)
    return found


# -- rankings ------------------------------------------------------------------------------------------


def _fusion(execution: Execution, bindings: Bindings, value: ir.Fusion) -> pa.Array:
    total, _ = fuse(execution, bindings, value)
    return pa.array(total, mask=np.isnan(total))


def fuse(execution: Execution, bindings: Bindings, value: ir.Fusion) -> tuple[Floats, Numbers]:
    """Give for each row the score of two rankings merged, nan where it is in neither, and its place in the first.

    Each ranking is over the distinct nodes of the rows, ties by id, and is as deep as the query's page.
    """
    k = cast("int | None", constant(value.k, execution.params, execution.now))
    if k is None or k <= 0:
        raise BadRequest(f"the k of rrf is an integer above zero, not {k}", k=k)
    total = np.zeros(bindings.count)
    ranked = np.zeros(bindings.count, np.bool_)
    depth = execution.depth
    first: Numbers | None = None
    for arm in (value.first, value.second):
        places = _places(execution, bindings, arm)
        first = places if first is None else first
        inside: Mask = places >= 0 if depth is None else (places >= 0) & (places < depth)
        total += np.where(inside, 1.0 / (k + places + 1), 0.0)
        ranked |= inside
    assert first is not None
    return np.where(ranked, total, np.nan), np.where(first < 0, bindings.count, first)


def _places(execution: Execution, bindings: Bindings, arm: ir.Nearest | ir.TextScore) -> Numbers:
    """The place of each row's node in a ranking, from 0; -1 if it is not ranked."""
    entities = cast("Entities", bindings.columns[arm.variable])
    values = search_values(execution, bindings, arm)
    shown = np.flatnonzero(np.asarray(values.is_valid()))
    places = np.full(bindings.count, -1)
    codes = execution.codes(entities)[shown]
    nodes, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    ids = execution.gather(entities.take(shown[first]), ["id"]).column("id").to_pylist()
    numbers = np.asarray(values, np.float64)[shown[first]]
    keys = -numbers if isinstance(arm, ir.TextScore) else numbers
    order = sorted(range(len(nodes)), key=lambda node: (keys[node], ids[node].encode()))
    place = np.empty(len(nodes), np.int64)
    place[order] = np.arange(len(nodes))
    places[shown] = place[inverse]
    return places
