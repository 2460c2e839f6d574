"""Peaks of memory of a process and of all it starts: of this Python, of Java, of Python workers."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

ROLES = ("driver", "java", "worker")


class PeakMemory:
    """Watches while it is entered. `peaks_mib` has the largest process of each role, by its own high-water mark."""

    def __init__(self, every_s: float = 0.2) -> None:
        self.peaks_mib: dict[str, int] = {}
        self._every_s = every_s
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Look once more, and end."""
        self._is_done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._is_done.wait(self._every_s):
            self._look()

    def _look(self) -> None:
        for process in [os.getpid(), *_descendants(os.getpid())]:
            with contextlib.suppress(OSError):  # it has ended
                name = Path(f"/proc/{process}/comm").read_text("utf-8").strip()
                role = "driver" if process == os.getpid() else "java" if name == "java" else "worker"
                self.peaks_mib[role] = max(self.peaks_mib.get(role, 0), _peak_mib(process))


def _peak_mib(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text("utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    return 0


def _descendants(process: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text("utf-8").rpartition(")")[2].split()[1])
                children[parent].append(int(entry.name))
    found, rest = list[int](), [process]
    while rest:
        rest += (more := children[rest.pop()])
        found += more
    return found
