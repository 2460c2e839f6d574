"""`embed` over a graph in tasks: each asks the provider for the vectors of some fragments; the driver stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.embed import Embedder
from omnigraph.pipeline.slices import TableSlice, cut, read_slice
from omnigraph.schema import table_key, table_schema
from omnigraph.write.embed_graph import embedded_rows, embedded_tables, needed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession

    from omnigraph.manifest import Repository, Snapshot
    from omnigraph.schema import EdgeType, NodeType
    from omnigraph.write.embed_graph import EmbedScope


def embed_in_tasks(
    session: SparkSession, repository: Repository, snapshot: Snapshot, embedder: Embedder, scope: EmbedScope
) -> dict[str, pa.Table]:
    """The new vectors of a snapshot, by table."""
    catalog, parts = repository.catalogs.get(snapshot.schema_hash).catalog, repository.parts
    found: dict[str, pa.Table] = {}
    for table in embedded_tables(catalog, scope):
        key = table_key(table)
        rows = _of_table(session, table, cut(snapshot.table(key), parts.uri, parts.options), embedder, scope)
        if rows.num_rows:
            found[key] = rows
    return found


def _of_table(
    session: SparkSession,
    table: NodeType | EdgeType,
    pieces: list[TableSlice],
    embedder: Embedder,
    scope: EmbedScope,
) -> pa.Table:
    columns, settings = needed_columns(table), embedder.settings
    stored = table_schema(table)
    travels = pa.schema([_travelling(stored.field(name)) for name in columns])

    def embed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        asker = Embedder(settings)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for rows in embedded_rows(table, read_slice(pieces[number], columns), asker, scope):
                    yield from rows.cast(travels).to_batches()

    words = [
        f"`{name}` {'string' if pa.types.is_string(travels.field(name).type) else 'array<float>'}" for name in columns
    ]
    numbers = session.range(0, len(pieces), 1, numPartitions=len(pieces))
    return numbers.mapInArrow(embed, ", ".join(words)).toArrow()


def _travelling(field: pa.Field) -> pa.Field:
    """Spark has lists of any length only."""
    return pa.field(field.name, field.type if pa.types.is_string(field.type) else pa.list_(pa.float32()))
