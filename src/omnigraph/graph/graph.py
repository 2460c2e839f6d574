"""Graph: the one object users hold. Thin: it names things and hands on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from omnigraph.manifest import (
    SCHEMAS,
    BranchRef,
    Collected,
    Commit,
    Parts,
    Published,
    PublishPlan,
    Repository,
    Retention,
    Snapshot,
    TagRef,
    WriteTxn,
    collect,
)
from omnigraph.model.clock import SystemRuntime
from omnigraph.model.errors import CorruptObject, NotAGraph
from omnigraph.model.names import MAIN
from omnigraph.schema import Catalog, compile_schema, decode_catalog, encode_catalog, schema_hash, table_schemas
from omnigraph.storage.address import parse_address
from omnigraph.storage.durable import DurabilityName, connect_durably
from omnigraph.storage.meter import Meter
from omnigraph.storage.tables import LanceTables

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from omnigraph.storage.address import Address


@dataclass(frozen=True)
class Branches:
    """Branches and tags of a graph."""

    _repository: Repository
    _actor: str | None

    def create(self, name: str, source: str = MAIN) -> BranchRef:
        """Make a branch from a branch, a tag or a commit."""
        return self._repository.create_branch(name, source, self._actor)

    def list(self) -> list[BranchRef]:
        """Live branches by name."""
        return self._repository.branches()

    def delete(self, name: str) -> None:
        """Delete a branch."""
        self._repository.delete_branch(name)


@dataclass(frozen=True)
class Tags:
    """Names for points of history that cleanup leaves alone."""

    _repository: Repository
    _actor: str | None

    def create(self, name: str, source: str = MAIN) -> TagRef:
        """Name the head of a branch, or a commit."""
        return self._repository.create_tag(name, source, self._actor)

    def list(self) -> list[TagRef]:
        """Tags by name."""
        return self._repository.tags()

    def delete(self, name: str) -> None:
        """Forget a tag."""
        self._repository.delete_tag(name)


@dataclass(frozen=True)
class Commits:
    """The history of a graph."""

    _repository: Repository
    _branch: str

    def list(self, branch: str | None = None) -> list[Commit]:
        """The lineage of a branch, newest first."""
        return list(self._repository.commits(branch or self._branch))

    def show(self, commit_id: str) -> Commit:
        """One commit."""
        return self._repository.commit(commit_id)


@dataclass(frozen=True)
class Schema:
    """The schema of a branch."""

    _repository: Repository
    _branch: str

    @property
    def source(self) -> str:
        """The text it was written as."""
        return str(self._stored()["source"])

    @property
    def catalog(self) -> Catalog:
        """What it declares."""
        return decode_catalog(str(self._stored()["catalog"]).encode())

    def _stored(self) -> dict[str, object]:
        path = f"{SCHEMAS}/{self._repository.head_state(self._branch).schema_hash}"
        data = self._repository.parts.store.get(path)
        if data is None:
            raise CorruptObject(path, "it is missing")
        return orjson.loads(data)


class Graph:
    """A graph on a disk or in an object store."""

    def __init__(self, repository: Repository, branch: str, actor: str | None) -> None:
        self.repository = repository
        self.branch = branch
        self._actor = actor
        self.branches = Branches(repository, actor)
        self.tags = Tags(repository, actor)
        self.commits = Commits(repository, branch)
        self.schema = Schema(repository, branch)

    @property
    def uri(self) -> str:
        """Where it lives."""
        return self.repository.parts.uri

    def snapshot(self, branch: str | None = None, *, commit: str | None = None) -> Snapshot:
        """The graph as a branch has it now, or as it was right after a commit."""
        return self.repository.snapshot(branch or self.branch, commit)

    def write(
        self,
        prepare: Callable[[WriteTxn], PublishPlan | None],
        *,
        branch: str | None = None,
        strict: bool = False,
    ) -> Published | None:
        """Stage changes to any tables and publish them as one commit; None if `prepare` found nothing to do.

        `prepare` may be called again on a newer snapshot. With `strict` a conflict is raised instead.
        """

        def signed(txn: WriteTxn) -> PublishPlan | None:
            plan = prepare(txn)
            return plan if plan is None or plan.actor is not None else replace(plan, actor=self._actor)

        return self.repository.write(signed, branch or self.branch, strict=strict)

    def cleanup(
        self,
        *,
        keep: int | None = None,
        older_than_s: float | None = None,
        grace_s: float | None = None,
        confirm: bool = False,
    ) -> Collected:
        """Reclaim old versions and garbage; a preview unless confirmed."""
        retention = Retention(keep, older_than_s) if grace_s is None else Retention(keep, older_than_s, grace_s)
        return collect(self.repository, retention, dry_run=not confirm)

    def meter(self) -> Meter:
        """Count what the store is asked for: `with g.meter() as m: …`."""
        return Meter()


def init_graph(
    uri: str | os.PathLike[str],
    schema: str,
    *,
    schema_name: str = "<schema>",
    actor: str | None = None,
    durability: DurabilityName = "default",
    storage_options: dict[str, str] | None = None,
) -> Graph:
    """Make a new graph with a schema."""
    catalog = compile_schema(schema, schema_name)
    address = parse_address(uri, storage_options)
    if address.is_local:
        Path(address.prefix).mkdir(parents=True, exist_ok=True)
    body = orjson.dumps({"source": schema, "catalog": encode_catalog(catalog).decode()})
    repository = Repository.init(_parts(address, durability), table_schemas(catalog), schema_hash(catalog), body, actor)
    return Graph(repository, MAIN, actor)


def open_graph(
    uri: str | os.PathLike[str],
    *,
    branch: str = MAIN,
    actor: str | None = None,
    durability: DurabilityName = "default",
    storage_options: dict[str, str] | None = None,
) -> Graph:
    """Open an existing graph."""
    address = parse_address(uri, storage_options)
    if address.is_local and not Path(address.prefix).is_dir():
        raise NotAGraph(address.uri)
    return Graph(Repository.open(_parts(address, durability)), branch, actor)


def _parts(address: Address, durability: DurabilityName) -> Parts:
    store, durable = connect_durably(durability, address)
    return Parts(address.uri, store, LanceTables(address, store), SystemRuntime(), durable)
