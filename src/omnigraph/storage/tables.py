"""Tables: the only place that calls Lance for them.

Every change is staged as a detached version, derived from exactly the version that was opened. No table head moves.
Nothing here calls Lance's own delete, update, optimize, restore or cleanup: they work on the head.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, cast

import lance
import numpy as np
import pyarrow as pa
from lance import (
    LanceDataset,
    LanceOperation,
    Session,  # pyright: ignore[reportPrivateImportUsage]
)
from lance.fragment import FragmentMetadata, RowIdSequence, write_fragments
from lance.schema import LanceSchema

from omnigraph.model.errors import BadRequest
from omnigraph.storage.handles import LanceTable, identity, version_files
from omnigraph.storage.keys import FragmentKeys, KeyCache, whole_fragment
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.lru import LruCache
from omnigraph.storage.staged import (
    ADDED,
    ALL_ASPECTS,
    NEUTRAL,
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
from omnigraph.storage.tiers import choose_fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnigraph.storage.address import Address

HANDLES_MAX = 512
KEY = "id"
SMALL_ROWS = 65_536
"""Fragments up to this size have their keys remembered; larger ones are asked through their index."""


class LanceTables:
    """Tables of one graph, with one shared session."""

    def __init__(self, address: Address, session: Session | None = None) -> None:
        self._address = address
        self._session = session or Session()
        self._handles: LruCache[TableRef, LanceTable] = LruCache(HANDLES_MAX)
        self._keys = KeyCache()

    # -- open and create -------------------------------------------------------------------------------

    def create(self, location: str, schema: pa.Schema) -> Staged:
        """Make an empty table at a location nobody else uses."""
        uri = self._address.child(location)
        with lance_errors(f"create table {location}"):
            dataset = lance.write_dataset(
                schema.empty_table(),
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
        """Open a table at an exact version."""
        known = self._handles.get(ref)
        if known is not None:
            return known
        with lance_errors(f"open table {ref.location} at version {ref.version}"):
            dataset = lance.dataset(
                self._address.child(ref.location),
                version=ref.version,
                storage_options=self._address.options or None,
                session=self._session,
            )
            drain(dataset)
        return self._remember(ref.location, dataset)

    def _remember(self, location: str, dataset: LanceDataset) -> LanceTable:
        table = LanceTable(TableRef(location, dataset.version), dataset)
        self._handles.put(table.ref, table)
        return table

    # -- stage -----------------------------------------------------------------------------------------

    def stage_append(self, handle: TableHandle, rows: pa.Table) -> Staged:
        """Add rows."""
        table = _lance(handle)
        fragments = self._upload(table, rows)
        return self._commit_append(table, fragments)

    def stage_fragments(self, handle: TableHandle, fragments: Sequence[str], files: Sequence[str] = ()) -> Staged:
        """Add rows that other processes have uploaded, given the fragments they reported."""
        del files
        return self._commit_append(_lance(handle), [FragmentMetadata.from_json(text) for text in fragments])

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
        _check_keys(wanted, doomed)
        present = table.fragments()
        replaced = self._locate(table, present, wanted)
        removed = self._locate(table, present, cast("pa.StringArray", doomed))
        if rows.num_rows == 0 and not removed:
            return None
        touched = [fragment for fragment in present if fragment.id in replaced or fragment.id in removed]
        updated, gone = self._mark_deleted(table, touched, replaced, removed)
        fragments = self._upload(table, rows) if rows.num_rows else []
        operation = LanceOperation.Update(
            removed_fragment_ids=gone, updated_fragments=updated, new_fragments=fragments, update_mode="rewrite_rows"
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

    def stage_overwrite(self, handle: TableHandle, rows: pa.Table) -> Staged:
        """Replace all rows, and the schema if it differs."""
        table = _lance(handle)
        fragments = self._upload(table, rows, mode="overwrite") if rows.num_rows else []
        operation = LanceOperation.Overwrite(LanceSchema.from_pyarrow(rows.schema), fragments)
        result = self._commit(table, operation)
        files = self._written(result, fragments)
        return Staged(table.ref, result.ref, "overwrite", ALL_ASPECTS, result.row_count, files=files)

    def stage_schema(self, handle: TableHandle, schema: pa.Schema) -> Staged:
        """Add nullable columns or drop columns without rewriting the rest; rewrite only where that is not possible."""
        table = _lance(handle)
        target = LanceSchema.from_pyarrow(schema)
        if not _same_field_ids(table.dataset, target):
            return self.stage_overwrite(handle, _reshape(table.scan(), schema))
        fragments = [fragment.metadata for fragment in table.dataset.get_fragments()]
        adds = len(schema.names) > len(table.schema.names)
        operation = LanceOperation.Merge(fragments, target) if adds else LanceOperation.Project(target)
        result = self._commit(table, operation)
        files = self._written(result, [])
        return Staged(table.ref, result.ref, "schema", frozenset({"changed"}), result.row_count, files=files)

    def stage_fold(self, handle: TableHandle) -> Staged | None:
        """Write the small fragments of a tail that has grown past its bound as one; every row keeps its id."""
        table = _lance(handle)
        fold = choose_fold(table.fragments())
        if fold is None:
            return None
        with lance_errors(f"fold table {table.ref.location}"):
            sources = [table.fragment(fragment.id) for fragment in fold.fragments]
            rows = table.dataset.scanner(fragments=sources, with_row_id=True, scan_in_order=True).to_table()
            drain(table.dataset)
        fragments = self._upload(table, rows.drop_columns(["_rowid"])) if rows.num_rows else []
        if len(fragments) > 1:
            raise AssertionError("a fold within its bound is one fragment")
        row_ids = cast("pa.UInt64Array", rows.column("_rowid").combine_chunks())
        kept = [
            dataclasses.replace(fragment, row_id_meta=RowIdSequence(row_ids.to_pylist()).to_inline_metadata())
            for fragment in fragments
        ]
        operation = LanceOperation.Update(
            removed_fragment_ids=[fragment.id for fragment in fold.fragments],
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
            touched=fold.fragments,
            operation=operation,
            files=self._written(result, kept),
        )

    def stage_index(self, handle: TableHandle, column: str, kind: str, name: str, fragments: Sequence[int]) -> Staged:
        """Add an index segment over some fragments. Derived state: content does not change."""
        table = _lance(handle)
        with lance_errors(f"index {column} of table {table.ref.location}"):
            index = table.dataset.create_index_uncommitted(
                column, kind, name=name, fragment_ids=list(fragments), replace=True
            )
            if kind == "INVERTED":
                index = table.dataset.merge_existing_index_segments([index])
            drain(table.dataset)
        result = self._commit(table, LanceOperation.CreateIndex(new_indices=[index], removed_indices=[]))
        files = self._written(result, [])
        return Staged(table.ref, result.ref, "index", NEUTRAL, result.row_count, files=files)

    def rebase(self, staged: Staged, onto: TableRef) -> Staged:
        """Stage the same change on another base without uploading data again, or refuse."""
        base = self.open(onto)
        fragments = base.fragments()
        check_rebase(staged, fragments)
        if staged.keys is not None and len(staged.keys):
            newer = added_since(staged, fragments)
            if self._locate(base, newer, staged.keys):
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

    def _upload(self, table: LanceTable, rows: pa.Table, mode: str = "append") -> list[FragmentMetadata]:
        with lance_errors(f"write rows of table {table.ref.location}"):
            fragments = write_fragments(rows, table.dataset, schema=rows.schema, mode=mode, enable_stable_row_ids=True)
            drain(table.dataset)
        if len(fragments) == 1 and KEY in rows.schema.names and rows.num_rows <= SMALL_ROWS:
            ids = cast("pa.StringArray", rows.column(KEY).combine_chunks().cast(pa.string()))
            self._keys.put(identity(fragments[0]), whole_fragment(ids))
        return fragments

    def _commit(self, table: LanceTable, operation: LanceOperation.BaseOperation) -> LanceTable:
        with lance_errors(f"stage a version of table {table.ref.location}"):
            dataset = LanceDataset.commit(table.dataset, operation, read_version=table.ref.version, detached=True)
            drain(table.dataset)
        return self._remember(table.ref.location, dataset)

    def _commit_append(self, table: LanceTable, fragments: list[FragmentMetadata]) -> Staged:
        operation = LanceOperation.Append(fragments)
        result = self._commit(table, operation)
        files = self._written(result, fragments)
        return Staged(table.ref, result.ref, "append", ADDED, result.row_count, operation=operation, files=files)

    def _mark_deleted(
        self,
        table: LanceTable,
        touched: list[FragmentIdentity],
        replaced: dict[int, list[int]],
        removed: dict[int, list[int]],
    ) -> tuple[list[FragmentMetadata], list[int]]:
        updated: list[FragmentMetadata] = []
        gone: list[int] = []
        with lance_errors(f"delete rows of table {table.ref.location}"):
            for fragment in touched:
                offsets = sorted({*replaced.get(fragment.id, ()), *removed.get(fragment.id, ())})
                rest = table.fragment(fragment.id).delete_rows(offsets)
                if rest is None:
                    gone.append(fragment.id)
                    continue
                updated.append(rest)
                known = self._keys.get(fragment)
                if known is not None:
                    self._keys.put(identity(rest), known.without(offsets))
            drain(table.dataset)
        return updated, gone

    def _locate(
        self, table: LanceTable, fragments: Sequence[FragmentIdentity], keys: pa.StringArray
    ) -> dict[int, list[int]]:
        """Offsets of the rows that have one of these keys, by fragment."""
        if len(keys) == 0:
            return {}
        found: dict[int, list[int]] = {}
        large: list[int] = []
        for fragment in fragments:
            known = self._keys.get(fragment)
            if known is None and fragment.rows > SMALL_ROWS:
                large.append(fragment.id)
                continue
            offsets = (known or self._read_keys(table, fragment)).find(keys)
            if len(offsets):
                found[fragment.id] = offsets.tolist()
        if large:
            found.update(self._ask_index(table, large, keys))
        return found

    def _read_keys(self, table: LanceTable, fragment: FragmentIdentity) -> FragmentKeys:
        with lance_errors(f"read keys of table {table.ref.location}"):
            source = table.fragment(fragment.id)
            rows = table.dataset.scanner(columns=[KEY], fragments=[source], with_row_address=True).to_table()
            drain(table.dataset)
        ids = cast("pa.StringArray", rows.column(KEY).combine_chunks().cast(pa.string()))
        keys = FragmentKeys(ids, _offsets(rows))
        self._keys.put(fragment, keys)
        return keys

    def _ask_index(self, table: LanceTable, fragments: list[int], keys: pa.StringArray) -> dict[int, list[int]]:
        with lance_errors(f"look up keys of table {table.ref.location}"):
            sources = [table.fragment(number) for number in fragments]
            quoted = ", ".join("'" + key.replace("'", "''") + "'" for key in keys.to_pylist())
            rows = table.dataset.scanner(
                columns=[KEY], filter=f"{KEY} IN ({quoted})", fragments=sources, with_row_address=True
            ).to_table()
            drain(table.dataset)
        found: dict[int, list[int]] = {}
        for address in rows.column("_rowaddr").to_pylist():
            found.setdefault(address >> 32, []).append(address & 0xFFFFFFFF)
        return found

    def _written(
        self, result: LanceTable, fragments: Sequence[FragmentMetadata], updated: Sequence[FragmentMetadata] = ()
    ) -> tuple[str, ...]:
        location = result.ref.location
        data = [f"{location}/data/{file.path}" for fragment in fragments for file in fragment.files]
        deletions = [
            f"{location}/{fragment.deletion_file.path(fragment.id)}" for fragment in updated if fragment.deletion_file
        ]
        return (*data, *deletions, result.manifest_path)


def _lance(handle: TableHandle) -> LanceTable:
    assert isinstance(handle, LanceTable)
    return handle


def _offsets(rows: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    addresses = rows.column("_rowaddr").to_numpy()
    return (addresses & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _check_keys(wanted: pa.StringArray, doomed: pa.Array) -> None:
    if wanted.null_count or doomed.null_count:
        raise BadRequest("a key is missing: every row needs an id")
    if len(wanted.unique()) != len(wanted):
        raise BadRequest("one key appears twice in one write")
    if len(wanted) and len(doomed) and not set(wanted.to_pylist()).isdisjoint(doomed.to_pylist()):
        raise BadRequest("one key is both written and deleted in one write")


def _same_field_ids(dataset: LanceDataset, target: LanceSchema) -> bool:
    """Whether fields that stay keep their ids and new ones get fresh ids: then no data has to be rewritten."""
    now = {field.name(): field.id() for field in dataset.lance_schema.fields()}
    then = {field.name(): field.id() for field in target.fields()}
    shared = now.keys() & then.keys()
    if now.keys() - shared and then.keys() - shared:
        return False
    if any(now[name] != then[name] for name in shared):
        return False
    types_stay = all(
        dataset.schema.field(name).type == target.to_pyarrow().field(name).type
        and dataset.schema.field(name).nullable == target.to_pyarrow().field(name).nullable
        for name in shared
    )
    fresh = [name for name in then if name not in shared]
    nullable = all(target.to_pyarrow().field(name).nullable for name in fresh)
    return types_stay and nullable and all(then[name] > dataset.max_field_id for name in fresh)


def _reshape(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Bring rows to a schema: columns that are missing become null, others are cast."""
    columns = [
        rows.column(field.name).cast(field.type)
        if field.name in rows.schema.names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
