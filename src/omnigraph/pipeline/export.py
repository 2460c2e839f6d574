"""Export in tasks: each writes the rows of some fragments as parts of its own, in the order of their ids.

A part's name is that of its task, and what is in it that of the snapshot: a task that runs twice writes the same file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.export.export import check_target, exported, is_one_file
from omnigraph.export.files import ExportedFile, FilePlan, write_files
from omnigraph.export.rows import TableRows
from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.slices import TableSlice, cut, open_slice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession

    from omnigraph.export import Selection
    from omnigraph.export.export import ExportResult, Progress
    from omnigraph.manifest import Repository
    from omnigraph.schema import EdgeType, NodeType

_WRITTEN = pa.schema([("name", pa.string()), ("table_key", pa.string()), ("rows", pa.int64())])


@dataclass(frozen=True)
class ExportTask:
    """A slice of a table, and the name of its part."""

    table: NodeType | EdgeType
    piece: TableSlice
    part: str


def export_in_tasks(
    session: SparkSession,
    repository: Repository,
    selection: Selection,
    plan: FilePlan,
    progress: Progress | None = None,
) -> ExportResult:
    """Write all tables, slice by slice."""
    if is_one_file(plan.folder, plan.format):
        raise BadRequest("Spark writes many parts: name a folder, not a file", out=plan.folder)
    check_target(plan.folder, dict(plan.options) or None)
    tasks = [
        ExportTask(table.table, piece, f"{number:05d}-")
        for table in selection.tables
        if table.handle.row_count
        for number, piece in enumerate(cut(table.handle, repository.parts.uri, repository.parts.options))
    ]
    files = _run(session, tasks, plan) if tasks else []
    total = sum(file.rows for file in files)
    if progress is not None:
        progress("exporting", total, total)
    return exported(selection, plan, files)


def _run(session: SparkSession, tasks: list[ExportTask], plan: FilePlan) -> list[ExportedFile]:
    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                written = run_task(tasks[number], plan)
                columns = [[file.name, file.table_key, file.rows] for file in written]
                yield pa.RecordBatch.from_pylist(
                    [dict(zip(_WRITTEN.names, row, strict=True)) for row in columns], schema=_WRITTEN
                )

    numbers = session.range(0, len(tasks), 1, numPartitions=len(tasks))
    rows = numbers.mapInArrow(write, "name string, table_key string, rows bigint").collect()
    return sorted((ExportedFile(*row) for row in rows), key=lambda file: file.name)


def run_task(task: ExportTask, plan: FilePlan) -> list[ExportedFile]:
    """Write one slice; on whichever machine."""
    tables, handle = open_slice(task.piece)
    return write_files(TableRows(task.table, tables, handle, task.piece.fragments), plan, task.part)
