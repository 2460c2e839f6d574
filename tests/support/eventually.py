"""Waiting for what another process or thread will do."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HANGS_S = 300
"""Who takes so long hangs: no machine that runs the tests at all is that slow."""


def eventually(holds: Callable[[], object], what: str = "it") -> None:
    """Come back when something holds."""
    deadline_s = time.monotonic() + HANGS_S
    pause = threading.Event()
    while not holds():
        assert time.monotonic() < deadline_s, f"{what} did not happen in {HANGS_S} s"
        pause.wait(0.02)
