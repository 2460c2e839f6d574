"""`optimize` in tasks: each compacts and indexes one table where it runs, and the driver makes all of them visible."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from omnigraph.manifest import pinned
from omnigraph.pipeline.slices import TableSlice, open_slice
from omnigraph.search.optimize import publish_optimized, specs_of, stage_optimized

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession

    from omnigraph.manifest import Repository
    from omnigraph.search.indexes import IndexSpec
    from omnigraph.search.optimize import OptimizedTable, StagedTable


@dataclass(frozen=True)
class OptimizeTask:
    """A table, and the indexes it should have."""

    key: str
    table: TableSlice
    specs: tuple[IndexSpec, ...]


def optimize_in_tasks(session: SparkSession, repository: Repository, branch: str) -> tuple[OptimizedTable, ...]:
    """Compact every table of a branch and bring its indexes to full coverage, side by side."""
    snapshot = repository.snapshot(branch)
    parts = repository.parts
    tasks = [
        OptimizeTask(key, TableSlice(parts.uri, table.location, table.version, (), dict(parts.options)), specs)
        for key, specs in specs_of(repository, snapshot).items()
        for table in [snapshot.state.table(key)]
    ]
    with pinned(repository, snapshot.state):
        return publish_optimized(repository, snapshot, _run(session, tasks))


def _run(session: SparkSession, tasks: list[OptimizeTask]) -> dict[str, StagedTable]:
    def stage(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                done = pickle.dumps(run_task(tasks[number]))
                yield pa.record_batch({"number": pa.array([number], pa.int64()), "done": pa.array([done], pa.binary())})

    if not tasks:
        return {}
    numbers = session.range(0, len(tasks), 1, numPartitions=len(tasks))
    rows = numbers.mapInArrow(stage, "number bigint, done binary").collect()
    found = {row.number: cast("StagedTable", pickle.loads(bytes(row.done))) for row in rows}  # noqa: S301 - our own
    return {task.key: found[number] for number, task in enumerate(tasks)}


def run_task(task: OptimizeTask) -> StagedTable:
    """Stage one table; on whichever machine. How it was done stays there: it is never done again on another base."""
    tables, handle = open_slice(task.table)
    staged, pending = stage_optimized(tables, handle, task.specs)
    return (None if staged is None else replace(staged, operation=None)), pending
