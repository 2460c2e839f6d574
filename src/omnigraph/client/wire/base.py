"""What every object on the wire has in common."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, WithJsonSchema

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
