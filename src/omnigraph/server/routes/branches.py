"""Branches and what they hold."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from omnigraph.client.documents import commit_document, snapshot_document
from omnigraph.client.wire import (
    BranchCreateOutput,
    BranchCreateRequest,
    BranchDeleteOutput,
    BranchListOutput,
    CommitListOutput,
    CommitOutput,
    SnapshotOutput,
)
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.context import GraphCall
from omnigraph.server.describe import operation

router = APIRouter()


@router.get("/snapshot", **operation("cluster_getSnapshot", SnapshotOutput, tag="snapshots"))
async def snapshot(call: GraphCall, branch: str | None = None) -> Response:
    """Say what a branch holds."""
    call.permit(Action.READ, branch or MAIN)
    return document(await call.run(lambda: snapshot_document(call.graph.snapshot(branch))))


@router.get("/branches", **operation("cluster_listBranches", BranchListOutput, tag="branches"))
async def list_branches(call: GraphCall) -> Response:
    """List branches."""
    call.permit(Action.READ)
    return document({"branches": [ref.name for ref in await call.run(call.graph.branches.list)]})


@router.post(
    "/branches",
    **operation("cluster_createBranch", BranchCreateOutput, tag="branches", body=BranchCreateRequest, also=(409, 410)),
)
async def create_branch(call: GraphCall) -> Response:
    """Make a branch from a branch, a tag or a commit."""
    asked = await call.json(BranchCreateRequest)
    source = asked.from_ or MAIN
    call.permit(Action.BRANCH_CREATE, branch=source, target=asked.name)
    with call.admitted():
        await call.run(lambda: call.graph.branches.create(asked.name, source))
    return document({"uri": call.graph.uri, "from": source, "name": asked.name, "actor_id": call.actor})


@router.delete(
    "/branches/{branch:path}",
    **operation("cluster_deleteBranch", BranchDeleteOutput, tag="branches", also=(409,)),
)
async def delete_branch(call: GraphCall, branch: str) -> Response:
    """Delete a branch. A '/' in its name is written as %2F."""
    call.permit(Action.BRANCH_DELETE, target=branch)
    with call.admitted():
        await call.run(lambda: call.graph.branches.delete(branch))
    return document({"uri": call.graph.uri, "name": branch, "actor_id": call.actor})


@router.get("/commits", **operation("cluster_listCommits", CommitListOutput, tag="commits"))
async def list_commits(call: GraphCall, branch: str | None = None) -> Response:
    """List the commits of a branch, newest first."""
    call.permit(Action.READ, branch or MAIN)
    commits = await call.run(lambda: [commit_document(commit) for commit in call.graph.commits.list(branch)])
    return document({"commits": commits})


@router.get("/commits/{commit_id}", **operation("cluster_getCommit", CommitOutput, tag="commits"))
async def show_commit(call: GraphCall, commit_id: str) -> Response:
    """Give one commit."""
    call.permit(Action.READ)
    return document(await call.run(lambda: commit_document(call.graph.commits.show(commit_id))))
