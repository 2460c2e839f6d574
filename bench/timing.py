"""How long something takes, and a line that says whether that is within its bound."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

Line: TypeAlias = tuple[str, str, float, float]
"""What, figures, ratio, its bound."""


def timed_ms(act: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of each of several runs."""
    took: list[float] = []
    for _ in range(times):
        started_s = time.perf_counter()
        act()
        took.append((time.perf_counter() - started_s) * 1000)
    return took


def add_line(table: Table, line: Line) -> bool:
    """Add a line to a table; True if its bound is broken."""
    what, figures, ratio, bound = line
    table.add_row(what, figures, f"{ratio:.2f}", f"≤ {bound:g}", style="red" if ratio > bound else "")
    return ratio > bound
