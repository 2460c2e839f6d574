"""Tables: all that may be done to them, over Lance.

Reading goes through `find`, `rows` and `differing`; what changes rows is in `row_changes`, what gives a table other
columns in `schema_change`, what keeps it in good shape in `folds` and `indexes`; `versions` opens and makes the
versions that all of them work on.
"""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING

from omnigraph.storage import blobs, differing, folds, row_changes, uploading
from omnigraph.storage import rows as reading
from omnigraph.storage.find import KEY
from omnigraph.storage.handles import LanceTable, version_files
from omnigraph.storage.indexes import index_files, segment_change, segments_of, text_rows, write_segment
from omnigraph.storage.schema_change import change_schema
from omnigraph.storage.staged import NEUTRAL, NO_FILLS, NO_RENAMES, Staged, TableRef
from omnigraph.storage.tiers import choose_compaction, choose_fold
from omnigraph.storage.versions import Versions, written_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from lance import Session  # pyright: ignore[reportPrivateImportUsage]

    from omnigraph.storage.address import Address
    from omnigraph.storage.addresses import Addresses
    from omnigraph.storage.blobs import BlobInfo
    from omnigraph.storage.differing import RowPart
    from omnigraph.storage.interface import Numbers, TableHandle
    from omnigraph.storage.staged import IndexBuild, IndexSegment, Uploaded
    from omnigraph.storage.store import Store
    from omnigraph.storage.tiers import Fold


