"""Queries that write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response

from omnigraph.client.documents import mutation_document
from omnigraph.client.wire import ChangeOutput, ChangeRequest
from omnigraph.graph.visible import permit_text, require_something, sees_all
from omnigraph.model.errors import BadRequest
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.bodies import JSON, json_of, read_body, validated
from omnigraph.server.conditions import CONDITION, condition_of, refuse_condition
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import header, operation

if TYPE_CHECKING:
    from omnigraph.policy import Gate
    from omnigraph.write.mutate import MutationResult

router = APIRouter()


async def _asked(call: Call) -> ChangeRequest:
    """The body; the older names of its members are read as well."""
    limits = call.server.limits
    given: Any = json_of(await read_body(call.request, limits.json_bytes_max, limits.body_timeout_s, JSON))
    if isinstance(given, dict):
        for old, new in (("query_source", "query"), ("query_name", "name")):
            if old in given:
                given.setdefault(new, given[old])
    return validated(given, ChangeRequest)


async def _change(call: Call, if_commit: str | None = None) -> Response:
    asked = await _asked(call)
    return await changed(call, asked, call.gate, if_commit, len(asked.query))


async def changed(call: Call, asked: ChangeRequest, gate: Gate, if_commit: str | None, size: int = 0) -> Response:
    """Run a query that writes, as far as a gate lets it: the actor's own, or that of a stored query."""
    branch = asked.branch or MAIN
    if not sees_all(gate, Action.CHANGE, branch):
        require_something(gate, Action.CHANGE, branch)
    graph = call.graph.with_gate(gate)

    def run() -> MutationResult:
        permit_text(gate, graph, Action.CHANGE, asked.query, asked.name, branch)
        return graph.mutate(
            as_text(asked.query), asked.name, params_of(asked.params), branch=branch, if_commit=if_commit
        )

    with call.admitted(size):
        return document(mutation_document(await call.run(run)))


def as_text(query: str) -> str:
    """Query text that nobody takes for the name of a file."""
    return query + "\n"


def params_of(params: object) -> dict[str, object] | None:
    """The parameters of a query."""
    if params is None:
        return None
    if not isinstance(params, dict):
        raise BadRequest('params is a JSON object: {"name": value}')
    return {str(name): value for name, value in params.items()}


@router.post(
    "/mutate", **operation("cluster_mutate", ChangeOutput, tag="mutations", body=ChangeRequest, also=(409, 424))
)
async def mutate(call: GraphCall) -> Response:
    """Run a query that writes: one commit, or none if nothing changes."""
    refuse_condition(call.request)
    return await _change(call)


@router.post(
    "/mutate/if-graph-commit",
    **operation(
        "cluster_mutate_if_graph_commit",
        ChangeOutput,
        tag="mutations",
        body=ChangeRequest,
        also=(409, 412, 424),
        parameters=[header(CONDITION, required=True)],
    ),
)
async def mutate_if(call: GraphCall) -> Response:
    """Run a query that writes, if the branch is at the commit of the header."""
    return await _change(call, condition_of(call.request))


@router.post(
    "/change",
    **operation("cluster_change", ChangeOutput, tag="mutations", body=ChangeRequest, also=(409, 424), deprecated=True),
)
async def change(call: GraphCall) -> Response:
    """Run a query that writes. Use /mutate."""
    refuse_condition(call.request)
    return deprecated(await _change(call), "mutate")


def deprecated(response: Response, successor: str) -> Response:
    """Say which route has taken the place of this one."""
    response.headers["Deprecation"] = "true"
    response.headers["Link"] = f'<{successor}>; rel="successor-version"'
    return response
