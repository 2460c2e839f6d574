"""Tables of a snapshot as frames: what queries and analytics on Spark start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.pipeline.datasource.columns import arrow_schema, spark_schema
from omnigraph.pipeline.slices import cut, read_slice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from omnigraph.manifest import Repository, Snapshot


class SnapshotFrames:
    """Frames of one snapshot: whatever is written meanwhile, they stay as they are."""

    def __init__(self, session: SparkSession, repository: Repository, snapshot: Snapshot) -> None:
        self.session = session
        self.snapshot = snapshot
        self.catalog = repository.catalogs.get(snapshot.schema_hash).catalog
        self._parts = repository.parts

    def table(self, key: str, columns: Sequence[str], where: str | None = None) -> DataFrame:
        """Columns of a table, as `node:Person`; with a condition in Lance's words, of the rows that meet it.

        Tasks are given the slices. The data source would find them by itself, in a process that it starts for that.
        """
        kind, _, name = key.partition(":")
        table = self.catalog.node_types[name] if kind == "node" else self.catalog.edge_types[name]
        whole = spark_schema(table, blobs=True)
        schema, names = type(whole)([whole[column] for column in columns]), list(columns)
        pieces = cut(self.snapshot.table(key), self._parts.uri, self._parts.options)
        typed = arrow_schema(schema)

        def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    for rows in read_slice(pieces[number], names, where):
                        yield from rows.cast(typed).to_batches()

        numbers = self.session.range(0, len(pieces), 1, numPartitions=len(pieces))
        return numbers.mapInArrow(read, schema)
