"""What is answered about changes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from omnigraph.client.wire.base import ChangeOp, EntityKind, Wire


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
