"""A graph on a server, used like an embedded one."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from omnigraph.client import calls
from omnigraph.client.nouns import Blobs, Branches, Changes, Commits, Schema
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
from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.model.names import MAIN
from omnigraph.write.inputs import Input

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from pathlib import Path

    from omnigraph.client.calls import Call
    from omnigraph.client.read import RemoteSnapshot
    from omnigraph.execute.result import Result
    from omnigraph.write.load import LoadResult
    from omnigraph.write.mutate import MutationResult

T = TypeVar("T")


class Sender:
    """Sends calls and waits for their answers. Safe to share between threads."""

    def __init__(self, place: Place, http: httpx.Client | None = None) -> None:
        self.place = place
        self._http = http or httpx.Client(base_url=place.url, headers=place.headers, timeout=TIMEOUT)

    def __call__(self, call: Call[T]) -> T:
        """Send a call; again, if that is safe and it failed."""
        for attempt in range(TRIES):
            found: httpx.Response | httpx.HTTPError
            try:
                found = self._http.request(**request_of(call, self.place))
            except httpx.HTTPError as error:
                found = error
            answer = settled(call, self.place, found, attempt)
            if answer is not None:
                return call.read(answer)
            time.sleep(pause_s(attempt))
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def stream(self, call: Call[None]) -> Generator[Iterator[bytes]]:
        """Send a call whose answer is read while it is made."""
        try:
            with self._http.stream(**request_of(call, self.place)) as response:
                if response.status_code >= 400:
                    raise error_of_answer(Answer(response.status_code, response.headers, response.read()))
                yield response.iter_bytes()
        except httpx.HTTPError as error:
            raise unreachable(self.place, error) from error

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()


class RemoteGraph:
    """A graph on a server. What it has, an embedded `Graph` has too."""

    def __init__(self, send: Sender, branch: str = MAIN) -> None:
        self._send = send
        self.branch = branch
        self.branches = Branches(send)
        self.commits = Commits(send, branch)
        self.changes = Changes(send, branch)
        self.schema = Schema(send, branch)
        self.blobs = Blobs(send, branch)

    @property
    def uri(self) -> str:
        """Where it is served."""
        return f"{self._send.place.url}{self._send.place.prefix}"

    def snapshot(self, branch: str | None = None) -> RemoteSnapshot:
        """What a branch holds now."""
        return self._send(calls.snapshot(branch or self.branch))

    def query(
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
        """Run a query that reads, given as text or as a `.gq` file."""
        target = branch if snapshot is not None else branch or self.branch
        limits = {"timeout_s": timeout_s, "max_rows": max_rows}
        return self._send(calls.query(source, name, params, target, snapshot, limits))

    def invoke(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
        expect_mutation: bool | None = None,
    ) -> Result | MutationResult:
        """Run a stored query by its name."""
        return self._send(calls.invoke(name, params, branch, snapshot, expect_mutation))

    def stored_queries(self) -> list[dict[str, Any]]:
        """The catalogue of stored queries."""
        return self._send(calls.stored_queries())

    def mutate(
        self,
        source: str | Path,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        if_commit: str | None = None,
    ) -> MutationResult:
        """Run a query that writes: one commit, or none if nothing changes. Never sent twice."""
        return self._send(calls.mutate(source, name, params, branch or self.branch, if_commit))

    def load(
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
        **other: object,
    ) -> LoadResult:
        """Load records or frames as one commit: whatever an embedded graph takes, but Spark's own frames.

        Rows are sent while they are read. Those of frames, Parquet and CSV are typed here, by the schema of the branch.
        """
        refused = [name for name, value in other.items() if value and name not in ("engine", "progress")]
        if refused:
            raise BadRequest(f"a load over HTTP takes no {', '.join(refused)}: open the graph itself for that")
        given = Input(source, type, dict(mapping or {}), format, not permissive)
        target = branch or self.branch
        schema = self._schema_to_load(target, base) if has_columns(given) else None
        lines = lines_of(given, schema)
        return self._send(calls.load(lines, mode, target, base, permissive=permissive and schema is None))

    def _schema_to_load(self, branch: str, base: str | None) -> str:
        try:
            return self._send(calls.schema(branch))
        except NotFound:
            if base is None:
                raise
            return self._send(calls.schema(base))

    @contextmanager
    def exported(self, *, types: Iterable[str] = (), branch: str | None = None) -> Generator[Iterator[bytes]]:
        """The graph as JSONL, in chunks of bytes, for as long as this is open."""
        with self._send.stream(calls.export(types, branch or self.branch)) as chunks:
            yield chunks

    def export_lines(
        self, *, types: Iterable[str] = (), branch: str | None = None, snapshot: str | None = None
    ) -> Iterator[bytes]:
        """The graph as JSONL, in chunks of bytes; read it to its end."""
        if snapshot is not None:
            raise BadRequest("over HTTP a branch is exported; make a branch from the commit to export that")
        with self.exported(types=types, branch=branch) as chunks:
            yield from chunks

    def close(self) -> None:
        """Let go of the connections."""
        self._send.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(url: str, *, token: str | None = None, graph: str | None = None, branch: str = MAIN) -> RemoteGraph:
    """Use a graph on a server. Without `graph` the server is asked which ones it has, and there must be one."""
    place = place_of(url, token, graph)
    if place.graph is None:
        send = Sender(place)
        try:
            place = Place(place.url, place.token, only_graph(send(calls.list_graphs())))
        finally:
            send.close()
    return RemoteGraph(Sender(place), branch)


def only_graph(found: list[tuple[str, str]]) -> str:
    """The one graph a server has."""
    if len(found) == 1:
        return found[0][0]
    names = ", ".join(graph_id for graph_id, _ in found) or "none"
    raise BadRequest(f"say which graph: the server has {names}", graphs=[graph_id for graph_id, _ in found])
