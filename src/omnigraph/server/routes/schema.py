"""The schema of a graph."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from omnigraph.client.documents import schema_applied_document
from omnigraph.client.wire import SchemaApplyOutput, SchemaApplyRequest, SchemaOutput, SchemaPlanOutput
from omnigraph.graph.visible import visible_schema
from omnigraph.model.errors import Conflict
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.context import GraphCall
from omnigraph.server.describe import operation

router = APIRouter()


@router.get("/schema", **operation("cluster_getSchema", SchemaOutput, tag="schema"))
async def show(call: GraphCall, branch: str | None = None) -> Response:
    """Give the schema as it was written; whoever sees some types only, gets these."""
    return document({"schema_source": await call.run(lambda: visible_schema(call.gate, call.graph, branch))})


@router.post("/schema/plan", **operation("cluster_planSchema", SchemaPlanOutput, tag="schema", body=SchemaApplyRequest))
async def plan(call: GraphCall) -> Response:
    """Say what it takes to bring main to a schema. Changes nothing."""
    asked = await call.json(SchemaApplyRequest)
    call.permit(Action.READ)
    found = await call.run(lambda: call.graph.schema.plan(asked.schema_source, allow_data_loss=asked.allow_data_loss))
    return document({"uri": call.graph.uri, "step_count": len(found.steps), **found.to_json()})


@router.post(
    "/schema/apply",
    **operation("cluster_applySchema", SchemaApplyOutput, tag="mutations", body=SchemaApplyRequest, also=(409,)),
)
async def apply(call: GraphCall) -> Response:
    """Bring main to a schema, as one commit."""
    asked = await call.json(SchemaApplyRequest)
    call.permit(Action.SCHEMA_APPLY, target=MAIN)
    if call.served.settings.schema_is_managed:
        raise Conflict("the schema of this graph is applied by its cluster: 'omnigraph cluster apply'")
    with call.admitted(len(asked.schema_source)):
        done = await call.run(
            lambda: call.graph.schema.apply(asked.schema_source, allow_data_loss=asked.allow_data_loss)
        )
    return document(schema_applied_document(call.graph.uri, done))
