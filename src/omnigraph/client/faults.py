"""Errors over the wire, there and back: status and `ErrorOutput` of an error, and the error of an `ErrorOutput`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.diagnostics import LanguageError
from omnigraph.model.errors import (
    BadRequest,
    BranchNotFound,
    Cancelled,
    Conflict,
    Denied,
    Fenced,
    HeadMoved,
    KeyConflict,
    NotFound,
    OmniGraphError,
    OutcomeUnknown,
    Overloaded,
    PreconditionFailed,
    ReadSetConflict,
    ResourceLimit,
    SnapshotReclaimed,
    StoreUnavailable,
    TableConflict,
    Unauthenticated,
    Unavailable,
)
from omnigraph.model.violations import ValidationFailed, Violation, ViolationKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.model.diagnostics import Diagnostic

Answer = tuple[int, "str | None"]

ANSWERS: tuple[tuple[type[OmniGraphError], Answer], ...] = (
    (Unauthenticated, (401, "unauthorized")),
    (Denied, (403, "forbidden")),
    (Overloaded, (429, "too_many_requests")),
    (SnapshotReclaimed, (410, None)),
    (NotFound, (404, "not_found")),
    (ResourceLimit, (413, "bad_request")),
    (Fenced, (503, None)),
    (PreconditionFailed, (412, None)),
    (Conflict, (409, "conflict")),
    (BadRequest, (400, "bad_request")),
    (OutcomeUnknown, (503, None)),
    (StoreUnavailable, (503, None)),
    (Cancelled, (503, None)),
)
"""Status and code for each kind of error; the first that fits. What is not here is ours: 500."""

_HIDDEN = {
    500: "something went wrong on the server; its log says what, under the request id of this answer",
    503: "the storage of this graph does not answer at the moment; retry",
}
_FENCED = (
    "an operator has shut out everybody who opened this graph for writing before, this server too: it answers reads, "
    "and writes again when it has been restarted"
)


def _fence(error: Fenced) -> dict[str, Any]:
    return {name: error.facts[name] for name in ("opened_at", "current")}


def answer_of(error: BaseException) -> Answer:
    """The status and the code an error is answered with."""
    return next((answer for kind, answer in ANSWERS if isinstance(error, kind)), (500, "internal"))


def public_document(error: BaseException) -> dict[str, Any]:
    """`ErrorOutput` as strangers may read it: what is wrong inside is for the log."""
    status, code = answer_of(error)
    if isinstance(error, BranchNotFound):  # which others there are is not for everybody
        return {"error": f"branch {error.facts['branch']!r} not found", "code": code}
    if status < 500 and isinstance(error, OmniGraphError):
        return error_document(error)
    if isinstance(error, Fenced):
        return {"error": _FENCED, "fence": _fence(error)}
    text = _HIDDEN[status]
    if isinstance(error, OutcomeUnknown):
        text = f"the storage stopped answering while commit {error.commit} was published: look it up before a retry"
    return {"error": text, **({"code": code} if code else {})}


def error_document(error: OmniGraphError) -> dict[str, Any]:
    """`ErrorOutput`, with the details of the kind of error it is."""
    _, code = answer_of(error)
    document: dict[str, Any] = {"error": error.message}
    if code is not None:
        document["code"] = code
    document |= _details(error)
    return document


def _details(error: OmniGraphError) -> dict[str, Any]:
    facts = error.facts
    match error:
        case ValidationFailed():
            return {"validation": error.to_json()}
        case LanguageError():
            return {"diagnostics": [_diagnostic(error, one) for one in error.diagnostics]}
        case KeyConflict():
            return {"key_conflict": {name: facts.get(name) for name in ("entity_kind", "type_name", "entity_id")}}
        case ReadSetConflict():
            return {"read_set_conflict": {name: _text(facts.get(name)) for name in ("member", "expected", "actual")}}
        case TableConflict():
            return {"read_set_conflict": {"member": error.table_key, **_texts(facts, "expected", "actual")}}
        case HeadMoved():
            return {"precondition_failure": {"expected": error.expected, "actual": error.found}}
        case Fenced():
            return {"fence": _fence(error)}
        case ResourceLimit():
            numbers = {name: max(0, int(cast("float", facts.get(name, 0)))) for name in ("limit", "actual")}
            return {"resource_limit": {"resource": facts.get("resource"), **numbers}}
        case _:
            known = ("merge_conflicts", "change_feed_gap", "change_diff_refusal", "blob_range", "external_blob_source")
            return {name: facts[name] for name in known if name in facts}


def _diagnostic(error: LanguageError, found: Diagnostic) -> dict[str, Any]:
    document: dict[str, Any] = {"message": found.message}
    if found.span is not None:
        at = error.source.position(found.span.start)
        document |= {"line": at.line, "column": at.column}
    more = {"code": found.code, "hint": found.hint}
    return document | {name: value for name, value in more.items() if value is not None}


def _texts(facts: Mapping[str, object], *names: str) -> dict[str, str | None]:
    return {name: _text(facts.get(name)) for name in names}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


# -- and back --------------------------------------------------------------------------------------------

_KINDS: dict[int, type[OmniGraphError]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: Denied,
    404: NotFound,
    405: BadRequest,
    409: Conflict,
    410: SnapshotReclaimed,
    412: PreconditionFailed,
    413: ResourceLimit,
    415: BadRequest,
    416: BadRequest,
    424: BadRequest,
    429: Overloaded,
}


def error_of(status: int, document: Mapping[str, Any]) -> OmniGraphError:
    """The error a server answered with, as the same class that an embedded graph raises."""
    text = str(document.get("error") or f"the server answered with status {status}")
    facts = {name: value for name, value in document.items() if name not in ("error", "code")}
    for name, kind in (("key_conflict", KeyConflict), ("read_set_conflict", ReadSetConflict)):
        if isinstance(document.get(name), dict):
            return _made(kind, text, {**facts, **document[name]})
    if isinstance(document.get("precondition_failure"), dict):
        failure = document["precondition_failure"]
        return _made(HeadMoved, text, {"expected": failure.get("expected"), "found": failure.get("actual")})
    if isinstance(document.get("validation"), dict):
        return _validation(text, document["validation"])
    if isinstance(document.get("fence"), dict):
        return _made(Fenced, text, document["fence"])
    if document.get("merge_conflicts"):
        return _conflicts(text, document["merge_conflicts"])
    if isinstance(document.get("resource_limit"), dict):
        return _made(ResourceLimit, text, {**facts, **document["resource_limit"]})
    return _made(_KINDS.get(status, Unavailable if status >= 500 else BadRequest), text, facts)


def _validation(text: str, found: dict[str, Any]) -> OmniGraphError:
    error = _made(ValidationFailed, text, {"total": found["total"], "counts": found["counts"]})
    counts = {ViolationKind(name): count for name, count in found["counts"].items()}
    violations = tuple(Violation.from_json(one) for one in found["violations"])
    error.__dict__ |= {"violations": violations, "counts": counts, "total": found["total"]}
    return error


def _conflicts(text: str, found: list[dict[str, Any]]) -> OmniGraphError:
    from omnigraph.client.read import conflict
    from omnigraph.history import MergeConflicts

    error = _made(MergeConflicts, text, {"merge_conflicts": found})
    error.__dict__["conflicts"] = tuple(map(conflict, found))
    return error


def _made(kind: type[OmniGraphError], text: str, facts: dict[str, Any]) -> OmniGraphError:
    error = kind.__new__(kind)
    OmniGraphError.__init__(error, text, **facts)
    if kind is KeyConflict:
        error.__dict__ |= {
            "table_key": f"{facts.get('entity_kind')}:{facts.get('type_name')}",
            "entity_id": facts.get("entity_id"),
        }
    if kind in (ReadSetConflict, HeadMoved):
        error.__dict__ |= {name: facts.get(name) for name in ("member", "expected", "actual", "found")}
    return error
