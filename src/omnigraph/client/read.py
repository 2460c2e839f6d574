"""Answers of a server as the values an embedded graph gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import orjson

from omnigraph.graph.blobs import BlobStat
from omnigraph.history import ConflictKind, MergeConflict, MergeResult
from omnigraph.history.changes import EntityChange
from omnigraph.history.feed import Cause, ChangeBlock, ChangePage, CommitChanges
from omnigraph.history.images import Image
from omnigraph.manifest import BranchRef, Commit
from omnigraph.model.errors import BadRequest, Unavailable
from omnigraph.model.names import MAIN
from omnigraph.write.load import LoadResult
from omnigraph.write.modes import LoadMode
from omnigraph.write.mutate import MutationResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from omnigraph.execute.result import Result
    from omnigraph.history.merge import Outcome


@dataclass(frozen=True)
class Answer:
    """Status, headers and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The body as JSON."""
        try:
            found = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise Unavailable(
                f"the server answered with status {self.status} and no JSON: is this an OmniGraph server?"
            )
        return cast("dict[str, Any]", found)


@dataclass(frozen=True)
class RemoteSnapshot:
    """What a branch held when the server was asked."""

    document: dict[str, Any]

    @property
    def branch(self) -> str:
        """The branch."""
        return self.document["graph_branch"]

    @property
    def manifest_version(self) -> int:
        """The number of its chain."""
        return self.document["graph_manifest_version"]


@dataclass(frozen=True)
class RemoteStep:
    """A step of a migration."""

    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The form that clients read."""
        return self.facts


