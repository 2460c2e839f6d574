"""Rows that tasks are done with, while they are at it: what a progress bar shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnigraph.pipeline.session import is_classic
from omnigraph.write.progress import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from omnigraph.pipeline.jobs import Report


class RowCounter:
    """Counts in tasks, is read in the driver. Spark Connect has no such thing: there tasks are counted instead."""

    def __init__(self, session: SparkSession) -> None:
        self._rows: Any = session.sparkContext.accumulator(0) if is_classic(session) else None

    def add(self, rows: int) -> None:
        """So many rows more: said once, at the end of a task."""
        if self._rows is not None:
            self._rows.add(rows)

    def report(self, progress: Callable[[str, int, int | None], None] | None, stage: str) -> Report | None:
        """What tells `progress` how a job goes. How many rows there will be is guessed from the tasks that are done."""
        if progress is None:
            return None

        def told(done: int, tasks: int) -> None:
            if self._rows is None:
                progress(Stage(stage, "tasks"), done, tasks or None)
                return
            rows: int = self._rows.value
            progress(stage, rows, rows * tasks // done if rows and done else None)

        return told
