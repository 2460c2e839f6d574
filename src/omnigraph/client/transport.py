"""Sending calls: one policy for retries and errors, and two ways to wait."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from omnigraph.client.faults import error_of
from omnigraph.client.read import Answer
from omnigraph.model.errors import BadRequest, OmniGraphError, StoreUnavailable
from omnigraph.model.names import check_graph_id

if TYPE_CHECKING:
    from omnigraph.client.calls import Call

TRIES = 4
TIMEOUT = httpx.Timeout(330.0, connect=10.0)
_AGAIN = frozenset({502, 503, 504})
_WAIT_S_MAX = 5.0


@dataclass(frozen=True)
class Place:
    """A server, and the graph on it."""

    url: str
    token: str | None = None
    graph: str | None = None

    @property
    def prefix(self) -> str:
        """Where the routes of the graph begin."""
        return f"/graphs/{self.graph}" if self.graph is not None else ""

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {"Authorization": f"Bearer {self.token}"} if self.token is not None else {}


def place_of(url: str, token: str | None, graph: str | None) -> Place:
    """Read an address; `…/graphs/ID` names the graph as well."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise BadRequest(f"{url!r} is no address of a server: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise BadRequest(f"{url!r} is no address of a server: write http://HOST:PORT or https://HOST")
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token):
        raise BadRequest("the token has characters that no header can carry")
    base, separator, named = str(parsed).rstrip("/").rpartition("/graphs/")
    if separator and "/" not in named:
        if graph is not None and graph != named:
            raise BadRequest(f"the address names the graph {named!r}, and {graph!r} is given as well")
        url, graph = base, named
    if graph is not None:
        check_graph_id(graph)
    return Place(url.rstrip("/"), token, graph)


def request_of(call: Call[Any], place: Place) -> dict[str, Any]:
    """What httpx is told."""
    how: dict[str, Any] = {"params": dict(call.params), "headers": dict(call.headers)}
    if call.json is not None:
        try:
            how["content"] = orjson.dumps(call.json, option=orjson.OPT_SERIALIZE_NUMPY, default=_plain)
        except TypeError as error:
            raise BadRequest(f"this cannot be sent as JSON: {error}") from None
        how["headers"]["Content-Type"] = "application/json"
    elif call.content is not None:
        how["content"] = call.content
    path = call.path if call.path == "/graphs" else place.prefix + call.path
    return {"method": call.method, "url": path, **how}


def _plain(value: object) -> object:
    raise TypeError(f"{type(value).__name__} {value!r}")


def error_of_answer(answer: Answer) -> OmniGraphError:
    """The error an answer stands for."""
    try:
        document = answer.document
    except OmniGraphError:
        said = f"the server answered with status {answer.status} and not as OmniGraph does: is its address right?"
        document = {"error": said}
    error = error_of(answer.status, document)
    after = answer.headers.get("retry-after", "")
    if after.isdigit():
        error.facts["retry_after_s"] = int(after)
        error.__dict__["retry_after_s"] = int(after)
    return error


def unreachable(place: Place, error: Exception) -> StoreUnavailable:
    """The error for a server that cannot be spoken to."""
    return StoreUnavailable(f"the server {place.url} does not answer: {error or type(error).__name__}", url=place.url)


def settled(call: Call[Any], place: Place, found: httpx.Response | httpx.HTTPError, attempt: int) -> Answer | None:
    """The answer of a call that is done; None if it is to be sent again. What it failed with is raised."""
    is_last = attempt == TRIES - 1
    if isinstance(found, httpx.HTTPError):
        if is_last or not _may_retry(call, found):
            raise unreachable(place, found) from found
        return None
    answer = Answer(found.status_code, found.headers, found.content)
    if answer.status < 400:
        return answer
    if is_last or not _must_retry(call, answer):
        raise error_of_answer(answer)
    return None


def _may_retry(call: Call[Any], error: Exception) -> bool:
    """Whether a request that failed can be sent again: it never left, or doing it twice is doing it once."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return call.content is None
    return call.is_safe


def _must_retry(call: Call[Any], answer: Answer) -> bool:
    """Whether an answer says: not now."""
    return call.is_safe and answer.status in _AGAIN


def pause_s(attempt: int) -> float:
    """How long to wait before the next attempt."""
    return min(_WAIT_S_MAX, 0.1 * 2**attempt) * (0.5 + random.random() / 2)
