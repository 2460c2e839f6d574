"""The request is wrong: change it."""

from __future__ import annotations

from omnigraph.model.errors.root import OmniGraphError


class BadRequest(OmniGraphError):
    """The request is wrong; the same request will never succeed."""

    code = "bad_request"


class InvalidName(BadRequest):
    """A name that is not allowed for what it names."""

    def __init__(self, kind: str, name: str, reason: str) -> None:
        super().__init__(f"{name!r} is not a valid {kind} name: {reason}", kind=kind, name=name, reason=reason)


class CursorRejected(BadRequest):
    """A cursor or page token that was not made for this."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"change cursor rejected: {reason}", reason=reason)


class InvalidUri(BadRequest):
    """An address that cannot be the address of a graph."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"cannot use {uri!r} as a graph address: {reason}", uri=uri, reason=reason)


class NotAGraph(BadRequest):
    """The address is reachable but holds no graph."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is no graph at {uri}; create one with 'omnigraph init --schema FILE {uri}'", uri=uri)


class FormatTooNew(BadRequest):
    """The graph was written by a newer release."""

    def __init__(self, where: str, found: int, known: int) -> None:
        super().__init__(
            f"{where} has format {found}, this release knows formats up to {known}: upgrade omnigraph first",
            where=where,
            found=found,
            known=known,
        )
