"""Versions of tables: opened exactly, and made where nobody can see them.

Every change is staged as a detached version, derived from exactly the version that was opened. No table head moves.
Nothing here calls Lance's own delete, update, optimize, restore or cleanup: they work on the head.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import lance
import numpy as np
import pyarrow as pa
from lance import (
    LanceDataset,
    LanceOperation,
    Session,  # pyright: ignore[reportPrivateImportUsage]
)
from lance.fragment import FragmentMetadata, write_fragments

from omnigraph.model.errors import SnapshotReclaimed
from omnigraph.storage import blobs
from omnigraph.storage.find import REMEMBERED, SMALL_ROWS, RowFinder
from omnigraph.storage.handles import LanceTable, identity, manifest_body, manifest_path, version_files
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.lru import LruCache
from omnigraph.storage.remember import whole_fragment
from omnigraph.storage.staged import (
    ADDED,
    NEUTRAL,
    FragmentIdentity,
    Staged,
    TableRef,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from omnigraph.storage.address import Address
    from omnigraph.storage.staged import Offsets
    from omnigraph.storage.store import Store

HANDLES_MAX = 512
COMMIT_HOPS = 2
"""A detached commit writes its transaction, then its manifest."""


class Versions:
    """The versions of a graph's tables: opened, uploaded to, and committed as detached versions nobody can see."""

    def __init__(self, address: Address, store: Store, session: Session | None = None) -> None:
        self.address = address
        self.finder = RowFinder()
        self._store = store
        self._session = session or Session()
        self._handles: LruCache[TableRef, LanceTable] = LruCache(HANDLES_MAX)

    def create(self, location: str, schema: pa.Schema) -> Staged:
        """Make an empty table at a location nobody else uses."""
        uri = self.address.child(location)
        with lance_errors(f"create table {location}"):
            dataset = lance.write_dataset(
                blobs.rows_to_write(schema.empty_table(), schema),
                uri,
                mode="create",
                enable_stable_row_ids=True,
                storage_options=self.address.options or None,
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
                self.address.child(ref.location),
                version=ref.version,
                storage_options=self.address.options or None,
                serialized_manifest=manifest_body(manifest, path),
                session=self._session,
            )
            drain(dataset)
        return self._remember(ref.location, dataset)

    def _remember(self, location: str, dataset: LanceDataset) -> LanceTable:
        table = LanceTable(TableRef(location, dataset.version), dataset)
        self._handles.put(table.ref, table)
        return table

    def upload(
        self, table: LanceTable, rows: pa.Table | pa.RecordBatchReader, mode: str = "append"
    ) -> list[FragmentMetadata]:
        """Write rows as fragments that belong to no version yet."""
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
        self.finder.cache.put(identity(fragments[0]), whole_fragment(columns))

    def commit(self, table: LanceTable, operation: LanceOperation.BaseOperation) -> LanceTable:
        """Make a version on top of this one that no head leads to."""
        with lance_errors(f"stage a version of table {table.ref.location}"):
            dataset = LanceDataset.commit(table.dataset, operation, read_version=table.ref.version, detached=True)
            drain(table.dataset, hops=COMMIT_HOPS)
        return self._remember(table.ref.location, dataset)

    def commit_append(self, table: LanceTable, fragments: list[FragmentMetadata], *, loose: bool = False) -> Staged:
        """Stage fragments as new rows, in a version or `loose`."""
        operation = LanceOperation.Append(fragments)
        if loose:
            count = table.row_count + sum(fragment.physical_rows for fragment in fragments)
            files = data_files(table, fragments)
            return Staged(table.ref, table.ref, "append", ADDED, count, operation=operation, files=files, is_loose=True)
        result = self.commit(table, operation)
        files = written_files(result, fragments)
        return Staged(table.ref, result.ref, "append", ADDED, result.row_count, operation=operation, files=files)

    def deletions(
        self,
        table: LanceTable,
        touched: Sequence[FragmentIdentity],
        doomed: Mapping[int, Sequence[int]] | Mapping[int, Offsets],
    ) -> tuple[list[Callable[[], list[FragmentMetadata]]], list[int]]:
        """What is to be run so that rows go, by their offsets, and the ids of fragments that lose all.

        A fragment without a row goes as a whole: no need to say which ones.
        """
        gone = [fragment.id for fragment in touched if len(doomed[fragment.id]) == fragment.rows]
        losing = [fragment for fragment in touched if fragment.id not in gone]
        return [partial(self._delete_rows, table, fragment, doomed[fragment.id]) for fragment in losing], gone

    def _delete_rows(
        self, table: LanceTable, fragment: FragmentIdentity, doomed: Sequence[int] | Offsets
    ) -> list[FragmentMetadata]:
        offsets = np.sort(doomed).tolist()
        with lance_errors(f"delete rows of table {table.ref.location}"):
            rest = table.fragment(fragment.id).delete_rows(offsets)
            drain(table.dataset, hops=1 if fragment.deletion is None else 2)  # deletions so far are read first
        assert rest is not None, "some rows are left"
        known = self.finder.cache.get(fragment)
        if known is not None:
            self.finder.cache.put(identity(rest), known.without(offsets))
        return [rest]


def written_files(
    result: LanceTable, fragments: Sequence[FragmentMetadata], updated: Sequence[FragmentMetadata] = ()
) -> tuple[str, ...]:
    """The files a staged version added, below the graph's root."""
    location = result.ref.location
    deletions = [
        f"{location}/{fragment.deletion_file.path(fragment.id)}" for fragment in updated if fragment.deletion_file
    ]
    return (*data_files(result, fragments), *deletions, manifest_path(result.ref))


def data_files(table: LanceTable, fragments: Sequence[FragmentMetadata]) -> tuple[str, ...]:
    """The files of rows, below the graph's root."""
    return tuple(f"{table.ref.location}/data/{file.path}" for fragment in fragments for file in fragment.files)
