"""What is said to a server for each thing a graph can do, and how its answer is understood. No I/O here:
the blocking and the asynchronous client send the same calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from omnigraph.client import read
from omnigraph.model.errors import BadRequest
from omnigraph.query.sources import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from omnigraph.client.read import Answer, RemoteApplied, RemotePlan, RemoteSnapshot
    from omnigraph.execute.result import Result
    from omnigraph.graph.blobs import BlobStat
    from omnigraph.history import MergeResult, Resolution
    from omnigraph.history.feed import ChangePage, CommitChanges
    from omnigraph.manifest import BranchRef, Commit
    from omnigraph.write.load import LoadResult
    from omnigraph.write.mutate import MutationResult

T = TypeVar("T")
ARROW = "application/vnd.apache.arrow.stream"
NDJSON = "application/x-ndjson"
CONDITION = "Omnigraph-If-Graph-Commit"


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, and what its answer means."""

    method: str
    path: str
    read: Callable[[Answer], T]
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    json: object = None
    content: bytes | Iterable[bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_safe: bool = False
    """Whether doing it twice is doing it once."""


def _given(**values: object) -> dict[str, Any]:
    return {name.rstrip("_"): value for name, value in values.items() if value is not None}


# -- reading ---------------------------------------------------------------------------------------------


def list_graphs() -> Call[list[tuple[str, str]]]:
    """The graphs a server has."""
    return Call("GET", "/graphs", read.graphs, is_safe=True)


def query(
    source: str | Path,
    name: str | None,
    params: Mapping[str, Any] | None,
    branch: str | None,
    snapshot: str | None,
    limits: Mapping[str, object],
) -> Call[Result]:
    """A query that reads; the rows come as Arrow, with their exact types."""
    text, _ = read_source(source)
    body = {"query": text, **_given(name=name, params=params, branch=branch, snapshot=snapshot, **limits)}
    return Call("POST", "/query", read.result, json=body, headers={"Accept": ARROW}, is_safe=True)


def invoke(
    name: str,
    params: Mapping[str, Any] | None,
    branch: str | None,
    snapshot: str | None,
    expect_mutation: bool | None,
) -> Call[Result | MutationResult]:
    """A stored query; whether it reads or writes is known by its answer."""
    body = _given(params=params, branch=branch, snapshot=snapshot, expect_mutation=expect_mutation)
    is_safe = expect_mutation is False
    path = f"/queries/{quote(name, safe='')}"
    return Call("POST", path, read.invoked, json=body, headers={"Accept": ARROW}, is_safe=is_safe)


def stored_queries() -> Call[list[dict[str, Any]]]:
    """The catalogue of stored queries."""
    return Call("GET", "/queries", lambda answer: answer.document["queries"], is_safe=True)


def snapshot(branch: str) -> Call[RemoteSnapshot]:
    """What a branch holds."""
    return Call("GET", "/snapshot", read.snapshot, {"branch": branch}, is_safe=True)


def schema(branch: str | None) -> Call[str]:
    """A schema."""
    return Call("GET", "/schema", lambda answer: answer.document["schema_source"], _given(branch=branch), is_safe=True)


def commits(branch: str) -> Call[list[Commit]]:
    """The lineage of a branch."""
    return Call("GET", "/commits", read.commits, {"branch": branch}, is_safe=True)


def commit(commit_id: str) -> Call[Commit]:
    """One commit."""
    return Call("GET", f"/commits/{quote(commit_id, safe='')}", lambda a: read.commit(a.document), is_safe=True)


def branches() -> Call[list[BranchRef]]:
    """The branches."""
    return Call("GET", "/branches", read.branches, is_safe=True)


def export(types: Iterable[str], branch: str) -> Call[None]:
    """The graph as lines; the answer is streamed."""
    return Call("POST", "/export", lambda _: None, json={"branch": branch, "type_names": list(types)}, is_safe=True)


def blob_stat(where: tuple[str, str, str, str], branch: str | None, snapshot: str | None) -> Call[BlobStat]:
    """What is known of a blob."""
    return Call("HEAD", "/blob", read.blob_stat, _blob(where, branch, snapshot), is_safe=True)


def blob(
    where: tuple[str, str, str, str], branch: str | None, snapshot: str | None, offset: int, length: int | None
) -> Call[bytes]:
    """The bytes of a blob, or a part of them."""
    if offset < 0 or (length is not None and length <= 0):
        raise BadRequest("a range starts at 0 or later and has a length greater than 0")
    last = "" if length is None else str(offset + length - 1)
    headers = {"Range": f"bytes={offset}-{last}"} if offset or length is not None else {}
    return Call("GET", "/blob", read.blob(where), _blob(where, branch, snapshot), headers=headers, is_safe=True)


def _blob(where: tuple[str, str, str, str], branch: str | None, snapshot: str | None) -> dict[str, Any]:
    names = ("entity", "type", "id", "property")
    return {**dict(zip(names, where, strict=True)), **_given(branch=branch, snapshot=snapshot)}


def poll(
    branch: str,
    cursor: str | None,
    start: str | None,
    page_token: str | None,
    limit: int | None,
    only: Mapping[str, Any],
) -> Call[ChangePage]:
    """A page of the change feed."""
    asked = _given(cursor=cursor, start=start, page_token=page_token, limit=limit)
    return Call("GET", "/changes", read.page, {"branch": branch, **asked, **only}, is_safe=True)


def commit_changes(
    commit_id: str, page_token: str | None, limit: int | None, only: Mapping[str, Any]
) -> Call[CommitChanges]:
    """A page of what a commit changed."""
    asked = {**_given(page_token=page_token, limit=limit), **only}
    return Call("GET", f"/commits/{quote(commit_id, safe='')}/changes", read.commit_page, asked, is_safe=True)


def baseline(branch: str, only: Mapping[str, Any]) -> Call[None]:
    """The graph as lines, and where to go on from; the answer is streamed."""
    return Call("POST", "/changes/baseline", lambda _: None, json={"branch": branch, **only}, is_safe=True)


# -- writing ---------------------------------------------------------------------------------------------


def mutate(
    source: str | Path,
    name: str | None,
    params: Mapping[str, Any] | None,
    branch: str,
    if_commit: str | None,
) -> Call[MutationResult]:
    """A query that writes."""
    text, _ = read_source(source)
    body = {"query": text, "branch": branch, **_given(name=name, params=params)}
    if if_commit is None:
        return Call("POST", "/mutate", read.mutation, json=body)
    return Call("POST", "/mutate/if-graph-commit", read.mutation, json=body, headers={CONDITION: if_commit})


def load(lines: Iterable[bytes], mode: str, branch: str, base: str | None, *, permissive: bool) -> Call[LoadResult]:
    """Records, streamed as they are read."""
    if permissive:
        text = b"\n".join(lines).decode("utf-8", "replace")
        return Call(
            "POST", "/load", read.load, json={"data": text, "mode": mode, "branch": branch, **_given(from_=base)}
        )
    asked = {"mode": mode, "branch": branch, **_given(from_=base)}
    return Call("POST", "/load/ndjson", read.load, asked, content=lines, headers={"Content-Type": NDJSON})


def schema_plan(text: str, allow_data_loss: bool) -> Call[RemotePlan]:
    """What a schema change would take."""
    body = {"schema_source": text, "allow_data_loss": allow_data_loss}
    return Call("POST", "/schema/plan", lambda answer: read.plan(answer.document), json=body, is_safe=True)


def schema_apply(text: str, allow_data_loss: bool) -> Call[RemoteApplied]:
    """A schema change."""
    body = {"schema_source": text, "allow_data_loss": allow_data_loss}
    return Call("POST", "/schema/apply", read.applied, json=body)


def create_branch(name: str, source: str) -> Call[BranchRef]:
    """A new branch."""
    return Call("POST", "/branches", read.branch, json={"name": name, "from": source})


def delete_branch(name: str) -> Call[None]:
    """One branch less."""
    return Call("DELETE", f"/branches/{quote(name, safe='')}", lambda _: None)


def merge(
    source: str, into: str, resolution: Resolution, delete_branch: bool = False, if_commit: str | None = None
) -> Call[MergeResult]:
    """A merge."""
    body = {**_merge_of(source, into, resolution), "delete_branch": delete_branch}
    if if_commit is None:
        return Call("POST", "/branches/merge", read.merged, json=body)
    return Call("POST", "/branches/merge/if-graph-commit", read.merged, json=body, headers={CONDITION: if_commit})


def merge_preview(source: str, into: str, resolution: Resolution) -> Call[MergeResult]:
    """What a merge would do."""
    return Call(
        "POST", "/branches/merge/preview", read.previewed, json=_merge_of(source, into, resolution), is_safe=True
    )


def _merge_of(source: str, into: str, resolution: Resolution) -> dict[str, Any]:
    return {"source": source, "target": into, "resolution": resolution.to_json()}
