"""What a route knows about its request: who, which graph, what is allowed. Checked in this order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, Request

from omnigraph.model.errors import BadRequest, Denied, InvalidName, NotFound
from omnigraph.model.names import check_graph_id
from omnigraph.server.bodies import JSON, parse_json, read_body
from omnigraph.server.declare import RESERVED_IDS
from omnigraph.server.graphs import ServedGraph, Server
from omnigraph.server.observe import Record, record_of
from omnigraph.server.settings import AuthMode, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from omnigraph.client.wire import Wire
    from omnigraph.graph import Graph
    from omnigraph.policy import Action, Gate

T = TypeVar("T")
M = TypeVar("M", bound="Wire")


@dataclass(frozen=True)
class Caller:
    """A request whose sender is known."""

    request: Request
    server: Server
    record: Record
    actor: str | None


@dataclass(frozen=True)
class Call(Caller):
    """A request about a graph, in the hands of its actor."""

    served: ServedGraph
    gate: Gate
    graph: Graph

    def permit(self, action: Action, branch: str | None = None, target: str | None = None) -> None:
        """Refuse what the actor may not do."""
        self.gate.require(action, branch=branch, target=target)

    async def json(self, model: type[M]) -> M:
        """The body, typed."""
        limits = self.server.limits
        return parse_json(await read_body(self.request, limits.json_bytes_max, limits.body_timeout_s, JSON), model)

    async def run(self, task: Callable[[], T]) -> T:
        """Work off the event loop, to its end."""
        return await self.server.work.run(self.record, task)

    async def run_while_connected(self, task: Callable[[], T], cancel: Callable[[], None]) -> T:
        """Work off the event loop, called off when the client has gone."""
        return await self.server.work.run_while_connected(self.request, self.record, task, cancel)

    def admitted(self, size: int = 0) -> AbstractContextManager[None]:
        """Count this as a write in flight."""
        return self.server.admission.hold(self.actor, size)


async def caller(request: Request) -> Caller:
    """Who asks."""
    server: Server = request.app.state.server
    record = record_of(request.scope)
    route = request.scope.get("route")
    record.operation = getattr(route, "operation_id", None) or "unknown"
    if server.mode is AuthMode.OPEN and not is_loopback(request.url.hostname or ""):
        raise Denied("an open server answers to the names of this machine only: 127.0.0.1, [::1] or localhost")
    record.actor = actor = server.tokens.actor_of(request.headers.get("authorization")) if server.tokens else None
    return Caller(request, server, record, actor)


async def call(known: Annotated[Caller, Depends(caller)], graph_id: str) -> Call:
    """What they ask about."""
    try:
        check_graph_id(graph_id)
    except InvalidName as error:
        raise BadRequest(error.message) from None
    if graph_id in RESERVED_IDS:
        raise BadRequest(f"{graph_id!r} is reserved and no graph")
    served = known.server.graphs.get(graph_id)
    if served is None:
        raise NotFound(f"graph {graph_id!r} not found")
    known.record.graph = graph_id
    gate = served.gate_for(known.actor, known.server.mode)
    graph = served.graph.as_actor(known.actor, gate)
    return Call(known.request, known.server, known.record, known.actor, served, gate, graph)


KnownCaller = Annotated[Caller, Depends(caller)]
GraphCall = Annotated[Call, Depends(call)]
