"""Work off the event loop: threads for everything that waits for a disk, a store or an engine."""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from omnigraph.model.errors import Cancelled
from omnigraph.storage.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from omnigraph.server.observe import Record

T = TypeVar("T")


class Work:
    """The threads of a server."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="omnigraph-work")

    async def run(self, record: Record, task: Callable[[], T]) -> T:
        """Run a task on a thread. Who stops waiting does not stop it: a write that began is finished."""
        return await asyncio.shield(self._start(record, task))

    async def run_while_connected(
        self, request: Request, record: Record, task: Callable[[], T], cancel: Callable[[], None]
    ) -> T:
        """Run a task that can be called off, and call it off when the client has gone."""
        future = self._start(record, task)
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait({future, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                cancel()
                raise Cancelled
            return future.result()
        except asyncio.CancelledError:
            cancel()
            raise
        finally:
            gone.cancel()

    def _start(self, record: Record, task: Callable[[], T]) -> asyncio.Future[T]:
        def measured() -> T:
            with Meter() as meter:
                try:
                    return task()
                finally:
                    record.meter(meter)

        context = contextvars.copy_context()
        return asyncio.get_running_loop().run_in_executor(self._pool, lambda: context.run(measured))

    def close(self) -> None:
        """Wait for what has begun."""
        self._pool.shutdown(wait=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
