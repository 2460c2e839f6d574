"""Rows on their way into a graph: tasks type, check and write them as a load does, and the driver publishes once.

What a task has written belongs to nothing until its message is committed, so tasks that are repeated leave nothing but
garbage, and `cleanup` takes that.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from omnigraph.model.errors import OutcomeUnknown, ReadSetConflict
from omnigraph.pipeline.datasource.reader import open_table
from omnigraph.pipeline.load import SparkLoad, begin, forget, publish_staged
from omnigraph.pipeline.staging import StagedLoad, TaskReport
from omnigraph.pipeline.tasks import run_frames
from omnigraph.write.inputs import Input
from omnigraph.write.load import NO_PERMITS, LoadOptions, target_of
from omnigraph.write.modes import load_mode

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    import pyarrow as pa

    from omnigraph.manifest import Repository
    from omnigraph.pipeline.datasource.options import SourceOptions

    Messages = Sequence[WriterCommitMessage | None]


@dataclass
class StagedPart(WriterCommitMessage):
    """What a task has staged, and for which load: whoever commits it may know nothing else."""

    load_id: str
    schema_hash: str
    report: bytes


class Stage:
    """A write whose rows are on their way; travels to its tasks."""

    def __init__(self, options: SourceOptions, mode: str) -> None:
        asked = _asked(options, mode, open_table(options).table.name)
        target = target_of(asked.repository, asked.options)
        self._plan, self._schema_hash = begin(asked, target, "frame"), target.schema_hash

    @property
    def load_id(self) -> str:
        """What it is staged under."""
        return self._plan.load_id

    def write(self, batches: Iterable[pa.RecordBatch]) -> StagedPart:
        """Type, check and write the rows of a task."""
        context = TaskContext.get()
        assert context is not None
        report = run_frames(self._plan, context.partitionId(), batches)
        return StagedPart(self._plan.load_id, self._schema_hash, report.to_bytes())


class StagedRows:
    """What all tasks of a write have staged."""

    def __init__(self, options: SourceOptions, messages: Messages) -> None:
        self._options = options
        self._parts = [part for part in messages if isinstance(part, StagedPart)]
        reports = [TaskReport.from_bytes(part.report) for part in self._parts]
        self._reports = tuple(sorted(reports, key=lambda one: one.split))

    @property
    def load_ids(self) -> set[str]:
        """The loads they belong to: one."""
        return {part.load_id for part in self._parts}

    @property
    def rows(self) -> int:
        """How many rows there were."""
        return sum(report.numbers for report in self._reports)

    def publish(self, mode: str, *, operation: str = "load", if_commit: str | None = None) -> None:
        """Hold all rows against the graph, and make them one commit."""
        if not self._parts:
            return
        asked = _asked(self._options, mode, operation=operation, if_commit=if_commit)
        target, part = target_of(asked.repository, asked.options), self._parts[0]
        if target.schema_hash != part.schema_hash:
            raise ReadSetConflict("schema", expected=part.schema_hash, actual=target.schema_hash)
        count = max(report.split for report in self._reports) + 1
        staged = StagedLoad(
            part.load_id,
            self._options.branch,
            asked.options.mode.value,
            part.schema_hash,
            ("row",),
            self._reports,
            (0,) * count,
            (True,) * count,
            actor=asked.options.actor,
            if_commit=if_commit,
        )
        try:
            publish_staged(asked, target, staged)
        except OutcomeUnknown:
            staged.save(asked.repository.parts.store)  # it can be settled by its id: what is staged stays
            raise


@contextmanager
def until_published(options: SourceOptions, load_ids: Iterable[str]) -> Generator[None]:
    """Drop afterwards what is staged beside the tables; but not if nobody knows whether it was published."""
    try:
        yield
    except OutcomeUnknown:
        raise
    except BaseException:
        discard(options, load_ids)
        raise
    discard(options, load_ids)


def discard(options: SourceOptions, load_ids: Iterable[str]) -> None:
    """Drop what is staged beside the tables."""
    repository = _repository(options)
    for load_id in load_ids:
        forget(repository, load_id)


def _repository(options: SourceOptions) -> Repository:
    return options.open().repository


def _asked(options: SourceOptions, mode: str, type_name: str | None = None, **how: Any) -> SparkLoad:
    chosen = LoadOptions(load_mode(mode), options.branch, actor=options.get("actor"), **how)
    return SparkLoad(_repository(options), Input(None, type_name), chosen, NO_PERMITS)
