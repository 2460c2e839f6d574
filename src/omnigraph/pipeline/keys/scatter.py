"""What a task reads of keys, cut for the units that judge them: a split of the load, or a slice of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc
from omnigraph.pipeline.keys import facts
from omnigraph.pipeline.keys.facts import Fact, packed
from omnigraph.pipeline.keys.plan import counted_edge, ends_of, table_of
from omnigraph.pipeline.keys.shares import cut, shares_of
from omnigraph.pipeline.slices import open_slice
from omnigraph.pipeline.staging import get_keys
from omnigraph.pipeline.tasks import GIVEN, POSITION, STORED
from omnigraph.schema import EdgeType, NodeType
from omnigraph.storage.addresses import ADDRESS
from omnigraph.storage.store import connect
from omnigraph.write.delta import column, distinct
from omnigraph.write.uniqueness import comparable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.pipeline.keys.plan import Channel, KeyPlan, SplitKeys, StoredKeys

    Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]

AT, ROW, EDGE, COUNT = "@at", "@row", "@edge", "@count"
SLICE_BITS = 40
"""Rows of the graph are in the order of their slices, then of the scan."""


@dataclass(frozen=True)
class Part:
    """Some rows of a table in a split: those that count, with where they are."""

    key: str
    rows: pa.Table
    """The columns that checks look at, the position in the input and the number among the rows of the split."""
    given: Mask
    left: np.ndarray[tuple[int], np.dtype[np.uint32]]
    """Numbers among the uploaded rows of the split, of rows that do not count."""


def split_facts(plan: KeyPlan, source: SplitKeys) -> Iterator[Fact]:
    """What a split of the load has to say."""
    for part in parts_of(plan, source):
        yield _tally(plan, source, part)
        table = table_of(plan.catalog, part.key)
        yield from _new_ids(plan, source, part)
        for names in table.uniques:
            yield from _tuples(plan, part.key, names, part.rows, facts.NEW, source.split)
        if isinstance(table, EdgeType):
            yield from _ends(plan, source, part, table)
            yield from _sources(plan, source, part)


def parts_of(plan: KeyPlan, source: SplitKeys) -> Iterator[Part]:
    """The rows of a split that count, as many at once as were written at once."""
    store = connect(plan.address)
    for key, table in source.tables.items():
        dropped = np.frombuffer(plan.excluded.dropped.get((source.split, key), b""), np.uint32)
        rejected = np.frombuffer(plan.excluded.rejected.get(source.split, b""), np.int64)
        first = uploaded = 0
        for path in table.keys:
            keys = get_keys(store, path)
            numbers = np.arange(first, first + keys.num_rows, dtype=np.uint32)
            at = keys.column(POSITION).to_numpy() + source.base
            is_stored, given = (np.asarray(keys.column(name)) for name in (STORED, GIVEN))
            counts = ~(np.isin(numbers, dropped) | np.isin(at, rejected))
            left = (uploaded + np.cumsum(is_stored) - 1)[is_stored & ~counts].astype(np.uint32)
            first, uploaded = first + keys.num_rows, uploaded + int(is_stored.sum())
            rows = keys.drop_columns([POSITION, GIVEN, STORED])
            rows = rows.append_column(AT, pa.array(at)).append_column(ROW, pa.array(numbers))
            if not counts.all():
                rows, given = rows.filter(pa.array(counts)), given[counts]
            yield Part(key, rows, given, left)


def _tally(plan: KeyPlan, source: SplitKeys, part: Part) -> Fact:
    rows = pa.table({"left": pa.array(part.left)})
    rows = rows.replace_schema_metadata({"key": part.key, "kept": str(part.rows.num_rows)})
    return packed(plan.units, facts.TALLY, source.split, rows)


def _new_ids(plan: KeyPlan, source: SplitKeys, part: Part) -> Iterator[Fact]:
    channel, table = plan.channel(part.key), table_of(plan.catalog, part.key)
    if channel is None:
        return
    rows = part.rows.select(["id", AT, ROW])
    if not (isinstance(table, NodeType) and table.key) and not part.given.all():
        rows = rows.filter(pa.array(part.given))  # an id that was made here is no other's
    yield from _by_id(channel, rows, facts.NEW, source.split)


def _ends(plan: KeyPlan, source: SplitKeys, part: Part, edge: EdgeType) -> Iterator[Fact]:
    ends: dict[str, list[pa.Array]] = {}
    for end, node in ends_of(edge):
        ends.setdefault(node, []).append(column(part.rows, end))
    for node, values in ends.items():
        yield from _distinct_ids(plan, node, values, facts.END, source.split)


def _sources(plan: KeyPlan, source: SplitKeys, part: Part) -> Iterator[Fact]:
    edge = counted_edge(plan, part.key)
    if edge is None or not part.rows.num_rows:
        return
    numbered = pa.table({"id": column(part.rows, "src"), AT: np.arange(part.rows.num_rows)})
    counted = numbered.group_by("id").aggregate([(AT, "count"), (AT, "max")])
    last = counted.column(f"{AT}_max")
    rows = pa.table(
        {
            "id": counted.column("id"),
            COUNT: counted.column(f"{AT}_count"),
            AT: part.rows.column(AT).take(last),
            "edge_id": part.rows.column("id").take(last),
            EDGE: _edge_number(plan, edge, counted.num_rows),
        }
    )
    yield from _by_id(_nodes(plan, edge), rows, facts.SOURCE, source.split)


# -- what the graph has --------------------------------------------------------------------------------------


def stored_columns(plan: KeyPlan, key: str) -> tuple[str, ...]:
    """The columns of a table of the graph that are needed; none if it need not be read."""
    table, wanted = table_of(plan.catalog, key), dict[str, None]()
    if not plan.stored_rows[key]:
        return ()
    if _needs_ids(plan, key):
        wanted["id"] = None
    edge = counted_edge(plan, key)
    if edge is not None and (not plan.replaces(key) or edge.cardinality.minimum):
        wanted["src"] = None
    if key in plan.modes and not plan.replaces(key):
        for channel in plan.channels:
            if channel.key == key and channel.names:
                wanted |= dict.fromkeys(("id", *channel.names))
    if plan.keeps_edges(key):
        assert isinstance(table, EdgeType)
        wanted |= dict.fromkeys(end for end, node in ends_of(table) if plan.replaces(node))
    return tuple(wanted)


def _needs_ids(plan: KeyPlan, key: str) -> bool:
    if plan.channel(key) is None or plan.replaces(key):
        return False
    ends = {node for edge in plan.catalog.edges if f"edge:{edge.name}" in plan.modes for _, node in ends_of(edge)}
    return plan.meets_stored(key) or key in ends


def read_stored(source: StoredKeys, number: int, columns: tuple[str, ...]) -> pa.Table:
    """Columns of a slice, with addresses and the place in the order of the scan."""
    tables, handle = open_slice(source.piece)
    schema = pa.schema([*(handle.schema.field(name) for name in columns), pa.field(ADDRESS, pa.uint64())])
    pieces = list(tables.read_rows(handle, columns, source.piece.fragments)) if source.piece.fragments else []
    rows = pa.concat_tables([schema.empty_table(), *(piece.select(schema.names).cast(schema) for piece in pieces)])
    return rows.append_column(AT, pa.array((number << SLICE_BITS) + np.arange(rows.num_rows)))


def stored_facts(plan: KeyPlan, source: StoredKeys, number: int) -> Iterator[Fact]:
    """What a slice of the graph has to say."""
    key, table = source.key, table_of(plan.catalog, source.key)
    rows = read_stored(source, number, stored_columns(plan, key))
    channel = plan.channel(key)
    if channel is not None and _needs_ids(plan, key):
        yield from _by_id(channel, rows.select(["id", ADDRESS]), facts.STORED, -1)
    stays = _stays(plan, key, rows)
    edge = counted_edge(plan, key)
    if edge is not None and "src" in rows.schema.names:
        kept = rows.filter(pa.array(stays)) if not plan.replaces(key) else rows.slice(0, 0)
        lost = rows.filter(pa.array(~stays)) if not plan.replaces(key) else rows
        for name, some in ((facts.KEPT_SOURCE, kept), (facts.LOST_SOURCE, lost)):
            yield from _stored_sources(plan, edge, name, some)
    if key in plan.modes and not plan.replaces(key):
        for names in table.uniques:
            yield from _tuples(plan, key, names, rows.filter(pa.array(stays)), facts.STORED, -1)
    if isinstance(table, EdgeType) and plan.keeps_edges(key):
        for end, node in ends_of(table):
            if plan.replaces(node):
                yield from _distinct_ids(plan, node, [column(rows, end)], facts.KEPT_END, -1)


def _stays(plan: KeyPlan, key: str, rows: pa.Table) -> Mask:
    """Which stored rows no row of the load replaces."""
    addresses, stays = rows.column(ADDRESS).to_numpy(), np.ones(rows.num_rows, np.bool_)
    store = connect(plan.address)
    for path in plan.hidden.get(key, ()):
        stays &= ~np.isin(addresses, get_keys(store, path).column(ADDRESS).to_numpy())
    return stays


def _stored_sources(plan: KeyPlan, edge: EdgeType, name: str, rows: pa.Table) -> Iterator[Fact]:
    sources = pa.table({"id": column(rows, "src"), AT: rows.column(AT)})
    counted = sources.group_by("id").aggregate([(AT, "count"), (AT, "min")])
    columns = {"id": counted.column("id"), COUNT: counted.column(f"{AT}_count"), AT: counted.column(f"{AT}_min")}
    columns[EDGE] = _edge_number(plan, edge, counted.num_rows)
    yield from _by_id(_nodes(plan, edge), pa.table(columns), name, -1)


# -- cutting -------------------------------------------------------------------------------------------------


def _by_id(channel: Channel, rows: pa.Table, name: str, split: int) -> Iterator[Fact]:
    shares = shares_of([column(rows, "id")], channel.units)
    for share, some in cut(rows, shares, channel.units):
        yield packed(channel.first + share, name, split, some)


def _distinct_ids(plan: KeyPlan, node: str, values: list[pa.Array], name: str, split: int) -> Iterator[Fact]:
    channel = plan.channel(node)
    assert channel is not None, "where edges end, nodes are judged"
    ids = distinct(pa.chunked_array(values, pa.string()))
    yield from _by_id(channel, pa.table({"id": ids}), name, split)


def _tuples(plan: KeyPlan, key: str, names: tuple[str, ...], rows: pa.Table, name: str, split: int) -> Iterator[Fact]:
    """Rows by a tuple that has to be unique; a null member exempts a row."""
    channel = plan.channel(key, names)
    if channel is None:
        return
    complete = np.ones(rows.num_rows, np.bool_)
    for member in names:
        complete &= np.asarray(pc.is_valid(rows.column(member)))
    rows = rows.filter(pa.array(complete))
    members = comparable(rows, names)
    shares = shares_of([column(members, member) for member in names], channel.units)
    wanted = dict.fromkeys(("id", *names, *(at for at in (AT,) if name == facts.NEW)))
    for share, some in cut(rows.select(list(wanted)), shares, channel.units):
        yield packed(channel.first + share, name, split, some)


def _nodes(plan: KeyPlan, edge: EdgeType) -> Channel:
    return cast("Channel", plan.channel(f"node:{edge.source}"))


def _edge_number(plan: KeyPlan, edge: EdgeType, count: int) -> pa.Array:
    return pa.array(np.full(count, plan.catalog.edges.index(edge), np.int16))
