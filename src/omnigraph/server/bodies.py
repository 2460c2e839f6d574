"""Bodies of requests: bounded in size and time, never unpacked, typed before anything is done with them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import orjson
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from omnigraph.client.wire import Wire
from omnigraph.model.errors import BadRequest, Cancelled, ResourceLimit

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive

M = TypeVar("M", bound=Wire)

JSON = "application/json"
NDJSON = "application/x-ndjson"
_SHOWN_MAX = 5


class UnsupportedMedia(BadRequest):
    """A body of another kind than the route takes."""


class BodyTooSlow(BadRequest):
    """A body that did not arrive in time."""


async def read_body(request: Request, limit: int, timeout_s: float, media: str) -> bytes:
    """Read a body of a kind; refuse what is too long before reading it, if it says so."""
    check_media(request, media)
    declared = request.headers.get("content-length")
    if declared is not None and declared.isdigit() and int(declared) > limit:
        raise ResourceLimit("graph_batch_request_bytes", limit=limit, actual=int(declared))
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise ResourceLimit("graph_batch_request_bytes", limit=limit, actual=size)
                chunks.append(chunk)
    except TimeoutError:
        raise BodyTooSlow(f"the body did not arrive within {timeout_s:g} s") from None
    except ClientDisconnect:
        raise Cancelled from None
    return b"".join(chunks)


def timely(receive: Receive, timeout_s: float) -> Receive:
    """A body that somebody else reads has to arrive in time as well; after it there is no hurry."""
    deadline = asyncio.get_running_loop().time() + timeout_s
    is_whole = False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow(f"the body did not arrive within {timeout_s:g} s") from None
        is_whole = not message.get("more_body", False)
        return message

    return received


def check_media(request: Request, media: str) -> None:
    """Refuse a body of another kind, and one that is packed."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMedia("packed bodies are not taken: send it without Content-Encoding")
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != media:
        raise UnsupportedMedia(f"the content type is {given or 'missing'}: send {media}")


def parse_json(body: bytes, model: type[M]) -> M:
    """A typed body, or what is wrong with it."""
    return validated(json_of(body), model)


def json_of(body: bytes) -> object:
    """A body as the JSON it is."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is no JSON: {error}") from None


def validated(document: object, model: type[M]) -> M:
    """A typed value, or what is wrong with it."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        lines = [f"{'.'.join(str(part) for part in one['loc']) or 'body'}: {one['msg']}" for one in found[:_SHOWN_MAX]]
        raise BadRequest("; ".join(lines)) from None


def ndjson_text(body: bytes) -> bytes:
    """Records as bytes: UTF-8 text that starts like JSON, so that nothing behind here takes it for something packed."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"the records are not UTF-8 (byte {error.start})") from None
    ndjson_start(text.encode())
    return body


def ndjson_start(body: bytes) -> None:
    """Refuse what does not start like records."""
    start = body.lstrip()[:1]
    if start not in (b"", b"{"):
        raise BadRequest(f"records are JSON objects; the first starts with {start.decode('ascii', 'replace')!r}")
