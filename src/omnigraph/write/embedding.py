"""Vectors that a load leaves out, made from the texts their properties name. Only when the load asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omnigraph.embed import Embedder
    from omnigraph.schema import EdgeType, NodeType, Property

_ROWS_AT_ONCE = 1024


def embedded_properties(table: NodeType | EdgeType) -> Iterator[Property]:
    """The vectors of a type that are made from a text."""
    return (each for each in table.properties if each.embed is not None)


def embed_missing(
    table: NodeType | EdgeType, rows: pa.Table, embedder: Embedder, bad: Mapping[str, set[int]], start: int = 0
) -> pa.Table:
    """Fill the vectors that are null where there is a text. `bad` are cells, counted from `start`, that are wrong."""
    for declared in embedded_properties(table):
        assert declared.embed is not None
        embedder.check_model(declared.embed.model, f"{table.name}.{declared.name}")
        wrong = {row - start for row in bad.get(declared.name, set()) | bad.get(declared.embed.source, set())}
        texts, missing = (
            rows.column(declared.embed.source).to_pylist(),
            rows.column(declared.name).is_null().to_pylist(),
        )
        wanted = [row for row, lacks in enumerate(missing) if lacks and texts[row] and row not in wrong]
        if wanted:
            rows = _filled(rows, declared, wanted, [texts[row] for row in wanted], embedder)
    return rows


def _filled(rows: pa.Table, declared: Property, wanted: list[int], texts: list[str], embedder: Embedder) -> pa.Table:
    dimension = declared.type.vector_dim
    assert dimension is not None
    parts = [
        embedder.embed(texts[start : start + _ROWS_AT_ONCE], dimension) for start in range(0, len(texts), _ROWS_AT_ONCE)
    ]
    made = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(parts).ravel()), dimension)
    given = cast("pa.Array", rows.column(declared.name).combine_chunks())
    places = np.arange(len(given))
    places[wanted] = len(given) + np.arange(len(wanted))
    column = pa.concat_arrays([given, made.cast(given.type)]).take(pa.array(places))
    at = rows.schema.get_field_index(declared.name)
    return rows.set_column(at, rows.schema.field(at), column)
