"""Whether the process lives, whether it takes requests, and its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from omnigraph import __version__
from omnigraph.client.documents import INTERNAL_SCHEMA_VERSION
from omnigraph.client.wire import GraphInfo, GraphListResponse, HealthOutput, ReadinessOutput
from omnigraph.server.answers import document
from omnigraph.server.context import KnownCaller
from omnigraph.server.describe import operation
from omnigraph.server.observe import record_of

if TYPE_CHECKING:
    from omnigraph.server.graphs import Server

router = APIRouter()


@router.get("/healthz", **operation("health", HealthOutput, tag="health", always=()))
async def health(request: Request) -> Response:
    """Say that the process lives."""
    record_of(request.scope).operation = "health"
    return document({"status": "ok", "version": __version__, "internal_schema_version": INTERNAL_SCHEMA_VERSION})


@router.get(
    "/readyz",
    **operation("ready", ReadinessOutput, tag="health", always=(), more={503: {"model": ReadinessOutput}}),
)
async def ready(request: Request) -> Response:
    """Say whether requests are taken: not while the server stops."""
    record_of(request.scope).operation = "ready"
    server: Server = request.app.state.server
    status = "not_ready" if server.is_stopping else "ready"
    return document({"status": status, "graphs": len(server.graphs)}, 503 if server.is_stopping else 200)


@router.get(
    "/metrics",
    **operation("metrics", {"text/plain": {"schema": {"type": "string"}}}, tag="health", always=(401, 403)),
)
async def metrics(known: KnownCaller) -> Response:
    """Counters and times, as Prometheus reads them. Takes a token where there are tokens."""
    known.server.metrics.writes.set(known.server.admission.inflight)
    for one in known.server.graphs.values():
        known.server.metrics.races_lost.labels(one.id).set(one.graph.repository.races_lost)
    return Response(generate_latest(known.server.metrics.registry), media_type=CONTENT_TYPE_LATEST)


@router.get("/graphs", **operation("listGraphs", GraphListResponse, tag="management", always=(401, 403, 405, 429, 500)))
async def list_graphs(known: KnownCaller) -> Response:
    """List the graphs that are served."""
    known.server.permit_listing(known.actor)
    graphs = [GraphInfo(graph_id=one.id, uri=one.graph.uri) for one in known.server.graphs.values()]
    return document({"graphs": [one.model_dump() for one in graphs]})
