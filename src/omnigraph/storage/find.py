"""Rows that have given values in a column, at the least cost: remembered, read once, or asked of an index.

The cost follows the values asked for and the size of the tail, not the size of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.storage.addresses import (
    ADDRESS,
    ADDRESS_FIELD,
    addresses_in,
    join_address,
    offsets_of,
    owners_of,
    rows_at,
    split_address,
)
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.remember import ColumnCache, FragmentColumns, own
from omnigraph.storage.wanted import is_narrow, matching, one_of, wanted_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.remember import ColumnId
    from omnigraph.storage.staged import FragmentIdentity

KEY = "id"
ENDPOINTS = ("src", "dst")
REMEMBERED = (KEY, *ENDPOINTS)
SMALL_ROWS = 65_536
"""Fragments up to this size have narrow columns remembered; larger ones are asked through their index."""
FEW_VALUES = 1_000
"""Up to so many values an index is asked; beyond, reading the column once is cheaper."""
GROUP_ROWS = 1_000_000
"""How many rows of small fragments are read at once."""
SIFT_ROWS = 262_144
"""How many rows of large fragments are compared at once: each time all values are hashed again."""
TAKE_ROWS = 10_000


class RowFinder:
    """Finds rows by value in the fragments of a table."""

    def __init__(self) -> None:
        self.cache = ColumnCache()

    def locate(self, table: LanceTable, fragments: Sequence[FragmentIdentity], keys: pa.Array) -> dict[int, list[int]]:
        """Offsets of the rows that have one of these keys, by fragment."""
        found: dict[int, list[int]] = {}
        wanted = wanted_values(table.schema.field(KEY), keys)
        for piece in self._pieces(table, fragments, KEY, wanted, ()):
            for address in cast("list[int]", piece.column(ADDRESS).to_pylist()):
                fragment, offset = split_address(address)
                found.setdefault(fragment, []).append(offset)
        return found

    def address(self, table: LanceTable, key: str) -> int:
        """Where the row with this key is: its fragment, and its offset there."""
        found = self.locate(table, table.fragments(), pa.array([key], pa.string()))
        if not found:
            raise NotFound(f"there is no row with the id {key}")
        ((fragment, (offset,)),) = found.items()
        return join_address(fragment, offset)

    def find(self, table: LanceTable, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows whose `column` has one of these values, in scan order; null is no value."""
        check_columns(table.schema, (column, *columns))
        wanted = wanted_values(table.schema.field(column), values)
        schema = pa.schema([ADDRESS_FIELD, *(table.schema.field(name) for name in columns)])
        pieces = list(self._pieces(table, table.fragments(), column, wanted, columns))
        if len(pieces) == 1 and pieces[0].schema == schema:
            (rows,) = pieces
        else:
            rows = pa.concat_tables([schema.empty_table(), *(piece.cast(schema) for piece in pieces)])
        return _in_scan_order(rows, table.fragments()).select(list(columns))

    def _pieces(
        self,
        table: LanceTable,
        fragments: Sequence[FragmentIdentity],
        column: str,
        wanted: pa.Array,
        columns: Sequence[str],
    ) -> Iterator[pa.Table]:
        """Tables of row addresses and the columns asked for."""
        if len(wanted) == 0:
            return
        small = [one for one in fragments if one.rows <= SMALL_ROWS]
        large = [one for one in fragments if one.rows > SMALL_ROWS]
        cheap = all(name == column or is_cheap(table.schema.field(name)) for name in columns)
        needed = tuple(dict.fromkeys((column, *columns))) if cheap else (column,)
        located = [*self._look(table, small, needed, wanted)]
        if large and len(wanted) <= FEW_VALUES and not pa.types.is_floating(wanted.type):
            yield self._ask(table, large, column, wanted, columns)
        elif large:
            located += self._sift(table, large, needed, wanted)
        if cheap:
            yield from (piece.select([ADDRESS, *columns]) for piece in located)
        else:
            yield from self._take(table, located, columns)

    def _look(
        self, table: LanceTable, fragments: Sequence[FragmentIdentity], columns: Sequence[str], wanted: pa.Array
    ) -> Iterator[pa.Table]:
        """Look into what is remembered of small fragments. The first column is the one that decides."""
        ids = [table.column_id(name) for name in columns]
        for group in self._remembered(table, fragments, columns):
            for (fragment, known), positions in zip(group, _matches(group, ids[0], wanted), strict=True):
                if not len(positions):
                    continue
                addresses = pa.array(addresses_in(fragment.id, known.offsets[positions]))
                picked = [known.columns[one].take(pa.array(positions)) for one in ids]
                yield pa.table([addresses, *picked], names=[ADDRESS, *columns])

    def _remembered(
        self, table: LanceTable, fragments: Sequence[FragmentIdentity], columns: Sequence[str]
    ) -> Iterator[list[tuple[FragmentIdentity, FragmentColumns]]]:
        """The fragments with these columns: remembered, else read, several fragments at once."""
        ids = {table.column_id(name): name for name in columns}
        for group in _groups(fragments):
            known = {one.id: self.cache.get(one) for one in group}
            lacking = {
                one.id: [name for key, name in ids.items() if found is None or key not in found.columns]
                for one in group
                for found in (known[one.id],)
            }
            behind = [one for one in group if lacking[one.id]]
            if behind:
                missing = _with_companions(table, {name for one in behind for name in lacking[one.id]})
                for fragment, fresh in self._read(table, behind, missing):
                    self.cache.put(fragment, fresh)
                    before = known[fragment.id]
                    known[fragment.id] = fresh if before is None else before.joined(fresh)
            yield [(fragment, cast("FragmentColumns", known[fragment.id])) for fragment in group]

    def _read(
        self, table: LanceTable, fragments: Sequence[FragmentIdentity], columns: list[str]
    ) -> Iterator[tuple[FragmentIdentity, FragmentColumns]]:
        with lance_errors(f"read {', '.join(columns)} of table {table.ref.location}"):
            sources = [table.fragment(one.id) for one in fragments]
            rows = table.scanner(columns, fragments=sources, with_row_address=True).to_table()
            drain(table.dataset)
        addresses = rows.column(ADDRESS).to_numpy()
        owners = owners_of(addresses)
        for fragment in fragments:
            positions = np.flatnonzero(owners == np.uint64(fragment.id))
            part = rows.take(pa.array(positions[np.argsort(addresses[positions])]))
            offsets = offsets_of(part.column(ADDRESS).to_numpy()).astype(np.uint32)
            yield fragment, FragmentColumns(offsets, {table.column_id(name): own(part[name]) for name in columns})

    def _ask(
        self,
        table: LanceTable,
        fragments: Sequence[FragmentIdentity],
        column: str,
        wanted: pa.Array,
        columns: Sequence[str],
    ) -> pa.Table:
        """Ask large fragments for few values: through an index if there is one."""
        with lance_errors(f"look up {column} in table {table.ref.location}"):
            rows = table.scanner(
                list(columns) or [column],
                filter=one_of(column, wanted),
                fragments=[table.fragment(one.id) for one in fragments],
                with_row_address=True,
            ).to_table()
            drain(table.dataset)
        return rows.select([ADDRESS, *columns])

    def _sift(
        self, table: LanceTable, fragments: Sequence[FragmentIdentity], columns: Sequence[str], wanted: pa.Array
    ) -> Iterator[pa.Table]:
        """Read the first column of large fragments once, in batches, and keep the rows that match."""
        with lance_errors(f"look up {columns[0]} in table {table.ref.location}"):
            scanner = table.scanner(
                columns,
                fragments=[table.fragment(one.id) for one in fragments],
                with_row_address=True,
                batch_size=SIFT_ROWS,
            )
            for batch in scanner.to_batches():
                kept = batch.filter(matching(batch.column(columns[0]), wanted))
                if kept.num_rows:
                    yield pa.table(kept).select([ADDRESS, *columns])
            drain(table.dataset)

    def _take(self, table: LanceTable, located: Sequence[pa.Table], columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read whole rows at known addresses."""
        addresses = [one for piece in located for one in cast("list[int]", piece.column(ADDRESS).to_pylist())]
        for start in range(0, len(addresses), TAKE_ROWS):
            yield rows_at(table, columns, addresses[start : start + TAKE_ROWS]).select([ADDRESS, *columns])


def is_cheap(field: pa.Field) -> bool:
    """Whether a column may be read whole and remembered, only because somebody asked for it."""
    return field.name in REMEMBERED or (is_narrow(field.type) and not pa.types.is_string(field.type))


def check_columns(schema: pa.Schema, columns: Sequence[str]) -> None:
    """Refuse columns that are not there."""
    for name in columns:
        if name not in schema.names:
            raise BadRequest(f"there is no column {name}; there are {', '.join(schema.names)}")


def check_keys(wanted: pa.StringArray, doomed: pa.Array) -> None:
    """Refuse keys that are missing, double or contradictory."""
    if wanted.null_count or doomed.null_count:
        raise BadRequest("a key is missing: every row needs an id")
    if len(wanted.unique()) != len(wanted):
        raise BadRequest("one key appears twice in one write")
    if len(wanted) and len(doomed) and not set(wanted.to_pylist()).isdisjoint(doomed.to_pylist()):
        raise BadRequest("one key is both written and deleted in one write")


def _matches(
    group: Sequence[tuple[FragmentIdentity, FragmentColumns]], column: ColumnId, wanted: pa.Array
) -> list[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Which rows of each fragment match. All fragments at once, because each comparison hashes the values again."""
    parts = [known.columns[column] for _, known in group]
    hits = np.asarray(matching(pa.chunked_array(parts), wanted))
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return [np.flatnonzero(some) for some in np.split(hits, ends)]


def _with_companions(table: LanceTable, columns: set[str]) -> list[str]:
    """Columns to read. Who asks for one end of edges soon asks for the other, and a file is better read once."""
    together = columns.intersection(REMEMBERED)
    return sorted(columns.union(name for name in REMEMBERED if together and name in table.schema.names))


def _groups(fragments: Sequence[FragmentIdentity]) -> Iterator[list[FragmentIdentity]]:
    group: list[FragmentIdentity] = []
    for fragment in fragments:
        if group and sum(one.rows for one in group) + fragment.rows > GROUP_ROWS:
            yield group
            group = []
        group.append(fragment)
    if group:
        yield group


def _in_scan_order(rows: pa.Table, fragments: Sequence[FragmentIdentity]) -> pa.Table:
    if rows.num_rows <= 1:
        return rows
    addresses = rows.column(ADDRESS).to_numpy()
    fragment_ids = owners_of(addresses)
    if fragment_ids[0] == fragment_ids[-1] and (addresses[1:] > addresses[:-1]).all():
        return rows  # of one fragment, and in order
    rank = {fragment.id: number for number, fragment in enumerate(fragments)}
    owners, inverse = np.unique(fragment_ids, return_inverse=True)
    ranks = np.array([rank[int(owner)] for owner in owners])[inverse]
    return rows.take(pa.array(np.lexsort((addresses, ranks))))
