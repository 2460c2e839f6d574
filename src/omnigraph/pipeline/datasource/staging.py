"""Rows on their way into a graph: tasks leave them as files beside the table, the driver loads them as one commit.

A file belongs to nothing until its task's message is committed, so tasks that are repeated leave nothing but garbage,
and `cleanup` takes that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import WriterCommitMessage

from omnigraph.model.clock import SystemRuntime
from omnigraph.pipeline.datasource.reader import open_table
from omnigraph.storage.address import parse_address
from omnigraph.storage.sink import write_file
from omnigraph.storage.store import connect
from omnigraph.write.blob_policy import BlobPolicy
from omnigraph.write.inputs import Input, read_input
from omnigraph.write.load import LoadOptions, load
from omnigraph.write.modes import load_mode
from omnigraph.write.tabular import read_parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omnigraph.pipeline.datasource.options import SourceOptions
    from omnigraph.write.load import LoadResult


@dataclass
class StagedPart(WriterCommitMessage):
    """What one task has staged: a file below the graph, if there were rows."""

    path: str | None
    rows: int = 0


def staging_folder(options: SourceOptions) -> str:
    """A folder of the table that no version of it refers to."""
    return f"{open_table(options).handle.ref.location}/_staging"


def stage_part(options: SourceOptions, folder: str, batches: Iterable[pa.RecordBatch]) -> StagedPart:
    """Write a task's rows to a file of its own."""
    from pyarrow import parquet

    path, rows = f"{folder}/{SystemRuntime().ids.ulid()}.parquet", 0
    batches = iter(batches)
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return StagedPart(None)
    address = parse_address(options.uri, dict(options.storage) or None)
    with write_file(address.child(path), address.options) as file, parquet.ParquetWriter(file, first.schema) as writer:
        for batch in _chain(first, batches):
            writer.write_batch(batch)
            rows += batch.num_rows
    return StagedPart(path, rows)


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


class StagedRows:
    """All parts of a write as one frame; read in the order of their tasks."""

    def __init__(self, options: SourceOptions, parts: Sequence[StagedPart | None]) -> None:
        address = parse_address(options.uri, dict(options.storage) or None)
        self._options = address.options
        self._store = connect(address)
        self.paths = [part.path for part in parts if part is not None and part.path is not None]
        self._uris = [address.child(path) for path in self.paths]

    def frame(self) -> pa.RecordBatchReader:
        """The rows, file after file."""
        tables = (table for uri in self._uris for table in read_parquet(uri, self._options))
        first = next(tables, None)
        if first is None:
            return pa.RecordBatchReader.from_batches(pa.schema([]), [])
        batches = (batch for table in _tables(first, tables) for batch in table.to_batches())
        return pa.RecordBatchReader.from_batches(first.schema, batches)

    def discard(self) -> None:
        """Delete the files."""
        self._store.delete(self.paths)


def _tables(first: pa.Table, rest: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from rest


def load_staged(
    options: SourceOptions, staged: StagedRows, mode: str, *, operation: str = "load", if_commit: str | None = None
) -> LoadResult:
    """Load staged rows through the one validator, as one commit."""
    graph = options.open()
    given = Input(staged.frame(), open_table(options).table.name)
    how: dict[str, Any] = {"actor": options.get("actor"), "if_commit": if_commit, "operation": operation}
    return load(
        graph.repository,
        read_input(given, graph.repository.parts.runtime.ids),
        LoadOptions(load_mode(mode), options.branch, **how),
        blobs=BlobPolicy(),
    )
