"""Loads that take long, as jobs: on Spark where there is one and it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from ulid import ULID

from omnigraph.client.wire import JobListOutput, JobOutput
from omnigraph.model.errors import BadRequest, Cancelled, NotFound, ResourceLimit
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.bodies import NDJSON, check_media, ndjson_start
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import LINES, operation
from omnigraph.server.jobs import Job, now_us
from omnigraph.server.routes.loads import PARAMETERS, permit_load
from omnigraph.write.modes import load_mode

if TYPE_CHECKING:
    from pathlib import Path

router = APIRouter()


@router.post(
    "/jobs/load",
    **operation("cluster_startLoadJob", JobOutput, tag="jobs", body=LINES, also=(409,), parameters=PARAMETERS),
)
async def start(call: GraphCall) -> Response:
    """Take records of any size, and load them in the background as one commit."""
    given = call.request.query_params
    mode = load_mode(given.get("mode") or "merge").value
    branch = given.get("branch") or MAIN
    permit_load(call, branch)
    check_media(call.request, NDJSON)
    jobs = call.server.jobs
    jobs.check_room()
    job = Job(str(ULID()), call.served.id, call.actor, now_us())
    path = jobs.new_file(job.id)
    try:
        await _spool(call, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    jobs.start(job, call.graph, path, mode=mode, branch=branch, base=given.get("from"))
    return document(job.to_json())


async def _spool(call: Call, path: Path) -> None:
    """To a file, a piece at a time: memory stays what it is."""
    limit = call.server.limits.job_bytes_max
    size = 0
    try:
        with path.open("wb") as file:
            async for chunk in call.request.stream():
                if size == 0 and chunk:
                    ndjson_start(chunk)
                size += len(chunk)
                if size > limit:
                    raise ResourceLimit("graph_batch_request_bytes", limit=limit, actual=size)
                await call.run(lambda chunk=chunk: file.write(chunk))
    except ClientDisconnect:
        raise Cancelled from None
    if size == 0:
        raise BadRequest("there are no records")


@router.get("/jobs", **operation("cluster_listJobs", JobListOutput, tag="jobs"))
async def list_jobs(call: GraphCall) -> Response:
    """List the jobs you have started, newest first."""
    return document({"jobs": [job.to_json() for job in call.server.jobs.of(call.served.id, call.actor)]})


@router.get("/jobs/{job_id}", **operation("cluster_getJob", JobOutput, tag="jobs"))
async def show(call: GraphCall, job_id: str) -> Response:
    """Say how far a job is, or what became of it."""
    return document(_own(call, job_id).to_json())


@router.delete("/jobs/{job_id}", **operation("cluster_cancelJob", JobOutput, tag="jobs"))
async def cancel(call: GraphCall, job_id: str) -> Response:
    """Call a job off. It stops at its next step; unless it is published by then, nothing is."""
    job = _own(call, job_id)
    job.called_off.set()
    return document(job.to_json())


def _own(call: Call, job_id: str) -> Job:
    if not call.gate.may_ever(Action.CHANGE):
        call.permit(Action.CHANGE)
    found = call.server.jobs.find(call.served.id, call.actor, job_id)
    if found is None:
        raise NotFound(f"job {job_id!r} not found")
    return found
