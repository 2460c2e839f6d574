"""Work side by side, on the threads of this process. Whoever counts requests sees those of all of them."""

from __future__ import annotations

import contextvars
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from omnigraph.storage.meter import Meter, open_meters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

PARALLEL_MAX = 16


def run_parallel(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks side by side; their hops count as the longest of them. The first error is raised, after all ended.

    The caller does its share, and whatever no thread has begun when it is done: tasks may run tasks of their own.
    """
    if len(tasks) <= 1:
        return [task() for task in tasks]
    outer = open_meters()
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
