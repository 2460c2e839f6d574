"""A table opened at one exact version: what may be read from it."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import TYPE_CHECKING

from omnigraph.model.errors import CorruptObject
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.staged import FragmentIdentity, TableRef

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from lance import LanceDataset
    from lance.fragment import FragmentMetadata, LanceFragment

DETACHED_BIT = 1 << 63
VERSION_MAX = 2**64 - 1
_TRAILER = struct.Struct("<Q4x4s")
_LENGTH = struct.Struct("<I")
_MAGIC = b"LANC"


def manifest_path(ref: TableRef) -> str:
    """Where Lance keeps a version's own manifest, below the graph's root."""
    name = f"d{ref.version}" if ref.version & DETACHED_BIT else f"{VERSION_MAX - ref.version:020d}"
    return f"{ref.location}/_versions/{name}.manifest"


def manifest_body(data: bytes, path: str) -> bytes:
    """The message inside a Lance manifest file, found by the file's last 16 bytes: position, format version, magic."""
    try:
        position, magic = _TRAILER.unpack(data[-_TRAILER.size :])
        (size,) = _LENGTH.unpack_from(data, position)
    except (struct.error, OverflowError) as error:
        raise CorruptObject(path, "it is cut short") from error
    body = data[position + _LENGTH.size : position + _LENGTH.size + size]
    if magic != _MAGIC or len(body) != size:
        raise CorruptObject(path, "it is no Lance manifest")
    return body


class LanceTable:
    """A Lance dataset pinned to a version."""

    def __init__(self, ref: TableRef, dataset: LanceDataset) -> None:
        self.ref = ref
        self.dataset = dataset

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return self.dataset.schema

    @property
    def row_count(self) -> int:
        """Rows that are not deleted."""
        return sum(fragment.rows for fragment in self.fragments())

    @cached_property
    def _fragments(self) -> tuple[FragmentIdentity, ...]:
        return tuple(identity(fragment.metadata) for fragment in self.dataset.get_fragments())

    def fragments(self) -> Sequence[FragmentIdentity]:
        """Its fragments, in scan order."""
        return self._fragments

    def fragment(self, number: int) -> LanceFragment:
        """One fragment, for the adapter."""
        found = self.dataset.get_fragment(number)
        assert found is not None, f"table {self.ref.location} has no fragment {number}"
        return found

    def scan(self, columns: Sequence[str] | None = None, where: str | None = None) -> pa.Table:
        """Read rows, in scan order."""
        with lance_errors(f"read table {self.ref.location} at version {self.ref.version}"):
            rows = self.dataset.scanner(
                columns=list(columns) if columns is not None else None, filter=where, scan_in_order=True
            ).to_table()
            drain(self.dataset)
        return rows


def identity(fragment: FragmentMetadata) -> FragmentIdentity:
    """What makes this fragment this fragment."""
    deletion = fragment.deletion_file
    return FragmentIdentity(
        id=fragment.id,
        files=tuple(file.path for file in fragment.files),
        deletion=deletion.path(fragment.id) if deletion is not None else None,
        rows=fragment.physical_rows - (deletion.num_deleted_rows if deletion is not None else 0),
        bytes=sum(file.file_size_bytes or 0 for file in fragment.files),
    )


def version_files(table: LanceTable) -> frozenset[str]:
    """Every file a version needs, below the graph's root. Transaction files are not among them: nobody reads them."""
    location = table.ref.location
    files = {manifest_path(table.ref)}
    for fragment in table.fragments():
        files.update(f"{location}/data/{name}" for name in fragment.files)
        if fragment.deletion is not None:
            files.add(f"{location}/{fragment.deletion}")
    with lance_errors(f"list indexes of table {location}"):
        for description in table.dataset.describe_indices():
            files.update(f"{location}/_indices/{segment.uuid}/" for segment in description.segments)
        drain(table.dataset)
    return frozenset(files)
