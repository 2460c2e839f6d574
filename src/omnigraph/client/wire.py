"""What goes over the wire: one model for each object of the contract, shared by server and client."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

EntityKind = Literal["node", "edge"]
LoadModeName = Literal["overwrite", "append", "merge"]
ChangeOp = Literal["insert", "update", "delete"]
ErrorCode = Literal[
    "unauthorized",
    "forbidden",
    "bad_request",
    "not_found",
    "method_not_allowed",
    "conflict",
    "too_many_requests",
    "internal",
]
Params = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}]})]
"""Values by parameter; described here, checked where the query is known, which has more to say about them."""


class Wire(BaseModel):
    """Types are exact: `"1"` is no number. Members nobody knows are ignored, so that old and new can talk."""

    model_config = ConfigDict(strict=True, extra="ignore", populate_by_name=True)


# -- requests --------------------------------------------------------------------------------------------


class QueryRequest(Wire):
    """A query that reads, and what it reads."""

    query: str
    name: str | None = None
    params: Params = None
    branch: str | None = None
    snapshot: str | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    """Stop sooner than the server would; beyond the contract."""
    max_rows: int | None = Field(default=None, ge=0)
    """Refuse a result with more rows; beyond the contract."""


class ReadRequest(Wire):
    """The older form of `QueryRequest`."""

    query_source: str
    query_name: str | None = None
    params: Params = None
    branch: str | None = None
    snapshot: str | None = None


class ChangeRequest(Wire):
    """A query that writes. `query_source` and `query_name` are the older names of `query` and `name`."""

    query: str
    name: str | None = None
    params: Params = None
    branch: str | None = None


class InvokeStoredQueryRequest(Wire):
    """Parameters for a stored query, and where it runs."""

    params: Params = None
    branch: str | None = None
    snapshot: str | None = None
    expect_mutation: bool | None = None


class IngestRequest(Wire):
    """Records as one text."""

    data: str
    branch: str | None = None
    from_: str | None = Field(default=None, alias="from")
    mode: LoadModeName | None = None


class ExportRequest(Wire):
    """What to export; no types means all."""

    model_config = ConfigDict(strict=True, extra="forbid", populate_by_name=True)

    branch: str | None = None
    type_names: list[str] = []


class BranchCreateRequest(Wire):
    """A new branch."""

    name: str
    from_: str | None = Field(default=None, alias="from")


class BranchMergeRequest(Wire):
    """What to merge into what."""

    source: str
    target: str | None = None
    delete_branch: bool = False


class SchemaApplyRequest(Wire):
    """The schema a branch is to have."""

    schema_source: str
    allow_data_loss: bool = False


class ChangeBaselineRequest(Wire):
    """What a follower wants to start from."""

    branch: str | None = None
    kind: list[EntityKind] = []
    type: list[str] = []
    op: list[ChangeOp] = []


# -- answers ---------------------------------------------------------------------------------------------


class HealthOutput(Wire):
    """The process lives."""

    status: str
    version: str
    internal_schema_version: int
    source_version: str | None = None


class ReadinessOutput(Wire):
    """Whether the process takes requests."""

    status: Literal["ready", "not_ready"]
    graphs: int


class GraphInfo(Wire):
    """A graph that is served."""

    graph_id: str
    uri: str


class GraphListResponse(Wire):
    """The graphs that are served, by id."""

    graphs: list[GraphInfo]


class CommitOutput(Wire):
    """A commit. Times are microseconds since 1970."""

    graph_commit_id: str
    graph_branch: str | None = None
    graph_manifest_version: int = Field(ge=0)
    parent_commit_id: str | None = None
    merged_parent_commit_id: str | None = None
    actor_id: str | None = None
    created_at: int


class CommitListOutput(Wire):
    """Commits, newest first."""

    commits: list[CommitOutput]


class ChangeOutput(Wire):
    """What a mutation did. Without a commit nothing has changed."""

    branch: str
    query_name: str
    affected_nodes: int = Field(ge=0)
    affected_edges: int = Field(ge=0)
    actor_id: str | None = None
    commit: CommitOutput | None = None


class ReadTargetOutput(Wire):
    """What was read."""

    branch: str | None = None
    snapshot: str | None = None


class LegacyReadOutput(Wire):
    """Rows, without the commit they are from."""

    query_name: str
    target: ReadTargetOutput
    row_count: int = Field(ge=0)
    columns: list[str] | None = None
    rows: list[dict[str, Any]]


class ReadOutput(LegacyReadOutput):
    """Rows, and the commit they are from."""

    graph_commit_id: str | None = None


class GraphBatchDeclarationOutput(Wire):
    """How many entities of a type."""

    name: str
    entities_loaded: int = Field(ge=0)


class GraphBatchLoadOutput(Wire):
    """What a load did."""

    branch: str
    base_branch: str | None = None
    branch_created: bool
    mode: LoadModeName
    nodes: list[GraphBatchDeclarationOutput]
    edges: list[GraphBatchDeclarationOutput]
    total_entities: int = Field(ge=0)
    actor_id: str | None = None
    commit: CommitOutput | None = None


class IngestOutput(GraphBatchLoadOutput):
    """What a load did, and where."""

    uri: str


class SnapshotDatasetOutput(Wire):
    """A table of a snapshot."""

    entity_kind: EntityKind
    type_name: str
    dataset_path: str
    published_dataset_version: int = Field(ge=0)
    native_dataset_branch: str | None = None
    entity_count: int = Field(ge=0)


class SnapshotOutput(Wire):
    """What a branch holds."""

    graph_branch: str
    graph_manifest_version: int = Field(ge=0)
    internal_schema_version: int
    datasets: list[SnapshotDatasetOutput]


class SchemaOutput(Wire):
    """A schema as it was written."""

    schema_source: str


class SchemaPlanOutput(Wire):
    """What a schema change would take."""

    uri: str
    supported: bool
    step_count: int = Field(ge=0)
    steps: list[dict[str, Any]]
    warnings: list[str] = []
    """What was probably meant otherwise: beyond the contract."""


class SchemaApplyOutput(SchemaPlanOutput):
    """What became of a schema change."""

    applied: bool
    graph_manifest_version: int = Field(ge=0)


class BranchListOutput(Wire):
    """Names of branches."""

    branches: list[str]


class BranchCreateOutput(Wire):
    """A branch that was made."""

    uri: str
    from_: str = Field(alias="from")
    name: str
    actor_id: str | None = None


class BranchDeleteOutput(Wire):
    """A branch that was deleted."""

    uri: str
    name: str
    actor_id: str | None = None


class BranchMergeOutput(Wire):
    """What became of a merge."""

    source: str
    target: str
    outcome: Literal["already_up_to_date", "fast_forward", "merged"]
    actor_id: str | None = None
    branch_deleted: bool | None = None
    branch_delete_error: str | None = None


ParamKind = Literal["string", "bool", "int", "bigint", "float", "date", "datetime", "blob", "vector", "list"]


class ParamDescriptor(Wire):
    """A parameter of a stored query."""

    name: str
    kind: ParamKind
    item_kind: ParamKind | None = None
    vector_dim: int | None = None
    nullable: bool


class QueryCatalogEntry(Wire):
    """A stored query."""

    name: str
    tool_name: str
    mutation: bool
    description: str | None = None
    instruction: str | None = None
    params: list[ParamDescriptor]


class QueriesCatalogOutput(Wire):
    """The stored queries of a graph."""

    queries: list[QueryCatalogEntry]


class JobOutput(Wire):
    """A load in the background."""

    job_id: str
    graph_id: str
    kind: Literal["load"]
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    actor_id: str | None = None
    created_at: int
    progress: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class JobListOutput(Wire):
    """Jobs, newest first."""

    jobs: list[JobOutput]


# -- changes ---------------------------------------------------------------------------------------------


class ChangeCauseOutput(Wire):
    """The commit that changed something."""

    graph_commit_id: str
    parent_commit_id: str | None = None
    merged_parent_commit_id: str | None = None
    authored_branch: str
    actor_id: str | None = None
    authored_at: int


class ChangeTypeOutput(Wire):
    """A type, by a name that may change and an id that does not."""

    id: str
    name: str


class ChangeEndpointsOutput(Wire):
    """The ends of an edge."""

    from_: str = Field(alias="from")
    to: str


class ChangeImageOutput(Wire):
    """An entity as it was or is."""

    properties: dict[str, Any]
    endpoints: ChangeEndpointsOutput | None = None


class EntityChangeOutput(Wire):
    """What happened to one entity."""

    kind: EntityKind
    type: ChangeTypeOutput
    id: str
    op: ChangeOp
    before: ChangeImageOutput | None = None
    after: ChangeImageOutput | None = None


class ChangeBlockOutput(Wire):
    """What one commit changed."""

    cause: ChangeCauseOutput
    changes: list[EntityChangeOutput]


class CommitChangesOutput(ChangeBlockOutput):
    """A page of what one commit changed."""

    next_page_token: str | None = None


class ChangeFeedOutput(Wire):
    """A page of the feed. The last one has the cursor to go on from."""

    blocks: list[ChangeBlockOutput]
    next_page_token: str | None = None
    cursor: str | None = None
    caught_up: bool | None = None


# -- errors ----------------------------------------------------------------------------------------------


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


class ErrorOutput(Wire):
    """What went wrong. Members that do not apply are left out."""

    error: str
    code: ErrorCode | None = None
    merge_conflicts: list[MergeConflictOutput] = []
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
