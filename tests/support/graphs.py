"""Small real graphs for tests of the durable half."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.manifest import Collected, Parts, Published, Repository, Retention, collect
from omnigraph.model.clock import SystemRuntime
from omnigraph.storage.address import parse_address
from omnigraph.storage.durable import connect_durably
from omnigraph.storage.tables import LanceTables
from tests.support.disk import wait_for_tick

if TYPE_CHECKING:
    from omnigraph.storage.durable import DurabilityName

NODE = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("v", pa.int64())])
PERSON = "node:Person"
NOW = Retention(keep=1, grace_s=0.0)
TABLES = {PERSON: NODE, "node:City": NODE}


def parts(
    uri: object,
    options: dict[str, str] | None = None,
    *,
    durability: DurabilityName = "default",
    auto_fold: bool = True,
) -> Parts:
    address = parse_address(str(uri), options)
    if address.is_local:
        import os

        os.makedirs(address.prefix, exist_ok=True)
    store, durable = connect_durably(durability, address)
    return Parts(address.uri, store, LanceTables(address, store), SystemRuntime(), durable, auto_fold=auto_fold)


def make(
    uri: object, options: dict[str, str] | None = None, tables: dict[str, pa.Schema] | None = None, **how
) -> Repository:
    return Repository.init(parts(uri, options, **how), tables or TABLES, "s1", b"schema")


def reopen(uri: object, options: dict[str, str] | None = None, **how) -> Repository:
    return Repository.open(parts(uri, options, **how))


def rows(*ids: str, v: int = 0) -> pa.Table:
    return pa.table({"id": list(ids), "v": [v] * len(ids)}, schema=NODE)


def append(repository: Repository, *ids: str, branch: str = "main", v: int = 0) -> Published:
    def prepare(txn):
        txn.append(PERSON, rows(*ids, v=v))
        return txn.plan("load")

    published = repository.write(prepare, branch)
    assert published is not None
    return published


def upsert(
    repository: Repository, *ids: str, branch: str = "main", v: int = 0, strict: bool = False
) -> Published | None:
    def prepare(txn):
        return txn.plan("mutate") if txn.change(PERSON, rows(*ids, v=v)) else None

    return repository.write(prepare, branch, strict=strict)


def delete(repository: Repository, *ids: str, branch: str = "main", strict: bool = True) -> Published | None:
    def prepare(txn):
        return txn.plan("mutate") if txn.change(PERSON, None, ids) else None

    return repository.write(prepare, branch, strict=strict)


def clean(repository: Repository, retention: Retention = NOW, **how: bool) -> Collected:
    """Cleanup of a graph on a disk, a tick of its clock after all before: it takes only what is older than itself."""
    wait_for_tick(Path(repository.parts.uri).parent)
    return collect(repository, retention, **how)


def ids_of(repository: Repository, branch: str = "main", commit: str | None = None) -> list[str]:
    return sorted(repository.snapshot(branch, commit).table(PERSON).scan(["id"]).column("id").to_pylist())