class LanceTables:
    """Tables of one graph, with one shared session."""

    def __init__(self, address: Address, store: Store, session: Session | None = None) -> None:
        self._versions = Versions(address, store, session)

    @property
    def address(self) -> Address:
        """Where the graph lives, with what is needed to get there."""
        return self._versions.address

    # -- open and create -------------------------------------------------------------------------------

    def create(self, location: str, schema: pa.Schema) -> Staged:
        """Make an empty table at a location nobody else uses."""
        return self._versions.create(location, schema)

    def open(self, ref: TableRef) -> LanceTable:
        """Open a table at an exact version: one request, half of what Lance takes by itself."""
        return self._versions.open(ref)

    def files(self, ref: TableRef) -> frozenset[str]:
        """Every file this version needs, below the graph's root. A name ending in '/' stands for a folder."""
        return version_files(self.open(ref))

    # -- look up ---------------------------------------------------------------------------------------

    def find(self, handle: TableHandle, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows whose `column` has one of these values, in scan order; null is no value."""
        return self._versions.finder.find(_lance(handle), column, values, columns)

    def ids_present(self, handle: TableHandle, ids: pa.Array) -> pa.Array:
        """Those of these ids that the table has."""
        return self.find(handle, KEY, ids, [KEY]).column(KEY).combine_chunks()

    def blob_info(self, handle: TableHandle, id: str, column: str) -> BlobInfo:  # noqa: A002 - the column's name
        """Size or address of a blob, or that there is none; its bytes are not read."""
        table = _lance(handle)
        blobs.check_blob(table.schema, column)
        return blobs.blob_info(table, self._versions.finder.address(table, id), column)

    def read_blob(
        self,
        handle: TableHandle,
        id: str,  # noqa: A002 - the column's name
        column: str,
        offset: int = 0,
        length: int | None = None,
    ) -> bytes:
        """A part of a blob that the graph holds; only that part is read."""
        table = _lance(handle)
        blobs.check_blob(table.schema, column)
        return blobs.read_blob(table, self._versions.finder.address(table, id), column, offset, length)

    def read_rows(
        self,
        handle: TableHandle,
        columns: Sequence[str],
        fragments: Sequence[int] | None = None,
        where: str | None = None,
    ) -> Iterator[pa.Table]:
        """Rows with their addresses, of some fragments if these are named; sizes stand in place of blobs."""
        return reading.addressed_rows(_lance(handle), columns, fragments, where)

    def read_blobs(self, handle: TableHandle, column: str, addresses: Sequence[int]) -> list[bytes]:
        """The bytes of blobs that are there, by the addresses of their rows."""
        return reading.blob_bytes(_lance(handle), column, addresses)

    # -- compare ---------------------------------------------------------------------------------------

    def differing(self, old: TableHandle, new: TableHandle) -> tuple[RowPart, RowPart]:
        """The rows of either version that the other need not have just so: all others are the same in both."""
        return differing.differing(_lance(old), _lance(new))

    def whole(self, handle: TableHandle) -> RowPart:
        """All rows."""
        return differing.whole(_lance(handle))

    def scan_part(self, handle: TableHandle, part: RowPart, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read some rows a batch at a time, each with its address."""
        return differing.scan_part(_lance(handle), part, columns)

    def take_rows(self, handle: TableHandle, addresses: Addresses, columns: Sequence[str]) -> pa.Table:
        """The rows at these addresses, in their order, each with its address."""
        return differing.take_rows(_lance(handle), addresses, columns)

    # -- stage -----------------------------------------------------------------------------------------

    def upload(self, handle: TableHandle, rows: pa.Table) -> list[str]:
        """Write rows as fragments that belong to no version yet; the result can travel between processes."""
        return [json.dumps(fragment.to_json()) for fragment in self._versions.upload(_lance(handle), rows)]

    def stage_append(self, handle: TableHandle, rows: pa.Table, *, loose: bool = False) -> Staged:
        """Add rows."""
        table = _lance(handle)
        return self._versions.commit_append(table, self._versions.upload(table, rows), loose=loose)

    def stage_fragments(self, handle: TableHandle, fragments: Sequence[str]) -> Staged:
        """Add rows that other processes have uploaded, given the fragments they reported."""
        return self._versions.commit_append(_lance(handle), uploading.parse_fragments(fragments))

    def stage_uploaded(self, handle: TableHandle, fragments: Sequence[str], how: Uploaded) -> Staged:
        """Add, upsert or put in place of all others the rows that other processes have uploaded."""
        return row_changes.put_uploaded(self._versions, _lance(handle), fragments, how)

    def stage_change(
        self,
        handle: TableHandle,
        upsert: pa.Table | None = None,
        delete: Iterable[str] = (),
        *,
        loose: bool = False,
    ) -> Staged | None:
        """Insert or replace whole rows by `id`, and delete rows by `id`. None if that changes nothing."""
        return row_changes.change_rows(self._versions, _lance(handle), upsert, delete, loose=loose)

    def stage_overwrite(self, handle: TableHandle, rows: pa.Table | pa.RecordBatchReader) -> Staged:
        """Replace all rows, and the schema if it differs. From a reader it holds a batch at a time."""
        return row_changes.overwrite(self._versions, _lance(handle), rows)

    def stage_rewrite(self, staged: Staged) -> Staged:
        """Write all rows of a staged version into new files, so that nothing of its base is needed any more."""
        return row_changes.rewrite(self._versions, staged)

    def rebase(self, staged: Staged, onto: TableRef) -> Staged:
        """Stage the same change on another base without uploading data again, or refuse."""
        return row_changes.rebase(self._versions, staged, onto)

    def stage_stack(self, changes: Sequence[Staged], onto: TableRef) -> list[Staged]:
        """Stage changes that only add rows on top of each other, side by side: the first, until one does not fit."""
        return row_changes.stage_stack(self._versions, changes, onto)

    def stage_schema(
        self,
        handle: TableHandle,
        target: pa.Schema,
        *,
        renames: Mapping[str, str] = NO_RENAMES,
        fills: Mapping[str, pa.Scalar] = NO_FILLS,
    ) -> Staged:
        """Give a table another schema: add, drop, rename, widen, require. Only new values are written."""
        return change_schema(self._versions, _lance(handle), target, renames=renames, fills=fills)

    # -- upkeep ----------------------------------------------------------------------------------------

    def stage_fold(self, handle: TableHandle) -> Staged | None:
        """Write the small fragments of a tail that has grown past its bound as one; every row keeps its id."""
        table = _lance(handle)
        fold = choose_fold(table.fragments())
        return None if fold is None else folds.fold_fragments(self._versions, table, [fold])

    def compaction(self, handle: TableHandle) -> Sequence[Fold]:
        """Which small fragments, and which that lost many rows, are worth to be written as one."""
        table = _lance(handle)
        return choose_compaction(table.fragments(), table.physical_rows())

    def stage_compaction(self, handle: TableHandle) -> Staged | None:
        """Write small fragments, and those that lost many rows, as few large ones; every row keeps its id."""
        chosen = self.compaction(handle)
        return folds.fold_fragments(self._versions, _lance(handle), chosen) if chosen else None

    def write_fold(self, handle: TableHandle, fold: Fold) -> list[str]:
        """Write the rows of a fold as a fragment that belongs to no version yet; every row keeps its id."""
        return [json.dumps(one.to_json()) for one in folds.write_fold(self._versions, _lance(handle), fold)]

    def stage_folds(self, handle: TableHandle, chosen: Sequence[Fold], written: Sequence[str]) -> Staged:
        """One version for all folds, given the fragments that were written for them."""
        return folds.stage_folds(self._versions, _lance(handle), chosen, uploading.parse_fragments(written))

    def indexes(self, handle: TableHandle) -> tuple[IndexSegment, ...]:
        """The index segments of a version. What they cover may be gone from it."""
        return segments_of(_lance(handle))

    def text_rows(self, handle: TableHandle, column: str, words: str, *, every: bool) -> Numbers | None:
        """Rows in scan order whose text has these words, by an index; None if that cannot tell."""
        return text_rows(_lance(handle), column, words, every=every)

    def write_segment(self, handle: TableHandle, build: IndexBuild) -> bytes:
        """Write an index segment that belongs to no version yet; what is given can travel between processes."""
        return pickle.dumps(write_segment(_lance(handle), build))

    def stage_segments(self, handle: TableHandle, builds: Sequence[IndexBuild], written: Sequence[bytes]) -> Staged:
        """Add index segments that were written, and leave out those they replace. Content does not change."""
        table = _lance(handle)
        operation = segment_change(table, builds, [pickle.loads(one) for one in written])  # noqa: S301 - our own
        result = self._versions.commit(table, operation)
        files = (*index_files(table, operation), *written_files(result, []))
        return Staged(table.ref, result.ref, "index", NEUTRAL, result.row_count, files=files)

    def stage_indexes(self, handle: TableHandle, builds: Sequence[IndexBuild]) -> Staged:
        """Write index segments and add them, and leave out those they replace. Derived state."""
        return self.stage_segments(handle, builds, [self.write_segment(handle, one) for one in builds if one.fragments])


def _lance(handle: TableHandle) -> LanceTable:
    assert isinstance(handle, LanceTable)
    return handle
