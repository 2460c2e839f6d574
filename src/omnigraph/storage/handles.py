"""A table opened at one exact version: what may be read from it."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from omnigraph.model.errors import CorruptObject
from omnigraph.storage import blobs
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.staged import FragmentIdentity, TableRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lance import LanceDataset, LanceScanner
    from lance.fragment import DataFile, FragmentMetadata, LanceFragment

    from omnigraph.storage.remember import ColumnId

DETACHED_BIT = 1 << 63
VERSION_MAX = 2**64 - 1
_TRAILER = struct.Struct("<Q4x4s")
_LENGTH = struct.Struct("<I")
_MAGIC = b"LANC"
_BTREE = "BTree"


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

    @cached_property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return blobs.declared(self.dataset.schema)

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

    def physical_rows(self) -> dict[int, int]:
        """Rows of each fragment with those that are deleted."""
        return {fragment.fragment_id: fragment.physical_rows for fragment in self.dataset.get_fragments()}

    def fragment(self, number: int) -> LanceFragment:
        """One fragment, for the adapter."""
        found = self.dataset.get_fragment(number)
        assert found is not None, f"table {self.ref.location} has no fragment {number}"
        return found

    @cached_property
    def _field_ids(self) -> dict[str, int]:
        return {field.name(): field.id() for field in self.dataset.lance_schema.fields()}

    def field_ids(self) -> list[int]:
        """The numbers of all its columns."""
        return list(self._field_ids.values())

    def column_id(self, name: str) -> ColumnId:
        """What makes this column this column, whatever it is called."""
        return self._field_ids[name], self.schema.field(name).type

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        fragments: Sequence[FragmentIdentity] | None = None,
    ) -> pa.Table:
        """Read rows, in scan order. Blobs come only if they are asked for."""
        with lance_errors(f"read table {self.ref.location} at version {self.ref.version}"):
            rows = self._ordered(columns, where, fragments).to_table()
            drain(self.dataset)
        return blobs.rows_read(rows, self.schema)

    def unindexed_rows(self, column: str) -> int:
        """How many rows have to be read to find those with a value, because no index of such values covers them."""
        covered = self._btrees.get(column, frozenset())
        return sum(fragment.rows for fragment in self.fragments() if fragment.id not in covered)

    @cached_property
    def _btrees(self) -> dict[str, frozenset[int]]:
        """By column the fragments its index of values covers."""
        found: dict[str, frozenset[int]] = {}
        with lance_errors(f"list indexes of table {self.ref.location}"):
            for description in self.dataset.describe_indices():
                if _BTREE in description.type_url:
                    covered = {number for segment in description.segments for number in segment.fragment_ids}
                    (column,) = description.field_names
                    found[column] = found.get(column, frozenset()) | covered
            drain(self.dataset)
        return found

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> pa.Table:
        """Read the rows at these positions of the scan order."""
        with lance_errors(f"read rows of table {self.ref.location} at version {self.ref.version}"):
            rows = self.dataset.take(list(positions), columns=list(columns))
            drain(self.dataset)
        return blobs.rows_read(rows, self.schema)

    def batches(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        fragments: Sequence[FragmentIdentity] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read rows, in scan order, a batch at a time. Blobs come only if they are asked for."""
        with lance_errors(f"read table {self.ref.location} at version {self.ref.version}"):
            for batch in self._ordered(columns, where, fragments).to_batches():
                drain(self.dataset)
                yield from blobs.rows_read(pa.table(batch), self.schema).to_batches()
            drain(self.dataset)

    def _ordered(
        self, columns: Sequence[str] | None, where: str | None, fragments: Sequence[FragmentIdentity] | None
    ) -> LanceScanner:
        some = None if fragments is None else [self.fragment(one.id) for one in fragments]
        return self.scanner(self._or_plain(columns), filter=where, fragments=some, scan_in_order=True)

    def scanner(self, columns: Sequence[str], **how: Any) -> LanceScanner:
        """A scan in which blobs are bytes, for the adapter."""
        return self.dataset.scanner(columns=list(columns), blob_handling=blobs.AS_BYTES, **how)

    def _or_plain(self, columns: Sequence[str] | None) -> Sequence[str]:
        return [field.name for field in self.schema if not blobs.is_blob(field)] if columns is None else columns


def identity(fragment: FragmentMetadata) -> FragmentIdentity:
    """What makes this fragment this fragment."""
    deletion = fragment.deletion_file
    return FragmentIdentity(
        id=fragment.id,
        files=tuple(map(_path, fragment.files)),
        deletion=deletion.path(fragment.id) if deletion is not None else None,
        rows=fragment.physical_rows - (deletion.num_deleted_rows if deletion is not None else 0),
        bytes=sum(file.file_size_bytes or 0 for file in fragment.files),
    )


def _path(file: DataFile) -> str:
    """Where a data file is. Its own `path` makes a class at every call."""
    return file._path  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


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
