"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing for work that is soon done."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from omnigraph.cli import render

if TYPE_CHECKING:
    from collections.abc import Generator

    from rich.progress import Progress as Bar

    from omnigraph.write.progress import Progress

QUIET_S = 1.0
LINE_EVERY_S = 5.0


@contextmanager
def shown_progress(quiet: bool) -> Generator[Progress | None]:
    """Show how far work has come, from the second second on."""
    if quiet:
        yield None
        return
    shown = _Shown()
    try:
        yield shown
    finally:
        shown.close()


class _Shown:
    def __init__(self) -> None:
        self._started_s = time.monotonic()
        self._last_s = 0.0
        self._bar: Bar | None = None
        self._tasks: dict[str, int] = {}

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now_s = time.monotonic()
        if now_s - self._started_s < QUIET_S:
            return
        if sys.stderr.isatty():
            self._draw(stage, done, total)
        elif now_s - self._last_s >= LINE_EVERY_S:
            self._last_s = now_s
            share = f" of {total:,} ({done / total:.0%})" if total else ""
            render.err.print(f"{stage}: {done:,}{share}", markup=False)

    def _draw(self, stage: str, done: int, total: int | None) -> None:
        from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=render.err, transient=True)
            self._bar.start()
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=total)
        self._bar.update(TaskID(self._tasks[stage]), completed=done, total=total)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
