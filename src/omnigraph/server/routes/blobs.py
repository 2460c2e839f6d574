"""Bytes of Blob properties: whole, in part, or where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from omnigraph.client.wire import ErrorOutput
from omnigraph.graph.visible import require_something, sees_all
from omnigraph.model.errors import BadRequest, OmniGraphError
from omnigraph.model.names import MAIN
from omnigraph.policy import Action
from omnigraph.server.answers import document
from omnigraph.server.context import Call, GraphCall
from omnigraph.server.describe import header, operation
from omnigraph.server.ranges import Range, Unsatisfiable, any_matches, is_exactly, parse_range

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omnigraph.graph.blobs import BlobStat

router = APIRouter()
CHUNK_BYTES = 4 * 2**20
_HEADERS = [header("If-Match"), header("If-None-Match"), header("Range"), header("If-Range")]
_BYTES = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
_MORE = {206: _BYTES, 302: {}, 304: {}, 412: {"model": ErrorOutput}, 416: {"model": ErrorOutput}}


@router.get(
    "/blob",
    **operation("cluster_getBlob", _BYTES["content"], tag="blobs", parameters=_HEADERS, also=(410,), more=_MORE),
)
async def get_blob(
    call: GraphCall,
    entity: Literal["node", "edge"],
    type: str,  # noqa: A002 - the name in the contract
    id: str,  # noqa: A002
    property: str,  # noqa: A002
    branch: str | None = None,
    snapshot: str | None = None,
) -> Response:
    """Send a blob, or the part a Range header asks for."""
    return await _Blob(call, entity, type, id, property).answer(branch, snapshot)


@router.head(
    "/blob",
    **operation(
        "cluster_headBlob", None, tag="blobs", parameters=_HEADERS, also=(410,), more={302: {}, 304: {}, 412: {}}
    ),
)
async def head_blob(
    call: GraphCall,
    entity: Literal["node", "edge"],
    type: str,  # noqa: A002
    id: str,  # noqa: A002
    property: str,  # noqa: A002
    branch: str | None = None,
    snapshot: str | None = None,
) -> Response:
    """Say what a blob is, without its bytes."""
    return await _Blob(call, entity, type, id, property).answer(branch, snapshot)


class _Blob:
    """One blob, as one request wants it."""

    def __init__(self, call: Call, entity: str, type_name: str, entity_id: str, name: str) -> None:
        self._call = call
        self._where = (entity, type_name, entity_id, name)

    async def answer(self, branch: str | None, snapshot: str | None) -> Response:
        """Look it up, weigh the conditions, send it."""
        call = self._call
        if branch is not None and snapshot is not None:
            raise BadRequest("give branch or snapshot, not both")
        scope = None if snapshot is not None else branch or MAIN
        if not sees_all(call.gate, Action.READ, scope):
            require_something(call.gate, Action.READ, scope)
            entity, type_name, *_ = self._where
            call.gate.require(Action.READ, branch=scope, types=(f"{entity}:{type_name}",))
        found = await call.run(lambda: call.graph.blobs.stat(*self._where, branch=branch, commit=snapshot))
        if found.kind == "external":
            return _elsewhere(found)
        return self._managed(found)

    def _managed(self, found: BlobStat) -> Response:
        assert found.etag is not None
        assert found.size is not None
        given = self._call.request.headers
        headers = {"Accept-Ranges": "bytes", "ETag": found.etag, "Omnigraph-Snapshot-Id": found.snapshot}
        if "if-match" in given and not any_matches(given["if-match"], found.etag, weak=False):
            error = {"error": "the blob is another than If-Match names", "code": "conflict"}
            return document(error, 412, headers)
        if "if-none-match" in given and any_matches(given["if-none-match"], found.etag, weak=True):
            return Response(None, 304, headers)
        if self._call.request.method == "HEAD":
            return _head(found.size, headers)
        try:
            part = self._part(found, given.get("range"), given.get("if-range"))
        except Unsatisfiable as range_:
            details = {"start": range_.start, "end": range_.end, "length": found.size}
            error = {"error": f"the blob has {found.size} bytes", "code": "bad_request", "blob_range": details}
            return document(error, 416, {**headers, "Content-Range": f"bytes */{found.size}"})
        if part is None:
            return self._send(found, Range(0, found.size - 1), 200, headers)
        headers["Content-Range"] = f"bytes {part.start}-{part.end}/{found.size}"
        return self._send(found, part, 206, headers)

    @staticmethod
    def _part(found: BlobStat, wanted: str | None, if_range: str | None) -> Range | None:
        assert found.etag is not None
        assert found.size is not None
        if if_range is not None and not is_exactly(if_range, found.etag):
            return None
        return parse_range(wanted, found.size)

    def _send(self, found: BlobStat, part: Range, status: int, headers: dict[str, str]) -> Response:
        headers["Content-Length"] = str(part.length)
        return StreamingResponse(self._pieces(found, part), status, headers, "application/octet-stream")

    async def _pieces(self, found: BlobStat, part: Range) -> AsyncIterator[bytes]:
        blobs, run = self._call.graph.blobs, self._call.run
        for offset in range(part.start, part.end + 1, CHUNK_BYTES):
            length = min(CHUNK_BYTES, part.end + 1 - offset)
            yield await run(
                lambda offset=offset, length=length: blobs.read(
                    *self._where, offset=offset, length=length, commit=found.snapshot
                )
            )


def _head(size: int, headers: dict[str, str]) -> Response:
    response = Response(None, 200, headers, "application/octet-stream")
    response.headers["Content-Length"] = str(size)
    return response


def _elsewhere(found: BlobStat) -> Response:
    assert found.uri is not None
    if urlsplit(found.uri).scheme == "file" or any(ord(c) < 0x21 or ord(c) > 0x7E for c in found.uri):
        raise OmniGraphError("a stored reference cannot be sent as a location", uri=found.uri)
    return Response(
        None, 302, {"Location": found.uri, "Cache-Control": "no-store", "Omnigraph-Snapshot-Id": found.snapshot}
    )
