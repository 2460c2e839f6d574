"""Export in tasks: each writes the rows of some fragments as parts of its own, in the order of their ids.

A part's name is that of its task, and what is in it that of the snapshot: a task that runs twice writes the same file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from omnigraph.export.export import check_target, exported, is_one_file
from omnigraph.export.files import ExportedFile, FilePlan, write_files
from omnigraph.export.rows import TableRows
from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.counting import RowCounter
from omnigraph.pipeline.jobs import each
from omnigraph.pipeline.slices import TableSlice, cut, open_slice, travelling_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omnigraph.export import Selection
    from omnigraph.export.export import ExportResult, Progress
    from omnigraph.manifest import Repository
    from omnigraph.schema import EdgeType, NodeType


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
    plan = replace(plan, options=travelling_options(plan.folder, dict(plan.options) or None) or {})
    counter = RowCounter(session)

    def work(number: int) -> bytes:
        written = run_task(tasks[number], plan)
        counter.add(sum(file.rows for file in written))
        return orjson.dumps([[file.name, file.table_key, file.rows] for file in written])

    name = f"omnigraph-export-{repository.parts.runtime.ids.ulid()}"
    done = each(session, len(tasks), work, name, counter.report(progress, "exporting"))
    files = sorted((ExportedFile(*file) for one in done for file in orjson.loads(one)), key=lambda file: file.name)
    total = sum(file.rows for file in files)
    if progress is not None:
        progress("exporting", total, total)
    return exported(selection, plan, files)


def run_task(task: ExportTask, plan: FilePlan) -> list[ExportedFile]:
    """Write one slice; on whichever machine."""
    tables, handle = open_slice(task.piece)
    return write_files(TableRows(task.table, tables, handle, task.piece.fragments), plan, task.part)
