"""Tables of a snapshot as frames: what queries and analytics on Spark start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.pipeline.datasource.columns import spark_schema
from omnigraph.pipeline.datasource.options import STORAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        """Columns of a table, as `node:Person`; with a condition in Lance's words, of the rows that meet it."""
        kind, _, name = key.partition(":")
        table = self.catalog.node_types[name] if kind == "node" else self.catalog.edge_types[name]
        whole = spark_schema(table, blobs=True)
        reader = self.session.read.format("omnigraph").schema(type(whole)([whole[column] for column in columns]))
        options = {"type": key, "snapshot": self.snapshot.commit_id}
        if where is not None:
            options["filter"] = where
        options.update({f"{STORAGE}{name}": value for name, value in self._parts.options.items()})
        return reader.options(**options).load(self._parts.uri)
