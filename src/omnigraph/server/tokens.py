"""Who is calling: bearer tokens, kept as digests, compared in constant time, never logged."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import orjson

from omnigraph.model.errors import BadRequest, Unauthenticated
from omnigraph.model.files import gist

if TYPE_CHECKING:
    from collections.abc import Mapping

SINGLE = "OMNIGRAPH_SERVER_BEARER_TOKEN"
FILE = "OMNIGRAPH_SERVER_BEARER_TOKENS_FILE"
JSON = "OMNIGRAPH_SERVER_BEARER_TOKENS_JSON"
DEFAULT_ACTOR = "default"


@dataclass(frozen=True)
class Tokens:
    """The digests of all tokens, each with the actor it stands for."""

    digests: tuple[tuple[bytes, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.digests)

    @property
    def actors(self) -> tuple[str, ...]:
        """Everybody who has a token."""
        return tuple(actor for _, actor in self.digests)

    def actor_of(self, header: str | None) -> str:
        """The actor of an `Authorization` header. Every digest is looked at, whichever fits."""
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("missing bearer token")
        given, found = _digest(token.strip()), None
        for digest, actor in self.digests:
            if hmac.compare_digest(digest, given):
                found = actor
        if found is None:
            raise Unauthenticated("invalid bearer token")
        return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def read_tokens(env: Mapping[str, str]) -> Tokens:
    """The tokens an environment names: the single one, and those of the file or else of the JSON."""
    pairs: list[tuple[str, str]] = []
    if SINGLE in env:
        pairs.append((DEFAULT_ACTOR, env[SINGLE]))
    if env.get(FILE):
        pairs += _pairs(_file(env[FILE]), FILE)
    elif env.get(JSON):
        pairs += _pairs(env[JSON].encode(), JSON)
    return make_tokens(pairs)


def make_tokens(pairs: list[tuple[str, str]]) -> Tokens:
    """Check actors and tokens, and forget the tokens."""
    digests: dict[bytes, str] = {}
    for actor, token in pairs:
        if not actor.strip() or not token.strip():
            raise BadRequest("a bearer token or its actor is blank")
        digest = _digest(token.strip())
        if digest in digests or actor in digests.values():
            raise BadRequest(f"the actor {actor!r} has two tokens, or its token is another's as well")
        digests[digest] = actor
    return Tokens(tuple(digests.items()))


def _file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadRequest(f"cannot read {FILE}={path}: {gist(error)}") from None


def _pairs(text: bytes, where: str) -> list[tuple[str, str]]:
    try:
        document = orjson.loads(text)
    except ValueError:
        raise BadRequest(f'{where} is no JSON object {{"actor": "token"}}') from None
    if not isinstance(document, dict):
        raise BadRequest(f'{where} is no JSON object {{"actor": "token"}}')
    pairs = cast("dict[str, object]", document)
    if not all(isinstance(token, str) for token in pairs.values()):
        raise BadRequest(f"a token in {where} is no text")
    return [(actor, str(token)) for actor, token in pairs.items()]
