"""Requests by kind, sequential hops and bytes: always on, and cheap.

Every store call and every Lance call reports here. Whoever wants to know opens a `Meter`; meters nest, and each
sees what happens inside it on its own thread and on the threads that `run_parallel` starts for it.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

Kind = Literal["get", "head", "put", "list", "delete"]
T = TypeVar("T")

PARALLEL_MAX = 16


@dataclass
class Meter:
    """What was asked of the store while this was open."""

    counts: Counter[str] = field(default_factory=Counter[str])
    hops: int = 0
    bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _token: contextvars.Token[tuple[Meter, ...]] | None = field(default=None, repr=False)

    @property
    def requests(self) -> int:
        """All requests."""
        return sum(self.counts.values())

    @property
    def gets(self) -> int:
        """Reads of objects or parts of objects, looks (HEAD) included."""
        return self.counts["get"] + self.counts["head"]

    @property
    def puts(self) -> int:
        """Writes."""
        return self.counts["put"]

    @property
    def lists(self) -> int:
        """LIST pages."""
        return self.counts["list"]

    @property
    def deletes(self) -> int:
        """Delete requests; one may delete many objects."""
        return self.counts["delete"]

    def counters(self) -> dict[str, int]:
        """The counters a logical operation reports about itself."""
        return {"storage.ops": self.requests, "storage.stages": self.hops, "storage.bytes": self.bytes}

    def add(self, kind: str, requests: int, hops: int) -> None:
        """Count requests that took so many sequential hops."""
        with self._lock:
            self.counts[kind] += requests
            self.hops += hops

    def add_bytes(self, size: int) -> None:
        """Count bytes moved."""
        with self._lock:
            self.bytes += size

    def add_hops(self, hops: int) -> None:
        """Count hops of a parallel section."""
        with self._lock:
            self.hops += hops

    def __enter__(self) -> Self:
        self._token = _open_meters.set((*_open_meters.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        _open_meters.reset(self._token)


_open_meters: contextvars.ContextVar[tuple[Meter, ...]] = contextvars.ContextVar("open_meters", default=())


def count(kind: Kind, requests: int = 1, hops: int | None = None) -> None:
    """Report requests; each is its own hop unless told otherwise."""
    for meter in _open_meters.get():
        meter.add(kind, requests, requests if hops is None else hops)


def count_bytes(size: int) -> None:
    """Report bytes moved."""
    for meter in _open_meters.get():
        meter.add_bytes(size)


def count_hops(hops: int) -> None:
    """Report hops of requests that are counted apart."""
    for meter in _open_meters.get():
        meter.add_hops(hops)


def run_parallel(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks side by side; their hops count as the longest of them. The first error is raised, after all ended.

    The caller does its share, and whatever no thread has begun when it is done: tasks may run tasks of their own.
    """
    if len(tasks) <= 1:
        return [task() for task in tasks]
    outer = _open_meters.get()
    pool = _pool()
    submitted = [(task, pool.submit(_measured, task)) for task in tasks[1:]]
    mine = Future[tuple[T, Meter]]()
    _settle(mine, tasks[0])
    futures = [mine]
    for task, future in submitted:
        if future.cancel():
            future = Future[tuple[T, Meter]]()
            _settle(future, task)
        futures.append(future)
    wait(futures)
    results = [future.result() for future in futures]
    for meter in outer:
        meter.add_hops(max(own.hops for _, own in results))
        meter.add_bytes(sum(own.bytes for _, own in results))
        for _, own in results:
            for kind, requests in own.counts.items():
                meter.add(kind, requests, 0)
    return [result for result, _ in results]


def begin(task: Callable[[], T]) -> Future[T]:
    """Run a task on another thread as soon as one is free. It asks nothing of a store."""
    return _pool().submit(task)


def _measured(task: Callable[[], T]) -> tuple[T, Meter]:
    """Run a task under a meter of its own and no other."""

    def run() -> tuple[T, Meter]:
        with Meter() as own:
            return task(), own

    return contextvars.Context().run(run)


def _settle(future: Future[tuple[T, Meter]], task: Callable[[], T]) -> None:
    """Run a task on this thread."""
    try:
        future.set_result(_measured(task))
    except BaseException as error:  # noqa: BLE001 - raised where the results are collected
        future.set_exception(error)


_pools: list[ThreadPoolExecutor] = []
_pools_lock = threading.Lock()


def _pool() -> ThreadPoolExecutor:
    """The threads of this process; starting some for every write would take longer than most tasks."""
    with _pools_lock:
        if not _pools:
            _pools.append(ThreadPoolExecutor(PARALLEL_MAX, thread_name_prefix="omnigraph"))
        return _pools[0]


def _forget_pool() -> None:
    """A forked process has none of the threads, and maybe a lock that nobody will release."""
    global _pools_lock
    _pools_lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
