"""Bytes that belong to a node or an edge."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from omnigraph.graph.holder import Holder
    from omnigraph.manifest import Snapshot
    from omnigraph.storage.interface import TableHandle


@dataclass(frozen=True)
class BlobStat:
    """What is known of a blob without reading it."""

    kind: Literal["managed", "external"]
    size: int | None
    uri: str | None
    etag: str | None
    """Changes when the table does; quoted, as HTTP has it. None for a reference: its bytes are not ours."""
    snapshot: str
    """The commit it was looked up at."""


@dataclass(frozen=True)
class Blobs:
    """Bytes stored in Blob properties."""

    _holder: Holder

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
        snapshot = self._holder.repository.snapshot(branch or self._holder.branch, commit)
        handle = self._handle(snapshot, entity, type_name, name)
        return self._stat(snapshot, handle, f"{entity} {type_name}", entity_id, name)

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
        if offset < 0 or (length is not None and length <= 0):
            raise BadRequest("a range starts at 0 or later and has a length greater than 0")
        snapshot = self._holder.repository.snapshot(branch or self._holder.branch, commit)
        handle = self._handle(snapshot, entity, type_name, name)
        found = self._stat(snapshot, handle, f"{entity} {type_name}", entity_id, name)
        if found.kind == "external":
            raise BadRequest(f"{type_name}.{name} of {entity_id!r} is a reference to {found.uri}: read it there")
        assert found.size is not None
        if offset > found.size or (offset == found.size and offset > 0):
            raise BadRequest(f"the blob has {found.size} bytes: nothing starts at {offset}", length=found.size)
        return self._holder.repository.parts.tables.read_blob(handle, entity_id, name, offset, length)

    def _handle(self, snapshot: Snapshot, entity: str, type_name: str, name: str) -> TableHandle:
        catalog = self._holder.repository.catalogs.get(snapshot.schema_hash).catalog
        if entity not in ("node", "edge"):
            raise BadRequest(f"{entity!r} is neither node nor edge")
        types = catalog.node_types if entity == "node" else catalog.edge_types
        table = types.get(type_name)
        if table is None:
            hint = suggest(type_name, types)
            raise NotFound(f"there is no {entity} type {type_name!r}{f'; {hint}' if hint else ''}")
        declared = table.property(name)
        if declared is None or not declared.type.is_blob:
            blobs = ", ".join(p.name for p in table.properties if p.type.is_blob) or "none"
            raise BadRequest(f"{type_name}.{name} is no Blob property; those of {type_name}: {blobs}")
        return snapshot.table(f"{entity}:{type_name}")

    def _stat(self, snapshot: Snapshot, handle: TableHandle, what: str, entity_id: str, name: str) -> BlobStat:
        info = self._holder.repository.parts.tables.blob_info(handle, entity_id, name)
        if info.is_null:
            raise NotFound(f"{name} of {what} {entity_id!r} is null")
        if info.uri is not None:
            return BlobStat("external", None, info.uri, None, snapshot.commit_id)
        return BlobStat("managed", info.size, None, _etag(handle, entity_id, name), snapshot.commit_id)


def _etag(handle: TableHandle, entity_id: str, name: str) -> str:
    seed = f"{handle.ref.location}@{handle.ref.version}/{name}/{entity_id}"
    return f'"{hashlib.blake2b(seed.encode(), digest_size=16).hexdigest()}"'
