"""What may be done to tables, whatever keeps them: open them at exact versions, read, and stage in the dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from omnigraph.storage.staged import NO_FILLS, NO_RENAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from omnigraph.storage.addresses import Addresses
    from omnigraph.storage.blobs import BlobInfo
    from omnigraph.storage.differing import RowPart
    from omnigraph.storage.remember import ColumnId
    from omnigraph.storage.staged import FragmentIdentity, IndexBuild, IndexSegment, Staged, TableRef, Uploaded
    from omnigraph.storage.tiers import Fold

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


class TableHandle(Protocol):
    """A table opened at one exact version."""

    @property
    def ref(self) -> TableRef:
        """Which table, at which version."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        ...

    @property
    def row_count(self) -> int:
        """Rows that are not deleted."""
        ...

    def fragments(self) -> Sequence[FragmentIdentity]:
        """Its fragments, in scan order."""
        ...

    def column_id(self, name: str) -> ColumnId:
        """What makes this column this column, whatever it is called."""
        ...

    def unindexed_rows(self, column: str) -> int:
        """How many rows have to be read to find those with a value, because no index of such values covers them."""
        ...

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> pa.Table:
        """Read the rows at these positions of the scan order."""
        ...

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        fragments: Sequence[FragmentIdentity] | None = None,
    ) -> pa.Table:
        """Read rows, of all fragments or of some."""
        ...

    def batches(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        fragments: Sequence[FragmentIdentity] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read rows a batch at a time: memory stays bounded."""
        ...


class Tables(Protocol):
    """All that may be done to tables: create, open by version, stage in the dark."""

    def create(self, location: str, schema: pa.Schema) -> Staged:
        """Make an empty table at a location nobody else uses."""
        ...

    def open(self, ref: TableRef) -> TableHandle:
        """Open a table at an exact version."""
        ...

    def find(self, handle: TableHandle, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows whose `column` has one of these values, in scan order; null is no value."""
        ...

    def blob_info(self, handle: TableHandle, id: str, column: str) -> BlobInfo:  # noqa: A002 - the column's name
        """Size or address of a blob, or that there is none; its bytes are not read."""
        ...

    def read_blob(
        self,
        handle: TableHandle,
        id: str,  # noqa: A002 - the column's name
        column: str,
        offset: int = 0,
        length: int | None = None,
    ) -> bytes:
        """A part of a blob that the graph holds; only that part is read."""
        ...

    def read_rows(
        self,
        handle: TableHandle,
        columns: Sequence[str],
        fragments: Sequence[int] | None = None,
        where: str | None = None,
    ) -> Iterator[pa.Table]:
        """Rows with their addresses, of some fragments if these are named; sizes stand in place of blobs."""
        ...

    def read_blobs(self, handle: TableHandle, column: str, addresses: Sequence[int]) -> list[bytes]:
        """The bytes of blobs that are there, by the addresses of their rows."""
        ...

    def differing(self, old: TableHandle, new: TableHandle) -> tuple[RowPart, RowPart]:
        """The rows of either version that the other need not have just so: all others are the same in both."""
        ...

    def whole(self, handle: TableHandle) -> RowPart:
        """All rows."""
        ...

    def scan_part(self, handle: TableHandle, part: RowPart, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read some rows a batch at a time, each with its address."""
        ...

    def take_rows(self, handle: TableHandle, addresses: Addresses, columns: Sequence[str]) -> pa.Table:
        """The rows at these addresses, in their order, each with its address."""
        ...

    def stage_append(self, handle: TableHandle, rows: pa.Table, *, loose: bool = False) -> Staged:
        """Add rows. What is loose has no version yet: `rebase` and `stage_stack` give it one."""
        ...

    def stage_uploaded(self, handle: TableHandle, fragments: Sequence[str], how: Uploaded) -> Staged:
        """Add, upsert or put in place of all others the rows that other processes have uploaded."""
        ...

    def stage_change(
        self,
        handle: TableHandle,
        upsert: pa.Table | None = None,
        delete: Iterable[str] = (),
        *,
        loose: bool = False,
    ) -> Staged | None:
        """Insert or replace whole rows by `id`, and delete rows by `id`. None if that changes nothing.

        What only adds rows may be left loose.
        """
        ...

    def stage_overwrite(self, handle: TableHandle, rows: pa.Table | pa.RecordBatchReader) -> Staged:
        """Replace all rows, and the schema if it differs."""
        ...

    def stage_schema(
        self,
        handle: TableHandle,
        target: pa.Schema,
        *,
        renames: Mapping[str, str] = NO_RENAMES,
        fills: Mapping[str, pa.Scalar] = NO_FILLS,
    ) -> Staged:
        """Give a table another schema: add, drop, rename, widen, require. Only new values are written."""
        ...

    def stage_rewrite(self, staged: Staged) -> Staged:
        """Write all rows of a staged version into new files, so that nothing of its base is needed any more."""
        ...

    def stage_fold(self, handle: TableHandle) -> Staged | None:
        """Fold the tail of small fragments if it has grown past its bound."""
        ...

    def stage_compaction(self, handle: TableHandle) -> Staged | None:
        """Write small fragments, and those that lost many rows, as few large ones."""
        ...

    def compaction(self, handle: TableHandle) -> Sequence[Fold]:
        """Which fragments are worth to be written as one. Each fold may be written anywhere."""
        ...

    def write_fold(self, handle: TableHandle, fold: Fold) -> list[str]:
        """Write the rows of a fold as a fragment that belongs to no version yet."""
        ...

    def stage_folds(self, handle: TableHandle, chosen: Sequence[Fold], written: Sequence[str]) -> Staged:
        """One version for all folds, given the fragments that were written for them."""
        ...

    def write_segment(self, handle: TableHandle, build: IndexBuild) -> bytes:
        """Write an index segment that belongs to no version yet."""
        ...

    def stage_segments(self, handle: TableHandle, builds: Sequence[IndexBuild], written: Sequence[bytes]) -> Staged:
        """Add index segments that were written, and leave out those they replace."""
        ...

    def indexes(self, handle: TableHandle) -> tuple[IndexSegment, ...]:
        """The index segments of a version."""
        ...

    def text_rows(self, handle: TableHandle, column: str, words: str, *, every: bool) -> Numbers | None:
        """Rows in scan order whose text has these words, by an index; None if that cannot tell."""
        ...

    def stage_indexes(self, handle: TableHandle, builds: Sequence[IndexBuild]) -> Staged:
        """Add index segments, and leave out those they replace."""
        ...

    def rebase(self, staged: Staged, onto: TableRef) -> Staged:
        """Stage the same change on another base, or refuse."""
        ...

    def stage_stack(self, changes: Sequence[Staged], onto: TableRef) -> list[Staged]:
        """Stage changes that only add rows on top of each other, side by side: the first ones, until one does not fit.

        Each has the version before it as its base.
        """
        ...

    def files(self, ref: TableRef) -> frozenset[str]:
        """Every file this version needs, below the graph's root. A name ending in '/' stands for a folder."""
        ...
