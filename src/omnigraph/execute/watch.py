"""When a query has to stop: its time is over, or somebody called it off."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from omnigraph.model.errors import Cancelled, TimedOut

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class Interruptible(Protocol):
    """Something whose work another thread can stop."""

    def interrupt(self) -> None:
        """Stop what is running."""
        ...


_AGAIN_S = 0.05
"""An engine that had not begun yet forgets that it was interrupted: it is told again until it stops."""


class Canceller:
    """Calls queries off: give it to them, and call `cancel` from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watches: set[Watch] = set()
        self.is_cancelled = False

    def cancel(self) -> None:
        """Stop every query this was given to, those to come included. They raise `Cancelled`."""
        with self._lock:
            self.is_cancelled = True
            watches = tuple(self._watches)
        for watch in watches:
            watch.cancel()

    @contextmanager
    def over(self, watch: Watch) -> Generator[None]:
        """Be able to stop a query while it runs."""
        with self._lock:
            self._watches.add(watch)
            if self.is_cancelled:
                watch.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._watches.discard(watch)


class Watch:
    """Watches one query. `cancel` may be called from any thread, `check` is called between steps."""

    def __init__(self, timeout_s: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        self._end = None if timeout_s is None else clock() + timeout_s
        self._lock = threading.Lock()
        self._running: Interruptible | None = None
        self._cancelled = False
        self._timer: threading.Timer | None = None

    def cancel(self) -> None:
        """Stop the query; it raises `Cancelled`."""
        self._cancelled = True
        self._interrupt()

    def check(self) -> None:
        """Raise if the query has to stop."""
        if self._cancelled:
            raise Cancelled
        if self._end is not None and self._clock() >= self._end:
            assert self._timeout_s is not None
            raise TimedOut(self._timeout_s)

    @contextmanager
    def over(self, engine: Interruptible) -> Generator[None]:
        """Run something that cannot look for itself: it is interrupted when the time comes."""
        with self._lock:
            self._running = engine
            if self._end is not None:
                self._interrupt_in(max(0.0, self._end - self._clock()))
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._running = None
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None

    def _interrupt(self) -> None:
        with self._lock:
            if self._running is not None:
                self._running.interrupt()
                self._interrupt_in(_AGAIN_S)

    def _interrupt_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(seconds, self._interrupt)
        self._timer.daemon = True
        self._timer.start()


NEVER = Watch()
