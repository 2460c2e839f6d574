"""What is answered when something went wrong."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from omnigraph.client.wire.base import EntityKind, ErrorCode, Wire


class MergeConflictOutput(Wire):
    """What a merge cannot decide."""

    entity_kind: EntityKind
    type_name: str
    entity_id: str | None = None
    kind: Literal[
        "divergent_insert",
        "divergent_update",
        "delete_vs_update",
        "orphan_edge",
        "unique_violation",
        "cardinality_violation",
        "value_constraint_violation",
    ]
    message: str


class KeyConflictOutput(Wire):
    """An id that is there already."""

    entity_kind: EntityKind
    type_name: str
    entity_id: str | None = None


class ReadSetConflictOutput(Wire):
    """What has moved."""

    member: str
    expected: str | None = None
    actual: str | None = None


class PublishedDatasetVersionConflictOutput(Wire):
    """A table that has moved."""

    entity_kind: EntityKind
    type_name: str
    expected_published_dataset_version: int = Field(ge=0)
    actual_published_dataset_version: int = Field(ge=0)


class PreconditionFailureOutput(Wire):
    """The commit a caller insisted on, and the one that is there."""

    expected: str
    actual: str | None = None


class ResourceLimitOutput(Wire):
    """A limit and what exceeded it."""

    resource: str
    limit: int = Field(ge=0)
    actual: int = Field(ge=0)


class BlobRangeOutput(Wire):
    """A range that lies outside of a blob."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    length: int = Field(ge=0)


class ExternalBlobSourceOutput(Wire):
    """An address that could not be read."""

    uri: str
    reason: str


class RecoveryRequiredOutput(Wire):
    """Kept for older clients: this system needs no recovery."""

    operation_id: str


class ChangeFeedGapOutput(Wire):
    """History that has been reclaimed."""

    cursor: str | None = None
    first_unreadable_commit_id: str


class ChangeDiffRefusalOutput(Wire):
    """Why there is no diff of a commit."""

    reason: Literal["parentless_commit", "schema_boundary", "unknown"]
    graph_commit_id: str
    type_name: str | None = None


class FenceOutput(Wire):
    """The epoch at which a server opened a graph, and the one its writers need by now."""

    opened_at: int = Field(ge=0)
    current: int = Field(ge=0)


class ErrorOutput(Wire):
    """What went wrong. Members that do not apply are left out."""

    error: str
    code: ErrorCode | None = None
    merge_conflicts: list[MergeConflictOutput] = Field(default=[])
    published_dataset_version_conflict: PublishedDatasetVersionConflictOutput | None = None
    read_set_conflict: ReadSetConflictOutput | None = None
    key_conflict: KeyConflictOutput | None = None
    resource_limit: ResourceLimitOutput | None = None
    blob_range: BlobRangeOutput | None = None
    external_blob_source: ExternalBlobSourceOutput | None = None
    recovery_required: RecoveryRequiredOutput | None = None
    precondition_failure: PreconditionFailureOutput | None = None
    change_feed_gap: ChangeFeedGapOutput | None = None
    change_diff_refusal: ChangeDiffRefusalOutput | None = None
    diagnostics: list[dict[str, Any]] | None = None
    """Where a text is wrong: beyond the contract."""
    validation: dict[str, Any] | None = None
    """Which rows break which rules: beyond the contract."""
    fence: FenceOutput | None = None
    """An operator's fence shuts this server out from writing: beyond the contract."""
