"""How much work a call is, counted: the same on every machine, however busy."""

from __future__ import annotations

import cProfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def calls_in(function: Callable[..., object], *arguments: Any) -> int:
    """Calls of functions, those written in C among them, while a function runs."""
    profile = cProfile.Profile()
    profile.runcall(function, *arguments)
    return sum(entry.callcount for entry in profile.getstats())
