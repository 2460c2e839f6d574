"""What is asked."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from omnigraph.client.wire.base import ChangeOp, EntityKind, LoadModeName, Params, Wire


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
    type_names: list[str] = Field(default=[])


class BranchCreateRequest(Wire):
    """A new branch."""

    name: str
    from_: str | None = Field(default=None, alias="from")


class SchemaApplyRequest(Wire):
    """The schema a branch is to have."""

    schema_source: str
    allow_data_loss: bool = False


class ChangeBaselineRequest(Wire):
    """What a follower wants to start from."""

    branch: str | None = None
    kind: list[EntityKind] = Field(default=[])
    type: list[str] = Field(default=[])
    op: list[ChangeOp] = Field(default=[])
