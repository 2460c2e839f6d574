"""Tables: the only place that calls Lance for them.

Every change is staged as a detached version, derived from exactly the version that was opened. No table head moves.
Nothing here calls Lance's own delete, update, optimize, restore or cleanup: they work on the head.
"""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import lance
import pyarrow as pa
from lance import (
    LanceDataset,
    LanceOperation,
    Session,  # pyright: ignore[reportPrivateImportUsage]
)
from lance.fragment import FragmentMetadata, RowIdSequence, write_fragments
from lance.schema import LanceSchema

from omnigraph.model.errors import SnapshotReclaimed
from omnigraph.storage import blobs, differing, uploading
from omnigraph.storage import rows as reading
from omnigraph.storage.find import KEY, REMEMBERED, SMALL_ROWS, RowFinder, check_keys
from omnigraph.storage.handles import LanceTable, identity, manifest_body, manifest_path, version_files
from omnigraph.storage.indexes import build_segments, index_files, segments_of, text_rows
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.lru import LruCache
from omnigraph.storage.meter import run_parallel
from omnigraph.storage.remember import whole_fragment
from omnigraph.storage.reshape import becoming_required, plan_columns, refuse_nulls, target_schema, write_columns
from omnigraph.storage.staged import (
    ADDED,
    ALL_ASPECTS,
    CHANGED,
    NEUTRAL,
    NO_FILLS,
    NO_RENAMES,
    REMOVED,
    Aspect,
    FragmentIdentity,
    RebaseRefused,
    Staged,
    TableHandle,
    TableRef,
    added_since,
    check_rebase,
)
from omnigraph.storage.tiers import Fold, choose_compaction, choose_fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from omnigraph.storage.address import Address
    from omnigraph.storage.blobs import BlobInfo
    from omnigraph.storage.differing import Addresses, RowPart
    from omnigraph.storage.staged import IndexBuild, IndexSegment, Uploaded
    from omnigraph.storage.store import Store

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]

HANDLES_MAX = 512
COMMIT_HOPS = 2
"""A detached commit writes its transaction, then its manifest."""


