"""The same calls for programs that wait asynchronously."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from omnigraph.client import calls
from omnigraph.client.graph import only_graph
from omnigraph.client.nouns import only
from omnigraph.client.read import Answer
from omnigraph.client.records import has_columns, lines_of
from omnigraph.client.transport import (
    TIMEOUT,
    TRIES,
    Place,
    error_of_answer,
    pause_s,
    place_of,
    request_of,
    settled,
    unreachable,
)
from omnigraph.history.resolve import NO_RESOLUTION, resolution_of
from omnigraph.model.errors import NotFound
from omnigraph.model.names import MAIN
from omnigraph.write.inputs import Input

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
    from pathlib import Path

    from omnigraph.client.calls import Call
    from omnigraph.client.read import RemoteApplied, RemotePlan, RemoteSnapshot
    from omnigraph.execute.result import Result
    from omnigraph.graph.blobs import BlobStat
    from omnigraph.graph.history import Resolving
    from omnigraph.history import MergeResult
    from omnigraph.history.feed import ChangePage
    from omnigraph.manifest import BranchRef, Commit
    from omnigraph.write.load import LoadResult
    from omnigraph.write.mutate import MutationResult

T = TypeVar("T")


class AsyncSender:
    """Sends calls and waits for their answers."""

    def __init__(self, place: Place, http: httpx.AsyncClient | None = None) -> None:
        self.place = place
        self._http = http or httpx.AsyncClient(base_url=place.url, headers=place.headers, timeout=TIMEOUT)

    async def __call__(self, call: Call[T]) -> T:
        """Send a call; again, if that is safe and it failed."""
        for attempt in range(TRIES):
            found: httpx.Response | httpx.HTTPError
            try:
                found = await self._http.request(**_awaited(request_of(call, self.place)))
            except httpx.HTTPError as error:
                found = error
            answer = settled(call, self.place, found, attempt)
            if answer is not None:
                return call.read(answer)
            await asyncio.sleep(pause_s(attempt))
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def stream(self, call: Call[None]) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Send a call whose answer is read while it is made."""
        try:
            async with self._http.stream(**request_of(call, self.place)) as response:
                if response.status_code >= 400:
                    raise error_of_answer(Answer(response.status_code, response.headers, await response.aread()))
                yield response.aiter_bytes()
        except httpx.HTTPError as error:
            raise unreachable(self.place, error) from error

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()


def _awaited(request: dict[str, Any]) -> dict[str, Any]:
    """Bodies that are made while they are sent are read on a thread."""
    content = request.get("content")
    if content is None or isinstance(content, bytes):
        return request

    async def chunks() -> AsyncIterator[bytes]:
        pieces = iter(content)
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece

    return {**request, "content": chunks()}


