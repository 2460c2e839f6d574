"""Vectors of nodes that are in the graph already, made from their texts: `@embed` properties filled as one commit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest
from omnigraph.schema import table_key
from omnigraph.write.compute import pc
from omnigraph.write.embedding import embed_missing, embedded_properties

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnigraph.embed import Embedder
    from omnigraph.manifest import Repository, Snapshot
    from omnigraph.schema import Catalog, EdgeType, NodeType


@dataclass(frozen=True)
class EmbedScope:
    """Which vectors: of these types, or of all; those that are missing, or all of them afresh."""

    types: tuple[str, ...] = ()
    afresh: bool = False


def embedded_tables(catalog: Catalog, scope: EmbedScope) -> list[NodeType | EdgeType]:
    """The types with vectors that are made from texts."""
    every = {table.name: table for table in catalog.tables if any(embedded_properties(table))}
    for name in scope.types:
        if name not in every:
            hint = suggest(name, every) or "nothing of it is made by @embed"
            raise BadRequest(f"there is nothing to embed in {name!r}; {hint}", type=name)
    return [table for name, table in every.items() if not scope.types or name in scope.types]


def needed_columns(table: NodeType | EdgeType) -> list[str]:
    """The id, the texts and the vectors."""
    return ["id", *source_columns(table), *(each.name for each in embedded_properties(table))]


def source_columns(table: NodeType | EdgeType) -> list[str]:
    """The texts that vectors are made from."""
    return sorted({each.embed.source for each in embedded_properties(table) if each.embed is not None})


def lacks_vectors(table: NodeType | EdgeType, scope: EmbedScope) -> str:
    """In Lance's words, which rows have a text and no vector made of it; `afresh`: all with a text."""
    conditions: list[str] = []
    for each in embedded_properties(table):
        assert each.embed is not None
        text = f"`{each.embed.source}` IS NOT NULL AND `{each.embed.source}` <> ''"
        conditions.append(f"({text})" if scope.afresh else f"(`{each.name}` IS NULL AND {text})")
    return " OR ".join(conditions)


def embedded_rows(
    table: NodeType | EdgeType, batches: Iterable[pa.Table], embedder: Embedder, scope: EmbedScope
) -> Iterator[pa.Table]:
    """The rows that get a vector, with their other columns, batch by batch: what a task does, wherever it runs."""
    for rows in batches:
        wanted: list[pa.ChunkedArray] = []
        for each in embedded_properties(table):
            assert each.embed is not None
            at = rows.schema.get_field_index(each.name)
            has_text = pc.fill_null(pc.greater(pc.utf8_length(rows.column(each.embed.source)), 0), fill_value=False)
            if scope.afresh:
                numbers = pa.chunked_array([pa.array(range(rows.num_rows), pa.int64())])
                kept = rows.column(each.name).take(pc.if_else(has_text, pa.scalar(None, pa.int64()), numbers))
                rows = rows.set_column(at, rows.schema.field(at), kept)
            wanted.append(pc.and_(pc.is_null(rows.column(each.name)), has_text))
        chosen = rows.filter(reduce(pc.or_, wanted))
        if chosen.num_rows:
            yield embed_missing(table, chosen, embedder, {})


def embed_locally(
    repository: Repository, snapshot: Snapshot, embedder: Embedder, scope: EmbedScope
) -> dict[str, pa.Table]:
    """The new vectors of a snapshot, by table, with the texts they were made from."""
    catalog, tables = repository.catalogs.get(snapshot.schema_hash).catalog, repository.parts.tables
    found: dict[str, pa.Table] = {}
    for table in embedded_tables(catalog, scope):
        names = needed_columns(table)
        batches = tables.read_rows(snapshot.table(table_key(table)), names, where=lacks_vectors(table, scope))
        parts = list(embedded_rows(table, (batch.select(names) for batch in batches), embedder, scope))
        if parts:
            found[table_key(table)] = pa.concat_tables(parts)
    return found
