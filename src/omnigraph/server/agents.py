"""Tools for agents on the server: `/graphs/ID/mcp`, and `/mcp` where there is one graph."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route

from omnigraph.mcp.desk import LocalDesk
from omnigraph.mcp.server import make_server
from omnigraph.model.errors import NotFound
from omnigraph.server.bodies import timely
from omnigraph.server.context import call, caller

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator

    from mcp.server.context import ServerRequestContext
    from starlette.types import Receive, Scope, Send

    from omnigraph.mcp.desk import Desk
    from omnigraph.server.context import Call
    from omnigraph.server.graphs import Server

_DESK = "omnigraph.desk"


def session_manager(body_bytes_max: int) -> StreamableHTTPSessionManager:
    """Answers each request by itself, as JSON: any process behind a balancer can take it."""
    return StreamableHTTPSessionManager(
        make_server(_desk_of), json_response=True, stateless=True, max_request_body_size=body_bytes_max
    )


def _desk_of(context: ServerRequestContext[Any, Any]) -> Desk:
    assert context.request is not None
    return context.request.scope["state"][_DESK]


class Agents:
    """The route: finds out who asks about which graph, then speaks the protocol."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        known = await caller(request)
        known.record.operation = "mcp"
        asked = await call(known, scope["path_params"].get("graph_id") or _only_graph(known.server))
        scope["state"][_DESK] = _desk(asked)
        await self._manager.handle_request(scope, timely(receive, known.server.limits.body_timeout_s), send)

    def routes(self) -> list[Route]:
        """Where it is."""
        return [Route("/mcp", self), Route("/graphs/{graph_id}/mcp", self)]


def _only_graph(server: Server) -> str:
    if len(server.graphs) != 1:
        raise NotFound("this server has several graphs: use /graphs/ID/mcp")
    return next(iter(server.graphs))


def _desk(asked: Call) -> LocalDesk:
    """Writes of tools are admitted like any others. Tools run on threads, and counting is for the event loop."""
    import asyncio

    loop = asyncio.get_running_loop()
    hold = asked.admitted

    @contextmanager
    def admitted() -> Generator[None]:
        held = hold()
        _on(loop, held.__enter__)
        try:
            yield
        finally:
            _on(loop, lambda: held.__exit__(None, None, None))

    return LocalDesk(asked.graph, asked.gate, asked.served.queries, admitted)


def _on(loop: asyncio.AbstractEventLoop, task: Callable[[], object]) -> None:
    import asyncio

    async def run() -> None:
        task()

    asyncio.run_coroutine_threadsafe(run(), loop).result()
