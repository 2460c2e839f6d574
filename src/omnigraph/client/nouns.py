"""Branches, commits, changes, schema and blobs of a graph on a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.client import calls
from omnigraph.client.read import RemoteBaseline
from omnigraph.history.resolve import NO_RESOLUTION, resolution_of
from omnigraph.model.errors import BadRequest
from omnigraph.model.names import MAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.client.graph import Sender
    from omnigraph.client.read import RemoteApplied, RemotePlan
    from omnigraph.graph.blobs import BlobStat
    from omnigraph.graph.history import Resolving
    from omnigraph.history import MergeResult
    from omnigraph.history.feed import ChangePage, CommitChanges
    from omnigraph.manifest import BranchRef, Commit


@dataclass(frozen=True)
class Branches:
    """Branches of a graph."""

    _send: Sender

    def create(self, name: str, source: str = MAIN) -> BranchRef:
        """Make a branch from a branch, a tag or a commit."""
        return self._send(calls.create_branch(name, source))

    def list(self) -> list[BranchRef]:
        """Live branches by name."""
        return self._send(calls.branches())

    def delete(self, name: str) -> None:
        """Delete a branch."""
        self._send(calls.delete_branch(name))

    def merge(
        self,
        source: str,
        into: str = MAIN,
        *,
        resolution: Resolving = None,
        dry_run: bool = False,
        delete_branch: bool = False,
        if_commit: str | None = None,
    ) -> MergeResult:
        """Merge a branch into another: one commit with two parents, or all conflicts and nothing.

        A dry run returns the conflicts instead of raising them, and writes nothing. A function is asked here, about
        the conflicts a dry run finds.
        """
        chosen = resolution_of(resolution)
        if chosen.ask is not None:
            chosen = chosen.asked_about(self._send(calls.merge_preview(source, into, NO_RESOLUTION)).conflicts)
        if dry_run:
            return self._send(calls.merge_preview(source, into, chosen))
        return self._send(calls.merge(source, into, chosen, delete_branch, if_commit))


@dataclass(frozen=True)
class Commits:
    """The history of a graph."""

    _send: Sender
    _branch: str

    def list(self, branch: str | None = None) -> list[Commit]:
        """The lineage of a branch, newest first."""
        return self._send(calls.commits(branch or self._branch))

    def show(self, commit_id: str) -> Commit:
        """One commit."""
        return self._send(calls.commit(commit_id))

    def changes(
        self,
        commit_id: str,
        *,
        page_token: str | None = None,
        limit: int | None = None,
        kinds: Sequence[str] = (),
        types: Sequence[str] = (),
        ops: Sequence[str] = (),
    ) -> CommitChanges:
        """A page of what one commit changed."""
        return self._send(calls.commit_changes(commit_id, page_token, limit, only(kinds, types, ops)))


@dataclass(frozen=True)
class Changes:
    """The change feed of a graph."""

    _send: Sender
    _branch: str

    def poll(
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
        return self._send(calls.poll(branch or self._branch, cursor, start, page_token, limit, filters))

    def baseline(
        self,
        *,
        branch: str | None = None,
        kinds: Sequence[str] = (),
        types: Sequence[str] = (),
        ops: Sequence[str] = (),
    ) -> RemoteBaseline:
        """Everything a branch holds now, and the cursor that goes on from there with the same filters."""
        call = calls.baseline(branch or self._branch, only(kinds, types, ops))

        def pieces() -> Iterator[bytes]:
            with self._send.stream(call) as chunks:
                yield from chunks

        return RemoteBaseline(pieces())


def only(kinds: Sequence[str], types: Sequence[str], ops: Sequence[str]) -> dict[str, Any]:
    """Filters, as the wire has them."""
    given = {"kind": list(kinds), "type": list(types), "op": list(ops)}
    return {name: values for name, values in given.items() if values}


@dataclass(frozen=True)
class SchemaAt:
    """A schema as a server gives it."""

    source: str


@dataclass(frozen=True)
class Schema:
    """The schema of a branch."""

    _send: Sender
    _branch: str

    @property
    def source(self) -> str:
        """The text it was written as."""
        return self.at().source

    def at(self, branch: str | None = None) -> SchemaAt:
        """The schema of a branch now."""
        return SchemaAt(self._send(calls.schema(branch or self._branch)))

    def plan(
        self, text: str, *, name: str = "<schema>", branch: str | None = None, allow_data_loss: bool = False
    ) -> RemotePlan:
        """Say what it takes to bring main to another schema. Nothing is changed."""
        del name
        _main_only(branch or self._branch)
        return self._send(calls.schema_plan(text, allow_data_loss))

    def apply(
        self, text: str, *, name: str = "<schema>", branch: str | None = None, allow_data_loss: bool = False
    ) -> RemoteApplied:
        """Bring main to another schema, as one commit."""
        del name
        _main_only(branch or self._branch)
        return self._send(calls.schema_apply(text, allow_data_loss))


def _main_only(branch: str) -> None:
    if branch != MAIN:
        raise BadRequest(f"over HTTP the schema of main is changed; {branch!r} gets it by a merge")


@dataclass(frozen=True)
class Blobs:
    """Bytes stored in Blob properties."""

    _send: Sender
    _branch: str

    def stat(
        self,
        entity: str,
        type_name: str,
        entity_id: str,
        name: str,
        *,
        branch: str | None = None,
        commit: str | None = None,
    ) -> BlobStat:
        """Say how large a blob is, or where it is kept."""
        target = branch if commit is not None else branch or self._branch
        return self._send(calls.blob_stat((entity, type_name, entity_id, name), target, commit))

    def read(
        self,
        entity: str,
        type_name: str,
        entity_id: str,
        name: str,
        *,
        offset: int = 0,
        length: int | None = None,
        branch: str | None = None,
        commit: str | None = None,
    ) -> bytes:
        """Read a blob, or a part of it."""
        target = branch if commit is not None else branch or self._branch
        where = (entity, type_name, entity_id, name)
        return self._send(calls.blob(where, target, commit, offset, length))
