"""Making and opening graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omnigraph.graph.graph import Graph
from omnigraph.graph.holder import Holder
from omnigraph.manifest import Catalogs, Parts, Repository, StoredSchema, encode_schema
from omnigraph.model.clock import SystemRuntime
from omnigraph.model.errors import NotAGraph
from omnigraph.model.names import MAIN
from omnigraph.schema import compile_schema, schema_hash, table_schemas
from omnigraph.search.upkeep import FoldIndexer
from omnigraph.storage.address import parse_address
from omnigraph.storage.durable import DurabilityName, connect_durably
from omnigraph.storage.store import make_folder
from omnigraph.storage.tables import LanceTables

if TYPE_CHECKING:
    import os

    from omnigraph.storage.address import Address


def init_graph(
    uri: str | os.PathLike[str],
    schema: str,
    *,
    schema_name: str = "<schema>",
    actor: str | None = None,
    durability: DurabilityName = "default",
    storage_options: dict[str, str] | None = None,
    external_blobs: tuple[str, ...] = (),
) -> Graph:
    """Make a new graph with a schema.

    `uri` is a folder or an address in an object store: `s3://`, `gs://` or `az://`, whose credentials and endpoint come
    from the environment or from `storage_options`. `schema_name` stands for the schema in messages; `actor` is who
    writes. With `durability="fsync"` a commit on a disk survives a power cut: see docs/operations.md.
    """
    catalog = compile_schema(schema, schema_name)
    address = parse_address(uri, storage_options)
    make_folder(address)
    stored, named = StoredSchema(schema, catalog), schema_hash(catalog)
    parts = _parts(address, durability)
    repository = Repository.init(parts, table_schemas(catalog), named, encode_schema(stored), actor)
    repository.catalogs.know(named, stored)
    return Graph(Holder(repository, actor=actor, external_blobs=tuple(external_blobs)))


def open_graph(
    uri: str | os.PathLike[str],
    *,
    branch: str = MAIN,
    actor: str | None = None,
    durability: DurabilityName = "default",
    storage_options: dict[str, str] | None = None,
    external_blobs: tuple[str, ...] = (),
) -> Graph:
    """Open an existing graph: what `init` was given, and the branch to use where no other is named.

    `external_blobs` are the addresses below which blobs may be referred to.
    """
    address = parse_address(uri, storage_options)
    if address.is_local and not Path(address.prefix).is_dir():
        raise NotAGraph(address.uri)
    repository = Repository.open(_parts(address, durability))
    return Graph(Holder(repository, branch, actor, external_blobs=tuple(external_blobs)))


def _parts(address: Address, durability: DurabilityName) -> Parts:
    store, durable = connect_durably(durability, address)
    tables = LanceTables(address, store)
    indexer = FoldIndexer(tables, Catalogs(store))
    return Parts(address.uri, store, tables, SystemRuntime(), durable, indexer, options=address.options)
