"""What is answered about graphs, data and schemas."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from omnigraph.client.wire.base import EntityKind, LoadModeName, Wire


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
    warnings: list[str] = Field(default=[])
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
