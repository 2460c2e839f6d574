"""Time, ids and chance, as arguments: what makes a run repeatable."""

from __future__ import annotations

import os
import random
import threading
import time
from typing import Protocol

from ulid import ULID


class Clock(Protocol):
    """Where time comes from."""

    def now_us(self) -> int:
        """Microseconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Ids(Protocol):
    """Where new ids and jitter come from."""

    def ulid(self) -> str:
        """Make a new ULID, greater than the ones made before."""
        ...

    def random(self) -> float:
        """A number in [0, 1)."""
        ...


class Locks(Protocol):
    """A mutual exclusion that a simulation can schedule."""

    def acquire(self, blocking: bool = True) -> bool:
        """Enter."""
        ...

    def release(self) -> None:
        """Leave."""
        ...


class Runtime(Protocol):
    """Everything nondeterministic a process uses besides its store."""

    @property
    def clock(self) -> Clock:
        """Time."""
        ...

    @property
    def ids(self) -> Ids:
        """Ids and jitter."""
        ...

    def lock(self) -> Locks:
        """Make a new lock."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        """Microseconds since the epoch."""
        return time.time_ns() // 1000

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class SystemIds:
    """Ids from the clock and the operating system's randomness, strictly increasing within a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._pid = os.getpid()

    def ulid(self) -> str:
        """Make a new ULID, greater than the ones this process made before."""
        with self._lock:
            fresh = int.from_bytes(ULID().bytes, "big")
            self._last = fresh if fresh > self._last else self._last + 1
            return str(ULID.from_bytes(self._last.to_bytes(16, "big")))

    def random(self) -> float:
        """A number in [0, 1)."""
        if self._pid != os.getpid():  # a forked child must not repeat its parent's jitter
            random.seed()
            self._pid = os.getpid()
        return random.random()


class SystemRuntime:
    """The real thing."""

    def __init__(self) -> None:
        self.clock: Clock = SystemClock()
        self.ids: Ids = SystemIds()

    def lock(self) -> Locks:
        """Make a new lock."""
        return threading.Lock()
