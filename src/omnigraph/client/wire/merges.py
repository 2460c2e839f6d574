"""Merges: what is asked, who is right in a conflict, and what came of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from omnigraph.client.wire.answers import CommitOutput  # noqa: TC001 - pydantic reads it
from omnigraph.client.wire.base import EntityKind, Wire
from omnigraph.client.wire.changes import ChangeImageOutput  # noqa: TC001 - pydantic reads it
from omnigraph.client.wire.faults import MergeConflictOutput

Take = Literal["ours", "theirs"]


class _Exact(Wire):
    """A choice that is not understood must not be passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", populate_by_name=True)


class MergeChoice(_Exact):
    """Who is right about one entity. What a dry run said of the conflict may stay in it: that is for people."""

    entity_kind: EntityKind
    type_name: str
    entity_id: str | None = None
    take: Take | None = None
    properties: dict[str, Take] | list[str] | None = None
    kind: str | None = None
    message: str | None = None
    base: dict[str, Any] | None = None
    ours: dict[str, Any] | None = None
    theirs: dict[str, Any] | None = None


class MergeResolution(_Exact):
    """Choices by entity, and a side for whatever has none."""

    default: Take | None = None
    conflicts: list[MergeChoice] = Field(default=[])


class BranchMergeRequest(Wire):
    """What to merge into what. `resolution` is beyond the contract."""

    source: str
    target: str | None = None
    delete_branch: bool = False
    resolution: Take | MergeResolution | None = None


class BranchMergePreviewRequest(_Exact):
    """What would be merged into what."""

    source: str
    target: str | None = None
    resolution: Take | MergeResolution | None = None


class MergeConflictDetails(MergeConflictOutput):
    """A conflict with the entity as it was, as the target has it and as the source has it."""

    properties: list[str] = Field(default=[])
    base: ChangeImageOutput | None = None
    ours: ChangeImageOutput | None = None
    theirs: ChangeImageOutput | None = None


class MergeCount(Wire):
    """How many entities of a type the source changed."""

    kind: EntityKind
    type_name: str
    inserted: int = Field(ge=0)
    updated: int = Field(ge=0)
    deleted: int = Field(ge=0)


class BranchMergePreview(Wire):
    """What a merge would do. Conflicts are those that are still open and those the resolution decides."""

    source: str
    target: str
    outcome: Literal["already_up_to_date", "fast_forward", "merged"]
    actor_id: str | None = None
    summary: list[MergeCount] = Field(default=[])
    conflicts: list[MergeConflictDetails] = Field(default=[])


class BranchMergeOutput(BranchMergePreview):
    """What became of a merge. Commit, counts and decided conflicts are beyond the contract: who may not read both
    branches does not get the latter two."""

    branch_deleted: bool | None = None
    branch_delete_error: str | None = None
    commit: CommitOutput | None = None