class LanceTables:
    """Tables of one graph, with one shared session."""

    def __init__(self, address: Address, store: Store, session: Session | None = None) -> None:
        self._address = address
        self._store = store
        self._session = session or Session()
        self._handles: LruCache[TableRef, LanceTable] = LruCache(HANDLES_MAX)
        self._finder = RowFinder()

    @property
    def address(self) -> Address:
        """Where the graph lives, with what is needed to get there."""
        return self._address

    # -- open and create -------------------------------------------------------------------------------

    def create(self, location: str, schema: pa.Schema) -> Staged:
        """Make an empty table at a location nobody else uses."""
        uri = self._address.child(location)
        with lance_errors(f"create table {location}"):
            dataset = lance.write_dataset(
                blobs.rows_to_write(schema.empty_table(), schema),
                uri,
                mode="create",
                enable_stable_row_ids=True,
                storage_options=self._address.options or None,
                session=self._session,
            )
            drain(dataset)
        table = self._remember(location, dataset)
        return Staged(table.ref, table.ref, "create", NEUTRAL, 0, files=tuple(sorted(version_files(table))))

    def open(self, ref: TableRef) -> LanceTable:
        """Open a table at an exact version: one request, half of what Lance takes by itself."""
        known = self._handles.get(ref)
        if known is not None:
            return known
        path = manifest_path(ref)
        manifest = self._store.get(path)
        if manifest is None:
            raise SnapshotReclaimed(f"version {ref.version} of table {ref.location}")
        with lance_errors(f"open table {ref.location} at version {ref.version}"):
            dataset = LanceDataset(
                self._address.child(ref.location),
                version=ref.version,
                storage_options=self._address.options or None,
                serialized_manifest=manifest_body(manifest, path),
                session=self._session,
            )
            drain(dataset)
        return self._remember(ref.location, dataset)

    def _remember(self, location: str, dataset: LanceDataset) -> LanceTable:
        table = LanceTable(TableRef(location, dataset.version), dataset)
        self._handles.put(table.ref, table)
        return table

    # -- look up ---------------------------------------------------------------------------------------

    def find(self, handle: TableHandle, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows whose `column` has one of these values, in scan order; null is no value."""
        return self._finder.find(_lance(handle), column, values, columns)

    def ids_present(self, handle: TableHandle, ids: pa.Array) -> pa.Array:
        """Those of these ids that the table has."""
        return self.find(handle, KEY, ids, [KEY]).column(KEY).combine_chunks()

    def blob_info(self, handle: TableHandle, id: str, column: str) -> BlobInfo:  # noqa: A002 - the column's name
        """Size or address of a blob, or that there is none; its bytes are not read."""
        table = _lance(handle)
        blobs.check_blob(table.schema, column)
        return blobs.blob_info(table, self._finder.address(table, id), column)

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
        return blobs.read_blob(table, self._finder.address(table, id), column, offset, length)

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

    def stage_append(self, handle: TableHandle, rows: pa.Table) -> Staged:
        """Add rows."""
        table = _lance(handle)
        fragments = self._upload(table, rows)
        return self._commit_append(table, fragments)

    def stage_fragments(self, handle: TableHandle, fragments: Sequence[str], files: Sequence[str] = ()) -> Staged:
        """Add rows that other processes have uploaded, given the fragments they reported."""
        del files
        return self._commit_append(_lance(handle), uploading.parse_fragments(fragments))

    def stage_uploaded(self, handle: TableHandle, fragments: Sequence[str], how: Uploaded) -> Staged:
        """Add, upsert or put in place of all others the rows that other processes have uploaded."""
        table, new = _lance(handle), uploading.parse_fragments(fragments)
        if how.keys is None and not how.replaces_all and not how.left_out:
            return self._commit_append(table, new)
        present = table.fragments()
        replaced = self._finder.locate(table, present, how.keys) if how.keys is not None else {}
        touched = [fragment for fragment in present if fragment.id in replaced]
        updated, gone = self._delete_from(table, touched, replaced)
        operation = uploading.operation(table, new, updated, gone, replaces_all=how.replaces_all)
        result = self._commit(table, operation)
        files = self._written(result, new, updated)
        if how.left_out:  # only a fragment of a version can lose rows, so this takes two
            offsets = uploading.by_fragment(result.fragments()[-len(new) :], how.left_out)
            losing = [fragment for fragment in result.fragments() if fragment.id in offsets]
            fewer, emptied = self._delete_from(result, losing, offsets)
            result = self._commit(result, uploading.operation(result, [], fewer, emptied))
            files = (*files, *self._written(result, [], fewer))
        hits = sum(len(offsets) for offsets in replaced.values())
        return Staged(
            table.ref,
            result.ref,
            "overwrite" if how.left_out or how.replaces_all else "change",
            ALL_ASPECTS if how.replaces_all else ADDED | CHANGED if hits else ADDED,
            result.row_count,
            touched=tuple(touched),
            base_files=frozenset(name for fragment in present for name in fragment.files),
            keys=how.keys,
            operation=operation,
            files=files,
        )

    def _delete_from(
        self, table: LanceTable, touched: Sequence[FragmentIdentity], doomed: Mapping[int, Sequence[int]]
    ) -> tuple[list[FragmentMetadata], list[int]]:
        """Delete rows by their offsets: fragments that lose some, and the ids of those that lose all."""
        gone = [fragment.id for fragment in touched if len(doomed[fragment.id]) == fragment.rows]
        tasks = [
            partial(self._delete_rows, table, fragment, sorted(doomed[fragment.id]))
            for fragment in touched
            if fragment.id not in gone
        ]
        return [one for part in run_parallel(tasks) for one in part], gone

    def upload(self, handle: TableHandle, rows: pa.Table) -> list[str]:
        """Write rows as fragments that belong to no version yet; the result can travel between processes."""
        return [json.dumps(fragment.to_json()) for fragment in self._upload(_lance(handle), rows)]

    def stage_change(
        self, handle: TableHandle, upsert: pa.Table | None = None, delete: Iterable[str] = ()
    ) -> Staged | None:
        """Insert or replace whole rows by `id`, and delete rows by `id`. None if that changes nothing."""
        table = _lance(handle)
        doomed = pa.array(delete, pa.string())
        rows = upsert if upsert is not None else table.schema.empty_table()
        wanted = cast("pa.StringArray", rows.column(KEY).combine_chunks().cast(pa.string()))
        check_keys(wanted, doomed)
        present = table.fragments()
        replaced = self._finder.locate(table, present, wanted)
        removed = self._finder.locate(table, present, doomed)
        if rows.num_rows == 0 and not removed:
            return None
        touched = [fragment for fragment in present if fragment.id in replaced or fragment.id in removed]
        updated, gone, fragments = self._write_change(table, rows, touched, replaced, removed)
        operation = LanceOperation.Update(
            removed_fragment_ids=gone,
            updated_fragments=updated,
            new_fragments=fragments,
            fields_for_preserving_frag_bitmap=table.field_ids(),  # else Lance takes new rows for indexed ones
            update_mode="rewrite_rows",
        )
        hits = sum(len(offsets) for offsets in replaced.values())
        aspects: set[Aspect] = set()
        if hits < rows.num_rows:
            aspects |= ADDED
        if hits:
            aspects.add("changed")
        if removed:
            aspects |= REMOVED
        result = self._commit(table, operation)
        return Staged(
            table.ref,
            result.ref,
            "change",
            frozenset(aspects),
            result.row_count,
            touched=tuple(touched),
            base_files=frozenset(name for fragment in present for name in fragment.files),
            keys=wanted,
            operation=operation,
            files=self._written(result, fragments, updated),
        )

    def stage_overwrite(self, handle: TableHandle, rows: pa.Table | pa.RecordBatchReader) -> Staged:
        """Replace all rows, and the schema if it differs. From a reader it holds a batch at a time."""
        table = _lance(handle)
        schema = LanceSchema.from_pyarrow(blobs.lance_schema_of(rows.schema))
        if any(blobs.is_blob(field) for field in rows.schema):  # Lance gives new files with blobs other field ids
            emptied = self._commit(table, LanceOperation.Overwrite(schema, []))
            fragments = self._upload(emptied, rows)
            result = self._commit(emptied, LanceOperation.Append(fragments)) if fragments else emptied
        else:
            is_empty = isinstance(rows, pa.Table) and rows.num_rows == 0
            fragments = [] if is_empty else self._upload(table, rows, mode="overwrite")
            result = self._commit(table, LanceOperation.Overwrite(schema, fragments))
        files = self._written(result, fragments)
        return Staged(table.ref, result.ref, "overwrite", ALL_ASPECTS, result.row_count, files=files)

    def stage_schema(
        self,
        handle: TableHandle,
        target: pa.Schema,
        *,
        renames: Mapping[str, str] = NO_RENAMES,
        fills: Mapping[str, pa.Scalar] = NO_FILLS,
    ) -> Staged:
        """Give a table another schema. Only columns with new values are written, and only those.

        `renames` says what a column was called, `fills` what rows that exist get in a new column; a column with a
        fill is new even if there was one of that name.
        """
        table = _lance(handle)
        plans = plan_columns(table.schema, target, renames, fills, is_empty=not table.fragments())
        refuse_nulls(table, becoming_required(table.schema, plans))
        grown, fragments = table, list[FragmentMetadata]()
        if any(plan.draft for plan in plans):
            fragments, schema = write_columns(table, plans, table.schema.names[0])
            grown = self._commit(table, LanceOperation.Merge(fragments, schema))
        result = self._commit(grown, LanceOperation.Project(target_schema(grown, plans)))
        self._carry_over(table, result)
        files = self._written(result, fragments)
        return Staged(table.ref, result.ref, "schema", frozenset({"changed"}), result.row_count, files=files)

    def stage_rewrite(self, staged: Staged) -> Staged:
        """Write all rows of a staged version into new files, so that nothing of its base is needed any more."""
        table = self.open(staged.ref)
        rows = pa.RecordBatchReader.from_batches(table.schema, table.batches(table.schema.names))
        written = self.stage_overwrite(table, rows)
        return dataclasses.replace(written, base=staged.base, files=(*staged.files, *written.files))

    def stage_fold(self, handle: TableHandle) -> Staged | None:
        """Write the small fragments of a tail that has grown past its bound as one; every row keeps its id."""
        table = _lance(handle)
        fold = choose_fold(table.fragments())
        return None if fold is None else self._stage_folds(table, [fold])

    def stage_compaction(self, handle: TableHandle) -> Staged | None:
        """Write small fragments, and those that lost many rows, as few large ones; every row keeps its id."""
        table = _lance(handle)
        folds = choose_compaction(table.fragments(), table.physical_rows())
        return self._stage_folds(table, folds) if folds else None

    def _stage_folds(self, table: LanceTable, folds: Sequence[Fold]) -> Staged:
        """One version for all folds; a fold is held in memory while it is written."""
        kept = [fragment for fold in folds for fragment in self._folded(table, fold)]
        touched = tuple(fragment for fold in folds for fragment in fold.fragments)
        operation = LanceOperation.Update(
            removed_fragment_ids=[fragment.id for fragment in touched],
            new_fragments=kept,
            update_mode="rewrite_rows",
        )
        result = self._commit(table, operation)
        return Staged(
            table.ref,
            result.ref,
            "fold",
            NEUTRAL,
            result.row_count,
            touched=touched,
            operation=operation,
            files=self._written(result, kept),
        )

    def _folded(self, table: LanceTable, fold: Fold) -> list[FragmentMetadata]:
        with lance_errors(f"fold table {table.ref.location}"):
            sources = [table.fragment(fragment.id) for fragment in fold.fragments]
            rows = table.scanner(table.schema.names, fragments=sources, with_row_id=True, scan_in_order=True).to_table()
            drain(table.dataset)
        fragments = self._upload(table, rows.drop_columns(["_rowid"])) if rows.num_rows else []
        if len(fragments) > 1:
            raise AssertionError("a fold within its bound is one fragment")
        row_ids = cast("pa.UInt64Array", rows.column("_rowid").combine_chunks())
        return [
            dataclasses.replace(fragment, row_id_meta=RowIdSequence(row_ids.to_pylist()).to_inline_metadata())
            for fragment in fragments
        ]

    def indexes(self, handle: TableHandle) -> tuple[IndexSegment, ...]:
        """The index segments of a version. What they cover may be gone from it."""
        return segments_of(_lance(handle))

    def text_rows(self, handle: TableHandle, column: str, words: str, *, every: bool) -> Numbers | None:
        """Rows in scan order whose text has these words, by an index; None if that cannot tell."""
        return text_rows(_lance(handle), column, words, every=every)

    def stage_indexes(self, handle: TableHandle, builds: Sequence[IndexBuild]) -> Staged:
        """Add index segments, and leave out those they replace. Derived state: content does not change."""
        table = _lance(handle)
        operation = build_segments(table, builds)
        result = self._commit(table, operation)
        files = (*index_files(table, operation), *self._written(result, []))
        return Staged(table.ref, result.ref, "index", NEUTRAL, result.row_count, files=files)

    def rebase(self, staged: Staged, onto: TableRef) -> Staged:
        """Stage the same change on another base without uploading data again, or refuse."""
        base = self.open(onto)
        fragments = base.fragments()
        check_rebase(staged, fragments)
        if staged.keys is not None and len(staged.keys):
            newer = added_since(staged, fragments)
            if self._finder.locate(base, newer, staged.keys):
                raise RebaseRefused("a key it inserts was added since")
        result = self._commit(base, cast("Any", staged.operation))
        known = frozenset(name for fragment in fragments for name in fragment.files)
        return dataclasses.replace(
            staged,
            base=onto,
            ref=result.ref,
            row_count=result.row_count,
            base_files=known if staged.base_files else staged.base_files,
            files=(*staged.files, *self._written(result, [])),
        )

    def files(self, ref: TableRef) -> frozenset[str]:
        """Every file this version needs, below the graph's root. A name ending in '/' stands for a folder."""
        return version_files(self.open(ref))

    # -- inside ----------------------------------------------------------------------------------------

    def _upload(
        self, table: LanceTable, rows: pa.Table | pa.RecordBatchReader, mode: str = "append"
    ) -> list[FragmentMetadata]:
        with lance_errors(f"write rows of table {table.ref.location}"):
            data = blobs.rows_to_write(rows, table.schema) if mode == "append" else rows
            fragments = write_fragments(data, table.dataset, schema=data.schema, mode=mode, enable_stable_row_ids=True)
            drain(table.dataset, hops=len(fragments))
        if mode == "append" and isinstance(rows, pa.Table):
            self._remember_rows(table, fragments, rows)
        return fragments

    def _remember_rows(self, table: LanceTable, fragments: list[FragmentMetadata], rows: pa.Table) -> None:
        """Keep what later look-ups need of rows just written, so that they need not be read back."""
        names = [name for name in REMEMBERED if name in rows.schema.names and name in table.schema.names]
        if len(fragments) != 1 or not names or rows.num_rows > SMALL_ROWS:
            return
        columns = {table.column_id(name): rows.column(name).cast(table.schema.field(name).type) for name in names}
        self._finder.cache.put(identity(fragments[0]), whole_fragment(columns))

    def _carry_over(self, before: LanceTable, after: LanceTable) -> None:
        """Rows stay where they are when columns come beside them: what is remembered of them stays true."""
        kept = {before.column_id(name) for name in before.schema.names}
        for old, new in zip(before.fragments(), after.fragments(), strict=True):
            known = self._finder.cache.get(old)
            if known is not None and old.files != new.files:
                self._finder.cache.put(new, known.only(kept))

    def _commit(self, table: LanceTable, operation: LanceOperation.BaseOperation) -> LanceTable:
        with lance_errors(f"stage a version of table {table.ref.location}"):
            dataset = LanceDataset.commit(table.dataset, operation, read_version=table.ref.version, detached=True)
            drain(table.dataset, hops=COMMIT_HOPS)
        return self._remember(table.ref.location, dataset)

    def _commit_append(self, table: LanceTable, fragments: list[FragmentMetadata]) -> Staged:
        operation = LanceOperation.Append(fragments)
        result = self._commit(table, operation)
        files = self._written(result, fragments)
        return Staged(table.ref, result.ref, "append", ADDED, result.row_count, operation=operation, files=files)

    def _write_change(
        self,
        table: LanceTable,
        rows: pa.Table,
        touched: list[FragmentIdentity],
        replaced: dict[int, list[int]],
        removed: dict[int, list[int]],
    ) -> tuple[list[FragmentMetadata], list[int], list[FragmentMetadata]]:
        """Write new rows and which old ones go, side by side: fragments that lose rows, that go, that are new."""
        tasks: list[Callable[[], list[FragmentMetadata]]] = []
        gone: list[int] = []
        for fragment in touched:
            offsets = sorted({*replaced.get(fragment.id, ()), *removed.get(fragment.id, ())})
            if len(offsets) == fragment.rows:  # no row is left: no need to say which ones go
                gone.append(fragment.id)
            else:
                tasks.append(partial(self._delete_rows, table, fragment, offsets))
        if rows.num_rows:
            tasks.append(partial(self._upload, table, rows))
        written = run_parallel(tasks)
        fragments = written.pop() if rows.num_rows else []
        return [one for part in written for one in part], gone, fragments

    def _delete_rows(self, table: LanceTable, fragment: FragmentIdentity, offsets: list[int]) -> list[FragmentMetadata]:
        with lance_errors(f"delete rows of table {table.ref.location}"):
            rest = table.fragment(fragment.id).delete_rows(offsets)
            drain(table.dataset, hops=1 if fragment.deletion is None else 2)  # deletions so far are read first
        assert rest is not None, "some rows are left"
        known = self._finder.cache.get(fragment)
        if known is not None:
            self._finder.cache.put(identity(rest), known.without(offsets))
        return [rest]

    def _written(
        self, result: LanceTable, fragments: Sequence[FragmentMetadata], updated: Sequence[FragmentMetadata] = ()
    ) -> tuple[str, ...]:
        location = result.ref.location
        data = [f"{location}/data/{file.path}" for fragment in fragments for file in fragment.files]
        deletions = [
            f"{location}/{fragment.deletion_file.path(fragment.id)}" for fragment in updated if fragment.deletion_file
        ]
        return (*data, *deletions, manifest_path(result.ref))


def _lance(handle: TableHandle) -> LanceTable:
    assert isinstance(handle, LanceTable)
    return handle
