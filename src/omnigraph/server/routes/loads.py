"""Loading records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import Response

from omnigraph.client.documents import load_document
from omnigraph.client.wire import GraphBatchLoadOutput, IngestOutput, IngestRequest, LoadModeName
from omnigraph.graph.visible import require_something, sees_all
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.bodies import JSON, NDJSON, ndjson_text, parse_json, read_body
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import LINES, operation, query
from omnigraph.server.routes.mutations import deprecated

if TYPE_CHECKING:
    from omnigraph.write.load import LoadResult

router = APIRouter()
PARAMETERS = [
    query("branch"),
    query("from"),
    query("mode", {"type": "string", "enum": ["overwrite", "append", "merge"]}),
]


def permit_load(call: Call, branch: str) -> None:
    """Refuse whoever may not change anything there; which types a load touches is known when it was read."""
    if not sees_all(call.gate, Action.CHANGE, branch):
        require_something(call.gate, Action.CHANGE, branch)


async def _load(call: Call, data: bytes, *, branch: str, base: str | None, mode: str, permissive: bool) -> LoadResult:
    records = ndjson_text(data)
    with call.admitted(len(data)):
        return await call.run(
            lambda: call.graph.load(records, mode=mode, branch=branch, base=base, permissive=permissive, engine="local")
        )


async def _load_json(call: Call) -> Response:
    limits = call.server.limits
    asked = parse_json(await read_body(call.request, limits.load_bytes_max, limits.body_timeout_s, JSON), IngestRequest)
    branch = asked.branch or MAIN
    permit_load(call, branch)
    data = asked.data.encode("utf-8", "surrogatepass")
    done = await _load(call, data, branch=branch, base=asked.from_, mode=asked.mode or "merge", permissive=True)
    return document(load_document(call.graph.uri, done))


@router.post("/load", **operation("cluster_load", IngestOutput, tag="mutations", body=IngestRequest, also=(409, 424)))
async def load(call: GraphCall) -> Response:
    """Load records given as one text: unknown fields are ignored, values may span lines."""
    return await _load_json(call)


@router.post(
    "/ingest",
    **operation("cluster_ingest", IngestOutput, tag="mutations", body=IngestRequest, also=(409, 424), deprecated=True),
)
async def ingest(call: GraphCall) -> Response:
    """Load records. Use /load."""
    return deprecated(await _load_json(call), "load")


@router.post(
    "/load/ndjson",
    **operation(
        "cluster_loadNdjson", GraphBatchLoadOutput, tag="mutations", body=LINES, also=(409, 424), parameters=PARAMETERS
    ),
)
async def load_ndjson(call: GraphCall) -> Response:
    """Load records, one JSON object on each line, read strictly. Permission is asked for before the body is read."""
    given = call.request.query_params
    mode = given.get("mode") or "merge"
    branch = given.get("branch") or MAIN
    permit_load(call, branch)
    limits = call.server.limits
    with call.admitted(_declared(call)):
        body = await read_body(call.request, limits.load_bytes_max, limits.body_timeout_s, NDJSON)
    done = await _load(call, body, branch=branch, base=given.get("from"), mode=mode, permissive=False)
    answer = load_document(call.graph.uri, done)
    del answer["uri"]
    return document(answer)


def _declared(call: Call) -> int:
    text = call.request.headers.get("content-length", "")
    return int(text) if text.isdigit() else 0


__all__ = ["LoadModeName", "router"]
