"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing for work that is soon done."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.cli import render
from omnigraph.write.progress import unit_of

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


@dataclass(frozen=True)
class Pace:
    """How far a stage is, and how fast it goes."""

    stage: str
    done: int
    total: int | None
    rate: float | None
    """Of a second; None for what is too new to tell."""

    @property
    def amount(self) -> str:
        """What is done, of how much."""
        if unit_of(self.stage) == "bytes":
            whole = "" if self.total is None else f" of {_mib(self.total)}"
            return f"{_mib(self.done)}{whole} MiB"
        whole = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{whole} {unit_of(self.stage)}"

    @property
    def speed(self) -> str:
        """How much in a second."""
        if not self.rate:
            return ""
        if unit_of(self.stage) == "bytes":
            return f"{_mib(self.rate)} MiB/s"
        return f"{self.rate:,.{0 if self.rate >= 10 else 1}f} {unit_of(self.stage)}/s"

    @property
    def left(self) -> str:
        """How long it will still take."""
        if not self.rate or not self.total or self.done >= self.total:
            return ""
        minutes, seconds = divmod(round((self.total - self.done) / self.rate), 60)
        return f"{minutes}:{seconds:02d} left"

    @property
    def line(self) -> str:
        """All of it."""
        share = f" ({self.done / self.total:.0%})" if self.total else ""
        return ", ".join(part for part in (f"{self.stage}: {self.amount}{share}", self.speed, self.left) if part)


def _mib(size: float) -> str:
    return f"{size / 2**20:,.1f}"


class Paces:
    """Takes the time of each stage from its first call on."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[float, int]] = {}

    def note(self, stage: str, done: int, total: int | None, now_s: float) -> Pace:
        """How the stage goes."""
        began_s, already = self._first.setdefault(stage, (now_s, done))
        spent_s = now_s - began_s
        is_known = spent_s >= max(QUIET_S, 0.001)
        return Pace(stage, done, total, max(0.0, (done - already) / spent_s) if is_known else None)


class _Shown:
    def __init__(self) -> None:
        self._started_s = time.monotonic()
        self._last_s = 0.0
        self._bar: Bar | None = None
        self._tasks: dict[str, int] = {}
        self._paces = Paces()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now_s = time.monotonic()
        pace = self._paces.note(stage, done, total, now_s)
        if now_s - self._started_s < QUIET_S:
            return
        if sys.stderr.isatty():
            self._draw(pace)
        elif now_s - self._last_s >= LINE_EVERY_S:
            self._last_s = now_s
            render.err.print(pace.line, markup=False)

    def started(self, load_id: str) -> None:
        """Say how a load can be taken up if this process dies."""
        render.err.print(f"staging {load_id}; should this process die: load --resume {load_id}", markup=False)

    def _draw(self, pace: Pace) -> None:
        from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

        if self._bar is None:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[told]}"),
            )
            self._bar = Progress(*columns, console=render.err, transient=True)
            self._bar.start()
        told = "  ".join(part for part in (pace.amount, pace.speed, pace.left) if part)
        if pace.stage not in self._tasks:
            self._tasks[pace.stage] = self._bar.add_task(pace.stage, total=pace.total, told=told)
        self._bar.update(TaskID(self._tasks[pace.stage]), completed=pace.done, total=pace.total, told=told)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
