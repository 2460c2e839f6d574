"""The graph as lines that load again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from omnigraph.client.wire import ExportRequest
from omnigraph.graph.visible import require_something, sees_all
from omnigraph.model.errors import ResourceLimit
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.bodies import NDJSON
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import LINES, operation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.types import Message, Receive, Scope, Send

router = APIRouter()
CHUNK_BYTES = 64 * 1024


@router.post("/export", **operation("cluster_export", LINES, tag="queries", body=ExportRequest, also=(409, 410)))
async def export(call: GraphCall) -> Response:
    """Stream a branch as JSONL; memory stays bounded, and it stops when nobody reads."""
    asked = await call.json(ExportRequest)
    branch = asked.branch or MAIN
    if not sees_all(call.gate, Action.EXPORT, branch):
        require_something(call.gate, Action.EXPORT, branch)
    lines = await call.run(lambda: call.graph.export_lines(types=asked.type_names, branch=branch))
    return await streamed(call, lines)


async def streamed(call: Call, chunks: Iterator[bytes]) -> Response:
    """An answer whose body is made while it is sent. What fails before the first chunk is an ordinary error."""
    slots = call.server.exports
    if slots.locked():
        limit = call.server.limits.exports_max
        raise ResourceLimit("stream_export_slots", limit=limit, actual=limit + 1)
    await slots.acquire()
    try:
        first = await call.run(lambda: next(chunks, None))
    except BaseException:
        slots.release()
        raise
    return _Lines(call, first, chunks)


class _Lines(StreamingResponse):
    """Lines that are made while they are sent; its slot is free again whatever becomes of it."""

    def __init__(self, call: Call, first: bytes | None, chunks: Iterator[bytes]) -> None:
        super().__init__(self._pieces(first), media_type=f"{NDJSON}; charset=utf-8")
        self._call = call
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them. Who takes none for a while is taken to be gone."""
        timeout_s = self._call.server.limits.body_timeout_s

        async def taken(message: Message) -> None:
            async with asyncio.timeout(timeout_s):
                await send(message)

        try:
            await super().__call__(scope, receive, taken)
        except TimeoutError:
            self._call.record.error = "ClientStalled"
        finally:
            self._call.server.exports.release()
            close = getattr(self._chunks, "close", None)
            if close is not None:
                await self._call.run(close)

    async def _pieces(self, chunk: bytes | None) -> AsyncIterator[bytes]:
        while chunk is not None:
            for start in range(0, len(chunk), CHUNK_BYTES):
                yield chunk[start : start + CHUNK_BYTES]
            chunk = await self._call.run(lambda: next(self._chunks, None))
