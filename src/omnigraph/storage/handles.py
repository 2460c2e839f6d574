"""A table opened at one exact version: what may be read from it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.staged import FragmentIdentity, TableRef

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from lance import LanceDataset
    from lance.fragment import FragmentMetadata, LanceFragment

DETACHED_BIT = 1 << 63
VERSION_MAX = 2**64 - 1


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

    @property
    def manifest_path(self) -> str:
        """Where Lance keeps this version's own manifest, below the graph's root."""
        version = self.ref.version
        name = f"d{version}" if version & DETACHED_BIT else f"{VERSION_MAX - version:020d}"
        return f"{self.ref.location}/_versions/{name}.manifest"

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
    files = {table.manifest_path}
    for fragment in table.fragments():
        files.update(f"{location}/data/{name}" for name in fragment.files)
        if fragment.deletion is not None:
            files.add(f"{location}/{fragment.deletion}")
    with lance_errors(f"list indexes of table {location}"):
        for description in table.dataset.describe_indices():
            files.update(f"{location}/_indices/{segment.uuid}/" for segment in description.segments)
        drain(table.dataset)
    return frozenset(files)