@dataclass(frozen=True)
class RemotePlan:
    """The steps of a migration, as a server sees them."""

    supported: bool
    steps: tuple[RemoteStep, ...]
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The form that clients read."""
        plan: dict[str, Any] = {"supported": self.supported, "steps": [step.facts for step in self.steps]}
        return {**plan, "warnings": list(self.warnings)} if self.warnings else plan


@dataclass(frozen=True)
class RemoteApplied:
    """What became of a schema change."""

    plan: RemotePlan
    applied: bool
    manifest_version: int
    commit: Commit | None = None


def document(answer: Answer) -> dict[str, Any]:
    """The answer as it is."""
    return answer.document


def graphs(answer: Answer) -> list[tuple[str, str]]:
    """Ids and addresses."""
    return [(one["graph_id"], one["uri"]) for one in answer.document["graphs"]]


def commit(found: Mapping[str, Any]) -> Commit:
    """A commit. What a server does not tell is left empty."""
    branch = found.get("graph_branch") or MAIN
    parents = tuple(p for p in (found.get("parent_commit_id"), found.get("merged_parent_commit_id")) if p is not None)
    return Commit(
        found["graph_commit_id"],
        branch,
        "",
        found["graph_manifest_version"],
        parents,
        found.get("actor_id"),
        found["created_at"],
        "",
    )


def commits(answer: Answer) -> list[Commit]:
    """Commits."""
    return [commit(one) for one in answer.document["commits"]]


def _commit_of(found: Mapping[str, Any]) -> Commit | None:
    return commit(found["commit"]) if found.get("commit") is not None else None


def mutation(answer: Answer) -> MutationResult:
    """What a mutation did."""
    found = answer.document
    return MutationResult(
        found["branch"],
        found["query_name"],
        found["affected_nodes"],
        found["affected_edges"],
        found.get("actor_id"),
        _commit_of(found),
    )


def load(answer: Answer) -> LoadResult:
    """What a load did."""
    found = answer.document
    return LoadResult(
        found["branch"],
        found.get("base_branch"),
        found["branch_created"],
        LoadMode(found["mode"]),
        {one["name"]: one["entities_loaded"] for one in found["nodes"]},
        {one["name"]: one["entities_loaded"] for one in found["edges"]},
        found.get("actor_id"),
        _commit_of(found),
    )


def branches(answer: Answer) -> list[BranchRef]:
    """Branches, of which a server tells the names."""
    return [BranchRef(name, "", 0) for name in answer.document["branches"]]


def branch(answer: Answer) -> BranchRef:
    """A branch that was made."""
    found = answer.document
    return BranchRef(found["name"], "", 0, actor=found.get("actor_id"))


def _image(found: dict[str, Any] | None) -> Image | None:
    if found is None:
        return None
    ends = found.get("endpoints")
    return Image(found["properties"], (ends["from"], ends["to"]) if ends is not None else None)


def _change(found: dict[str, Any]) -> EntityChange:
    kind = found["type"]
    images = (_image(found.get("before")), _image(found.get("after")))
    return EntityChange(found["kind"], kind["name"], kind["id"], found["id"], found["op"], *images)


def _block(found: dict[str, Any]) -> ChangeBlock:
    cause = found["cause"]
    parents = tuple(p for p in (cause.get("parent_commit_id"), cause.get("merged_parent_commit_id")) if p is not None)
    commit_of = Commit(
        cause["graph_commit_id"],
        cause["authored_branch"],
        "",
        0,
        parents,
        cause.get("actor_id"),
        cause["authored_at"],
        "",
    )
    return ChangeBlock(Cause(commit_of), tuple(map(_change, found["changes"])))


def page(answer: Answer) -> ChangePage:
    """A page of the feed."""
    found = answer.document
    blocks = tuple(map(_block, found["blocks"]))
    return ChangePage(blocks, found.get("next_page_token"), found.get("cursor"), found.get("caught_up"))


def commit_page(answer: Answer) -> CommitChanges:
    """A page of what a commit changed."""
    found = answer.document
    block = _block(found)
    return CommitChanges(block.cause, block.changes, found.get("next_page_token"))


@dataclass
class RemoteBaseline:
    """A baseline while it is read. Its handshake is the last line: it is known when all chunks were read."""

    pieces: Iterator[bytes]
    last: bytes = b""

    def chunks(self) -> Iterator[bytes]:
        """Its records as lines, some bytes at a time, and the handshake as the last line."""
        for piece in self.pieces:
            cut = (self.last + piece).rstrip(b"\n").rfind(b"\n")
            self.last = (self.last + piece)[cut + 1 :]
            yield piece

    def handshake(self) -> dict[str, Any]:
        """`ChangeBaselineRecord`."""
        return orjson.loads(self.last)

    @property
    def snapshot_commit_id(self) -> str:
        """The commit it is of."""
        return self.handshake()["baseline"]["snapshot_commit_id"]

    @property
    def resume_cursor(self) -> str:
        """Where the feed goes on."""
        return self.handshake()["baseline"]["resume_cursor"]


def conflict(found: dict[str, Any]) -> MergeConflict:
    """A conflict; without images where a server says only what it is about."""
    images = (_image(found.get(name)) for name in ("base", "ours", "theirs"))
    about = (found["entity_kind"], found["type_name"], found.get("entity_id"))
    properties = tuple(found.get("properties", ()))
    return MergeConflict(*about, ConflictKind(found["kind"]), found["message"], properties, *images)


def merged(answer: Answer) -> MergeResult:
    """What became of a merge."""
    found = answer.document
    outcome = cast("Outcome", found["outcome"])
    return MergeResult(
        found["source"],
        found["target"],
        outcome,
        found.get("actor_id"),
        _commit_of(found),
        tuple(map(conflict, found.get("conflicts", ()))),
        tuple(found.get("summary", ())),
        branch_deleted=found.get("branch_deleted"),
        branch_delete_error=found.get("branch_delete_error"),
    )


def previewed(answer: Answer) -> MergeResult:
    """What a merge would do."""
    return replace(merged(answer), dry_run=True)


def snapshot(answer: Answer) -> RemoteSnapshot:
    """What a branch holds."""
    return RemoteSnapshot(answer.document)


def plan(found: Mapping[str, Any]) -> RemotePlan:
    """The steps of a migration."""
    return RemotePlan(found["supported"], tuple(map(RemoteStep, found["steps"])), tuple(found.get("warnings", ())))


def applied(answer: Answer) -> RemoteApplied:
    """What became of a schema change."""
    found = answer.document
    return RemoteApplied(plan(found), found["applied"], found["graph_manifest_version"])


def result(answer: Answer) -> Result:
    """Rows, with their exact types."""
    from omnigraph.client.arrow import decode_result

    return decode_result(answer.body)


def invoked(answer: Answer) -> Result | MutationResult:
    """What a stored query did."""
    is_read = answer.headers.get("content-type", "").startswith("application/vnd.apache.arrow.stream")
    return result(answer) if is_read else mutation(answer)


def blob_stat(answer: Answer) -> BlobStat:
    """What is known of a blob."""
    headers = answer.headers
    at = headers.get("omnigraph-snapshot-id", "")
    if answer.status == 302:
        return BlobStat("external", None, headers["location"], None, at)
    return BlobStat("managed", int(headers["content-length"]), None, headers.get("etag"), at)


def blob(where: tuple[str, str, str, str]) -> Callable[[Answer], bytes]:
    """Bytes."""
    _, type_name, entity_id, name = where

    def bytes_of(answer: Answer) -> bytes:
        if answer.status == 302:
            uri = answer.headers["location"]
            raise BadRequest(f"{type_name}.{name} of {entity_id!r} is a reference to {uri}: read it there")
        return answer.body

    return bytes_of
