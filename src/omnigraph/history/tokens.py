"""Opaque tokens of the change feed: where a reader is, bound to what they were made for. They hold no secrets."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from omnigraph.model.errors import CursorRejected, ResourceLimit

if TYPE_CHECKING:
    from omnigraph.history.diff import Selection

TOKEN_CHARS_MAX = 4096
_VERSION = 1
_CHECK_BYTES = 6

TokenKind = Literal["cursor", "page", "commit"]


@dataclass(frozen=True)
class Token:
    """A place in a feed."""

    kind: TokenKind
    graph: str
    chain: str
    """The branch, as this incarnation of it."""
    selection: str
    """A digest of the filters."""
    after: str
    """The newest commit the reader has had in full."""
    end: str = ""
    """For a page: the last commit of the poll it belongs to."""
    commit: str = ""
    """For a page: the commit it goes on in."""
    place: int = 0
    """For a page: how many of that commit's changes the reader has had."""

    def encode(self) -> str:
        """To text."""
        body = json.dumps({"v": _VERSION, **asdict(self)}, separators=(",", ":")).encode()
        packed = zlib.compress(body, 9)
        text = base64.urlsafe_b64encode(_check(packed) + packed).decode().rstrip("=")
        if len(text) > TOKEN_CHARS_MAX:
            raise ResourceLimit("change_continuation_token_encoded_bytes", limit=TOKEN_CHARS_MAX, actual=len(text))
        return text


def decode_token(text: str, kind: TokenKind) -> Token:
    """From text; refuses what is no token of this kind."""
    if len(text) > TOKEN_CHARS_MAX:
        raise CursorRejected(f"it is longer than {TOKEN_CHARS_MAX} characters")
    try:
        data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
        packed = data[_CHECK_BYTES:]
        if data[:_CHECK_BYTES] != _check(packed):
            raise ValueError("it is damaged")
        found = cast("dict[str, Any]", json.loads(zlib.decompress(packed)))
        version = found.pop("v")
        if version != _VERSION:
            raise CursorRejected("it was made by another release; start again from a baseline")
        token = Token(**found)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise CursorRejected("it is no token of a change feed, or damaged") from error
    if token.kind != kind:
        known = {"cursor": "a cursor", "page": "a page token of a poll", "commit": "a page token of a commit"}
        raise CursorRejected(f"it is {known[token.kind]}, not {known[kind]}")
    return token


def digest(selection: Selection) -> str:
    """A short name for filters."""
    return hashlib.blake2b(json.dumps(selection.to_json()).encode(), digest_size=8).hexdigest()


def _check(packed: bytes) -> bytes:
    return hashlib.blake2b(packed, digest_size=_CHECK_BYTES).digest()
