"""What each step of a query did: rows, time and requests. Measured only when somebody asks."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.storage.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Generator

RESULT = "result"
"""What is measured beside the steps: making the result of the rows that were found."""


@dataclass
class StepRun:
    """What a step did; a step inside a block may run several times."""

    rows: int = 0
    seconds: float = 0.0
    requests: int = 0
    runs: int = 0


@dataclass
class Profile:
    """Runs by step. A step is known by its identity: two equal ones are still two."""

    _runs: dict[int, StepRun] = field(default_factory=dict[int, StepRun])
    _kept: list[object] = field(default_factory=list[object])

    @contextmanager
    def measured(self, step: object) -> Generator[StepRun]:
        """Measure what happens inside, the steps of blocks included."""
        run = self.run(step)
        began = time.perf_counter()
        with Meter() as meter:
            try:
                yield run
            finally:
                run.runs += 1
                run.seconds += time.perf_counter() - began
        run.requests += meter.requests

    def start_again(self) -> None:
        """Forget what was measured: the query starts again in another way."""
        for run in self._runs.values():
            run.rows = 0

    def run(self, step: object) -> StepRun:
        """Give what a step did so far."""
        if id(step) not in self._runs:
            self._kept.append(step)  # so that no other object gets its identity
        return self._runs.setdefault(id(step), StepRun())


class NoProfile(Profile):
    """Measures nothing."""

    @contextmanager
    def measured(self, step: object) -> Generator[StepRun]:
        """Do not measure."""
        del step
        yield StepRun()
