"""Merging branches: tried out, done, or done if the target has not moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response

from omnigraph.client.documents import merge_document
from omnigraph.client.wire import (
    BranchMergeOutput,
    BranchMergePreview,
    BranchMergePreviewRequest,
    BranchMergeRequest,
    MergeResolution,
)
from omnigraph.graph.visible import sees_all
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.conditions import CONDITION, condition_of, refuse_condition
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import header, operation

if TYPE_CHECKING:
    from omnigraph.history import MergeResult

router = APIRouter()
_ALSO = (409, 410, 424)


@router.post(
    "/branches/merge",
    **operation("cluster_mergeBranches", BranchMergeOutput, tag="branches", body=BranchMergeRequest, also=_ALSO),
)
async def merge(call: GraphCall) -> Response:
    """Merge a branch into another: one commit with two parents, or all conflicts and nothing."""
    refuse_condition(call.request)
    return await _merge(call, None)


@router.post(
    "/branches/merge/if-graph-commit",
    **operation(
        "cluster_mergeBranchesIfGraphCommit",
        BranchMergeOutput,
        tag="branches",
        body=BranchMergeRequest,
        also=(*_ALSO, 412),
        parameters=[header(CONDITION, required=True)],
    ),
)
async def merge_if(call: GraphCall) -> Response:
    """Merge a branch into another, if that is at the commit of the header."""
    return await _merge(call, condition_of(call.request))


async def _merge(call: Call, if_commit: str | None) -> Response:
    asked = await call.json(BranchMergeRequest)
    target = asked.target or MAIN
    call.permit(Action.BRANCH_MERGE, branch=asked.source, target=target)
    chosen = _chosen(asked.resolution)

    def run() -> MergeResult:
        return call.graph.branches.merge(
            asked.source, target, resolution=chosen, delete_branch=asked.delete_branch, if_commit=if_commit
        )

    with call.admitted():
        done = await call.run(run)
    reads_both = all(sees_all(call.gate, Action.READ, branch) for branch in (asked.source, target))
    return document(merge_document(done) if reads_both else done.to_json())


@router.post(
    "/branches/merge/preview",
    **operation("cluster_previewMerge", BranchMergePreview, tag="branches", body=BranchMergePreviewRequest, also=_ALSO),
)
async def preview(call: GraphCall) -> Response:
    """Say what a merge would do, with every conflict as both sides have it. Writes nothing; takes `read` on both."""
    asked = await call.json(BranchMergePreviewRequest)
    target = asked.target or MAIN
    call.permit(Action.BRANCH_MERGE, branch=asked.source, target=target)
    for branch in (asked.source, target):
        call.permit(Action.READ, branch)
    chosen = _chosen(asked.resolution)
    branches = call.graph.branches
    done = await call.run(lambda: branches.merge(asked.source, target, resolution=chosen, dry_run=True))
    return document(done.describe())


def _chosen(given: str | MergeResolution | None) -> Any:
    return given.model_dump(exclude_none=True) if isinstance(given, MergeResolution) else given