class AsyncRemoteGraph:
    """A graph on a server, for programs that wait asynchronously."""

    def __init__(self, send: AsyncSender, branch: str = MAIN) -> None:
        self._send = send
        self.branch = branch
        self.branches = AsyncBranches(send)
        self.commits = AsyncCommits(send, branch)
        self.changes = AsyncChanges(send, branch)
        self.schema = AsyncSchema(send, branch)
        self.blobs = AsyncBlobs(send, branch)

    @property
    def uri(self) -> str:
        """Where it is served."""
        return f"{self._send.place.url}{self._send.place.prefix}"

    async def snapshot(self, branch: str | None = None) -> RemoteSnapshot:
        """What a branch holds now."""
        return await self._send(calls.snapshot(branch or self.branch))

    async def query(
        self,
        source: str | Path,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
        timeout_s: float | None = None,
        max_rows: int | None = None,
    ) -> Result:
        """Run a query that reads; whoever stops waiting stops the query."""
        target = branch if snapshot is not None else branch or self.branch
        limits = {"timeout_s": timeout_s, "max_rows": max_rows}
        return await self._send(calls.query(source, name, params, target, snapshot, limits))

    async def invoke(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
        expect_mutation: bool | None = None,
    ) -> Result | MutationResult:
        """Run a stored query by its name."""
        return await self._send(calls.invoke(name, params, branch, snapshot, expect_mutation))

    async def stored_queries(self) -> list[dict[str, Any]]:
        """The catalogue of stored queries."""
        return await self._send(calls.stored_queries())

    async def mutate(
        self,
        source: str | Path,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        if_commit: str | None = None,
    ) -> MutationResult:
        """Run a query that writes: one commit, or none if nothing changes. Never sent twice."""
        return await self._send(calls.mutate(source, name, params, branch or self.branch, if_commit))

    async def load(
        self,
        source: object,
        *,
        mode: str = "merge",
        branch: str | None = None,
        base: str | None = None,
        type: str | None = None,  # noqa: A002 - the word users know
        mapping: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
        permissive: bool = False,
    ) -> LoadResult:
        """Load records or frames as one commit; rows are sent while they are read."""
        given = Input(source, type, dict(mapping or {}), format, not permissive)
        target = branch or self.branch
        schema = await self._schema_to_load(target, base) if has_columns(given) else None
        lines = lines_of(given, schema)
        return await self._send(calls.load(lines, mode, target, base, permissive=permissive and schema is None))

    async def _schema_to_load(self, branch: str, base: str | None) -> str:
        try:
            return await self._send(calls.schema(branch))
        except NotFound:
            if base is None:
                raise
            return await self._send(calls.schema(base))

    @asynccontextmanager
    async def exported(
        self, *, types: Iterable[str] = (), branch: str | None = None
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The graph as JSONL, in chunks of bytes, for as long as this is open."""
        async with self._send.stream(calls.export(types, branch or self.branch)) as chunks:
            yield chunks

    async def close(self) -> None:
        """Let go of the connections."""
        await self._send.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Noun:
    def __init__(self, send: AsyncSender, branch: str = MAIN) -> None:
        self._send = send
        self._branch = branch


class AsyncBranches(_Noun):
    """Branches of a graph."""

    async def create(self, name: str, source: str = MAIN) -> BranchRef:
        """Make a branch from a branch, a tag or a commit."""
        return await self._send(calls.create_branch(name, source))

    async def list(self) -> list[BranchRef]:
        """Live branches by name."""
        return await self._send(calls.branches())

    async def delete(self, name: str) -> None:
        """Delete a branch."""
        await self._send(calls.delete_branch(name))

    async def merge(
        self,
        source: str,
        into: str = MAIN,
        *,
        resolution: Resolving = None,
        dry_run: bool = False,
        delete_branch: bool = False,
        if_commit: str | None = None,
    ) -> MergeResult:
        """Merge a branch into another: one commit with two parents, or all conflicts and nothing."""
        chosen = resolution_of(resolution)
        if chosen.ask is not None:
            found = await self._send(calls.merge_preview(source, into, NO_RESOLUTION))
            chosen = chosen.asked_about(found.conflicts)
        if dry_run:
            return await self._send(calls.merge_preview(source, into, chosen))
        return await self._send(calls.merge(source, into, chosen, delete_branch, if_commit))


class AsyncCommits(_Noun):
    """The history of a graph."""

    async def list(self, branch: str | None = None) -> list[Commit]:
        """The lineage of a branch, newest first."""
        return await self._send(calls.commits(branch or self._branch))

    async def show(self, commit_id: str) -> Commit:
        """One commit."""
        return await self._send(calls.commit(commit_id))


class AsyncChanges(_Noun):
    """The change feed of a graph."""

    async def poll(
        self,
        *,
        branch: str | None = None,
        cursor: str | None = None,
        start: str | None = None,
        page_token: str | None = None,
        limit: int | None = None,
        kinds: Sequence[str] = (),
        types: Sequence[str] = (),
        ops: Sequence[str] = (),
    ) -> ChangePage:
        """A page of what has happened since."""
        filters = only(kinds, types, ops)
        return await self._send(calls.poll(branch or self._branch, cursor, start, page_token, limit, filters))


class AsyncSchema(_Noun):
    """The schema of a branch."""

    async def source(self, branch: str | None = None) -> str:
        """The text it was written as."""
        return await self._send(calls.schema(branch or self._branch))

    async def plan(self, text: str, *, allow_data_loss: bool = False) -> RemotePlan:
        """Say what it takes to bring main to another schema."""
        return await self._send(calls.schema_plan(text, allow_data_loss))

    async def apply(self, text: str, *, allow_data_loss: bool = False) -> RemoteApplied:
        """Bring main to another schema, as one commit."""
        return await self._send(calls.schema_apply(text, allow_data_loss))


class AsyncBlobs(_Noun):
    """Bytes stored in Blob properties."""

    async def stat(
        self, entity: str, type_name: str, entity_id: str, name: str, *, commit: str | None = None
    ) -> BlobStat:
        """Say how large a blob is, or where it is kept."""
        target = None if commit is not None else self._branch
        return await self._send(calls.blob_stat((entity, type_name, entity_id, name), target, commit))

    async def read(
        self,
        entity: str,
        type_name: str,
        entity_id: str,
        name: str,
        *,
        offset: int = 0,
        length: int | None = None,
        commit: str | None = None,
    ) -> bytes:
        """Read a blob, or a part of it."""
        target = None if commit is not None else self._branch
        return await self._send(calls.blob((entity, type_name, entity_id, name), target, commit, offset, length))


async def connect_async(
    url: str, *, token: str | None = None, graph: str | None = None, branch: str = MAIN
) -> AsyncRemoteGraph:
    """Use a graph on a server. Without `graph` the server is asked which ones it has, and there must be one."""
    place = place_of(url, token, graph)
    if place.graph is None:
        send = AsyncSender(place)
        try:
            place = Place(place.url, place.token, only_graph(await send(calls.list_graphs())))
        finally:
            await send.close()
    return AsyncRemoteGraph(AsyncSender(place), branch)
