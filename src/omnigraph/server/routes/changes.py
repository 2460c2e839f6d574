"""What commits changed, for programs that follow a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response

from omnigraph.client.wire import ChangeBaselineRequest, ChangeFeedOutput, CommitChangesOutput
from omnigraph.model.errors import BadRequest, CommitNotFound, Denied, ResourceLimit
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import LINES, Shape, operation
from omnigraph.server.describe import query as parameter
from omnigraph.server.routes.exports import streamed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.datastructures import QueryParams

router = APIRouter()

TOKEN_BYTES_MAX = 4096
_ALSO = (409, 410, 413)


def _list_of(values: tuple[str, ...] = ()) -> Shape:
    return {"type": "array", "items": {"type": "string", **({"enum": list(values)} if values else {})}}


_FILTERS = [
    parameter("page_token"),
    parameter("limit", {"type": "integer", "minimum": 1, "maximum": 8192}),
    parameter("kind", _list_of(("node", "edge"))),
    parameter("type", _list_of()),
    parameter("op", _list_of(("insert", "update", "delete"))),
]
_POLL = [parameter("branch"), parameter("cursor"), parameter("start"), *_FILTERS]
_SINGLE = ("branch", "cursor", "start", "page_token", "limit")


@dataclass(frozen=True)
class _Asked:
    """Query parameters, read strictly: what nobody knows, or stands twice, is a mistake."""

    single: dict[str, str]
    filters: dict[str, list[str]]
    limit: int | None

    @property
    def page(self) -> dict[str, Any]:
        """How the page is asked for."""
        return {"limit": self.limit, "page_token": self.single.get("page_token"), **self.filters}


def _asked(given: QueryParams, known: list[Shape]) -> _Asked:
    names = [one["name"] for one in known]
    unknown = sorted(set(given.keys()) - set(names))
    if unknown:
        raise BadRequest(f"unknown parameter {unknown[0]!r}; known here: {', '.join(names)}")
    single: dict[str, str] = {}
    for name in _SINGLE:
        values = given.getlist(name)
        if len(values) > 1:
            raise BadRequest(f"{name} is given {len(values)} times")
        if values:
            single[name] = values[0]
    for name in ("cursor", "page_token"):
        size = len(single.get(name, "").encode())
        if size > TOKEN_BYTES_MAX:
            raise ResourceLimit("change_continuation_token_encoded_bytes", limit=TOKEN_BYTES_MAX, actual=size)
    filters = {f"{name}s": given.getlist(name) for name in ("kind", "type", "op")}
    return _Asked(single, filters, _limit(single.get("limit")))


def _limit(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or not text.isascii() or len(text) > 18:
        raise BadRequest(f"limit {text[:40]!r} is no number")
    return int(text)


@router.get(
    "/changes",
    **operation("cluster_pollChanges", ChangeFeedOutput, tag="changes", also=_ALSO, parameters=_POLL),
)
async def poll(call: GraphCall) -> Response:
    """Give what has happened on a branch since a cursor, a page at a time."""
    asked = _asked(call.request.query_params, _POLL)
    branch = asked.single.get("branch") or MAIN
    call.permit(Action.READ, branch)
    where = {"branch": branch, "cursor": asked.single.get("cursor"), "start": asked.single.get("start")}
    return await call.run(lambda: document(call.graph.changes.poll(**where, **asked.page).to_json()))


@router.get(
    "/commits/{commit_id}/changes",
    **operation("cluster_getCommitChanges", CommitChangesOutput, tag="changes", also=_ALSO, parameters=_FILTERS),
)
async def commit_changes(call: GraphCall, commit_id: str) -> Response:
    """Give what a commit changed against its first parent."""
    asked = _asked(call.request.query_params, _FILTERS)

    def run() -> Response:
        if not call.gate.may_ever(Action.READ):
            raise CommitNotFound(commit_id)
        _permit_commit(call, commit_id)
        return document(call.graph.commits.changes(commit_id, **asked.page).to_json())

    return await call.run(run)


def _permit_commit(call: Call, commit_id: str) -> None:
    """Whether somebody may read the branch the commit was made on; whether it is there is not for the others."""
    commit = call.graph.commits.show(commit_id)
    try:
        call.permit(Action.READ, commit.branch)
    except Denied:
        raise CommitNotFound(commit_id) from None


@router.post(
    "/changes/baseline",
    **operation("cluster_captureChangeBaseline", LINES, tag="changes", body=ChangeBaselineRequest, also=_ALSO),
)
async def baseline(call: GraphCall) -> Response:
    """Stream everything a branch holds now; the last line has the cursor that goes on from there."""
    asked = await call.json(ChangeBaselineRequest)
    branch = asked.branch or MAIN
    call.permit(Action.EXPORT, branch)

    def taken() -> Iterator[bytes]:
        filters = {"kinds": asked.kind, "types": asked.type, "ops": asked.op}
        return call.graph.changes.baseline(branch=branch, **filters).chunks()

    return await streamed(call, await call.run(taken))
