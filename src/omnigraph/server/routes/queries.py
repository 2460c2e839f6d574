"""Queries that read, and stored queries of either kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import Response

from omnigraph.client.arrow import MEDIA, encode_result
from omnigraph.client.documents import read_document
from omnigraph.client.wire import (
    ChangeOutput,
    ChangeRequest,
    InvokeStoredQueryRequest,
    LegacyReadOutput,
    QueriesCatalogOutput,
    QueryRequest,
    ReadOutput,
    ReadRequest,
)
from omnigraph.execute.watch import Canceller
from omnigraph.graph.visible import permit_text, require_something, sees_all
from omnigraph.model.errors import BadRequest, Denied, NotFound
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.bodies import JSON, parse_json, read_body
from omnigraph.server.conditions import CONDITION, condition_of, refuse_condition
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import header, operation, reference
from omnigraph.server.routes.mutations import as_text, changed, deprecated, params_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.execute.result import Result
    from omnigraph.graph.stored import StoredQuery
    from omnigraph.policy import Gate

router = APIRouter()

_ARROW = {MEDIA: {"schema": {"type": "string", "format": "binary"}}}
_READ = {JSON: {"schema": reference(ReadOutput)}, **_ARROW}
_EITHER = {JSON: {"schema": {"oneOf": [reference(ReadOutput), reference(ChangeOutput)]}}, **_ARROW}
_STORED_BODY = {JSON: {"schema": {"oneOf": [{"type": "null"}, reference(InvokeStoredQueryRequest)]}}}


# -- reading ---------------------------------------------------------------------------------------------


async def _read(
    call: Call, asked: QueryRequest, written: Callable[[Result], Response], gate: Gate | None = None
) -> Response:
    """Run a query for as long as somebody waits for it, and write its answer, in one go on one thread."""
    gate = gate or call.gate
    if asked.branch is not None and asked.snapshot is not None:
        raise BadRequest("give branch or snapshot, not both")
    branch = None if asked.snapshot is not None else asked.branch or MAIN
    if not sees_all(gate, Action.READ, branch):
        require_something(gate, Action.READ, branch)
    canceller = Canceller()
    longest = call.server.limits.query_timeout_s

    def run() -> Response:
        permit_text(gate, call.graph, Action.READ, asked.query, asked.name, branch, asked.snapshot)
        found = call.graph.query(
            as_text(asked.query),
            asked.name,
            params_of(asked.params),
            branch=branch,
            snapshot=asked.snapshot,
            timeout_s=min(longest, asked.timeout_s or longest),
            max_rows=asked.max_rows,
            canceller=canceller,
        )
        return written(found)

    return await call.run_while_connected(run, canceller.cancel)


def _writer(call: Call) -> Callable[[Result], Response]:
    """Rows as JSON, or as Arrow for who asks for it."""
    if MEDIA in call.request.headers.get("accept", ""):
        return lambda result: Response(encode_result(result), media_type=MEDIA)
    return lambda result: document(read_document(result))


@router.post("/query", **operation("cluster_query", _READ, tag="queries", body=QueryRequest, also=(410,)))
async def query(call: GraphCall) -> Response:
    """Run a query that reads, on a branch or at a snapshot."""
    return await _read(call, await call.json(QueryRequest), _writer(call))


@router.post(
    "/read",
    **operation("cluster_read", LegacyReadOutput, tag="queries", body=ReadRequest, also=(410,), deprecated=True),
)
async def read(call: GraphCall) -> Response:
    """Run a query that reads. Use /query."""
    asked = await call.json(ReadRequest)
    same = QueryRequest(
        query=asked.query_source,
        name=asked.query_name,
        params=asked.params,
        branch=asked.branch,
        snapshot=asked.snapshot,
    )

    def written(result: Result) -> Response:
        found = read_document(result)
        del found["graph_commit_id"]
        return document(found)

    return deprecated(await _read(call, same, written), "query")


# -- stored queries --------------------------------------------------------------------------------------


@router.get("/queries", **operation("cluster_list_queries", QueriesCatalogOutput, tag="queries"))
async def catalogue(call: GraphCall) -> Response:
    """List the stored queries somebody may run."""
    if not call.gate.may_ever(Action.INVOKE_QUERY):
        call.permit(Action.READ, MAIN)
    stored = call.served.queries.by_name
    return document({"queries": [stored[name].entry for name in sorted(stored) if may_invoke(call.gate, name)]})


def may_invoke(gate: Gate, name: str) -> bool:
    """Whether somebody may run a stored query, or may read everything and so may know of it."""
    inner = gate.within(name)
    return sees_all(inner, Action.INVOKE_QUERY, None) or sees_all(gate, Action.READ, MAIN)


def stored_query(call: Call, name: str) -> StoredQuery:
    """A stored query that somebody may run; whether it is there is not for the others."""
    found = call.served.queries.by_name.get(name)
    try:
        call.gate.within(name).require(Action.INVOKE_QUERY)
    except Denied:
        found = None
    if found is None:
        raise NotFound("stored query not found")
    return found


async def _invoked(call: Call) -> InvokeStoredQueryRequest:
    limits = call.server.limits
    given = call.request.headers
    if given.get("content-length", "0") == "0" and "transfer-encoding" not in given:
        return InvokeStoredQueryRequest()
    body = await read_body(call.request, limits.json_bytes_max, limits.body_timeout_s, JSON)
    return InvokeStoredQueryRequest() if body.strip() in (b"", b"null") else parse_json(body, InvokeStoredQueryRequest)


async def _invoke(call: Call, name: str, if_commit: str | None) -> Response:
    asked = await _invoked(call)
    stored = stored_query(call, name)
    if asked.expect_mutation is not None and asked.expect_mutation != stored.is_mutation:
        raise BadRequest(f"the stored query {name!r} {'writes' if stored.is_mutation else 'reads'}")
    gate = call.gate.within(name)
    if stored.is_mutation:
        if asked.snapshot is not None:
            raise BadRequest("a query that writes takes a branch, no snapshot")
        change = ChangeRequest(query=stored.text, name=name, params=asked.params, branch=asked.branch)
        return await changed(call, change, gate, if_commit)
    if if_commit is not None:
        raise BadRequest(f"the stored query {name!r} reads: it takes no condition")
    same = QueryRequest(query=stored.text, name=name, params=asked.params, branch=asked.branch, snapshot=asked.snapshot)
    return await _read(call, same, _writer(call), gate)


@router.post(
    "/queries/{name}",
    **operation(
        "cluster_invoke_query", _EITHER, tag="queries", body=_STORED_BODY, body_required=False, also=(409, 410, 424)
    ),
)
async def invoke(call: GraphCall, name: str) -> Response:
    """Run a stored query."""
    refuse_condition(call.request)
    return await _invoke(call, name, None)


@router.post(
    "/queries/{name}/if-graph-commit",
    **operation(
        "cluster_invoke_query_if_graph_commit",
        ChangeOutput,
        tag="queries",
        body=_STORED_BODY,
        body_required=False,
        also=(409, 410, 412, 424),
        parameters=[header(CONDITION, required=True)],
    ),
)
async def invoke_if(call: GraphCall, name: str) -> Response:
    """Run a stored query that writes, if the branch is at the commit of the header."""
    return await _invoke(call, name, condition_of(call.request))
