"""Work that Ctrl-C can stop although a library does it.

Python hands a signal to the main thread between two of its own instructions. A library that computes for a minute keeps
it waiting as long. So what the main thread would compute another thread does, and the main one waits, which a signal
ends at once. Other threads get no signals: they do their work themselves.
"""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_AGAIN_S = 0.05
"""What had not begun yet forgets that it was interrupted: it is told again until it stops."""
_TIMES = 20
"""How often; a step of an engine that takes longer than all of these is not waited for."""


class _Job(Generic[T]):
    """Work that is done once, by whoever claims it, or never."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._claim = threading.Lock()
        self.done = threading.Event()
        self._found: list[T] = []
        self._error: BaseException | None = None

    def claim(self) -> bool:
        """Whether nobody claimed it before."""
        return self._claim.acquire(blocking=False)

    def do(self) -> None:
        """Do it, unless it was called off."""
        if self.claim():
            try:
                self._found.append(self._work())
            except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
                self._error = error
            self.done.set()

    def result(self) -> T:
        """What came of it."""
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # an error that knows the frame that knows the error is freed late
        return self._found[0]


_helper: tuple[int, SimpleQueue[_Job[object]]] | None = None


def _jobs() -> SimpleQueue[_Job[object]]:
    """What the helper does, one after the other. A forked child has no threads but one: it starts its own helper."""
    global _helper
    if _helper is None or _helper[0] != os.getpid():
        jobs: SimpleQueue[_Job[object]] = SimpleQueue()
        threading.Thread(target=_help, args=(jobs,), name="omnigraph-statements", daemon=True).start()
        _helper = os.getpid(), jobs
    return _helper[1]


def _help(jobs: SimpleQueue[_Job[object]]) -> None:
    while True:
        jobs.get().do()


def _stop(job: _Job[T], interrupt: Callable[[], None]) -> None:
    """Interrupt work until it stops. What does not listen is left behind: the next helper does not wait for it."""
    global _helper
    for _ in range(_TIMES):
        interrupt()
        if job.done.wait(_AGAIN_S):
            return
    _helper = None


def interruptibly(work: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Do work in such a way that a signal ends it, by calling `interrupt` from the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    job = _Job(work)
    try:
        _jobs().put(job)  # pyright: ignore[reportArgumentType] - nobody looks at what it gives
        job.done.wait()
    except BaseException:
        if not job.claim():
            _stop(job, interrupt)
        raise
    return job.result()
