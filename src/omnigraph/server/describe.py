"""What OpenAPI says of a route: written next to the route, so that it stays true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from omnigraph.client.wire import ErrorOutput
from omnigraph.server.bodies import NDJSON

if TYPE_CHECKING:
    from omnigraph.client.wire import Wire

ALWAYS = (400, 401, 403, 404, 429, 500, 503)
"""Any route of a graph may answer so: bad id, no token, no permission, no such thing, too much, and what is ours."""

_SAYS = {
    200: "Done.",
    206: "A part.",
    302: "The bytes are elsewhere.",
    304: "Not modified.",
    400: "The request is wrong.",
    401: "No token, or one nobody knows.",
    403: "Not allowed.",
    404: "Not found.",
    405: "Method not allowed.",
    408: "The body did not arrive in time.",
    409: "Somebody else was first, or it is there already.",
    410: "The history has been reclaimed.",
    412: "A condition of the caller does not hold.",
    413: "A limit was exceeded.",
    415: "The body is of another kind.",
    416: "Nothing lies in this range.",
    424: "An external address cannot be read.",
    429: "Too much at once: come back after `Retry-After` seconds.",
    500: "Something went wrong on the server.",
    503: "The storage does not answer.",
}
Shape = dict[str, Any]
LINES: Shape = {NDJSON: {"schema": {"type": "string", "format": "binary"}}}
"""Records, one on each line. Bytes, and not text: a generated client would write a text as one JSON string."""


def operation(
    name: str,
    answer: type[Wire] | Shape | None,
    *,
    tag: str,
    also: tuple[int, ...] = (),
    always: tuple[int, ...] = ALWAYS,
    body: type[Wire] | Shape | None = None,
    body_required: bool = True,
    parameters: list[Shape] | None = None,
    deprecated: bool = False,
    summary: str | None = None,
    more: dict[int, Shape] | None = None,
) -> dict[str, Any]:
    """Arguments for a route: its id, what it takes, and every status it may answer with. No answer: no body, ever."""
    codes = (*always, *also, *((408, 413, 415) if body is not None else ()))
    responses: dict[int | str, Shape] = {
        status: {"description": _SAYS[status], **({"model": ErrorOutput} if answer is not None else {})}
        for status in sorted(set(codes))
    }
    if 429 in responses:
        responses[429]["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    responses[200] = {
        "description": _SAYS[200],
        **({} if isinstance(answer, dict) or answer is None else {"model": answer}),
    }
    if isinstance(answer, dict):
        responses[200]["content"] = answer
    for status, shape in (more or {}).items():
        responses[status] = {"description": _SAYS[status], **shape}
    extra: Shape = {}
    if body is not None:
        content = body if isinstance(body, dict) else {"application/json": {"schema": reference(body)}}
        extra["requestBody"] = {"required": body_required, "content": content}
    if parameters:
        extra["parameters"] = parameters
    return {
        "operation_id": name,
        "tags": [tag],
        "responses": responses,
        "response_class": Response,
        "response_model": None,
        "deprecated": deprecated or None,
        "summary": summary,
        "openapi_extra": extra or None,
    }


def reference(model: type[Wire]) -> Shape:
    """The schema of a model, by its name."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def header(name: str, *, required: bool = False) -> Shape:
    """A header a route looks at."""
    return {"in": "header", "name": name, "required": required, "schema": {"type": "string"}}


def query(name: str, schema: Shape | None = None) -> Shape:
    """A query parameter a route reads by itself."""
    return {"in": "query", "name": name, "required": False, "schema": schema or {"type": "string"}}
