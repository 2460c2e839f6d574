"""Which rows of two versions of a table may differ, found by what the versions share: files, not row ids.

A fragment that both have, with the same data files and the same deletions, holds the same rows. One that only lost rows
is compared by which rows are left, without reading a column. So the cost follows the change, not the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.storage import blobs
from omnigraph.storage.addresses import ADDRESS, ADDRESS_FIELD, Addresses, addresses_in, offsets_of, owners_of
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.staged import FragmentIdentity

BATCH_ROWS = 65_536
IN_LIST_MAX = 10_000
DENSE = 8
"""If at least one row in so many is wanted, a stretch is read whole and sifted: a range is cheaper than a list."""


@dataclass(frozen=True)
class RowPart:
    """Some rows of a table at one version: whole fragments, and single rows by their addresses."""

    fragments: tuple[FragmentIdentity, ...] = ()
    addresses: Addresses = field(default_factory=lambda: np.empty(0, np.uint64))

    @property
    def count(self) -> int:
        """How many rows."""
        return sum(fragment.rows for fragment in self.fragments) + len(self.addresses)


NO_ROWS = RowPart()


def whole(table: LanceTable) -> RowPart:
    """All rows."""
    return RowPart(tuple(table.fragments()))


def differing(old: LanceTable, new: LanceTable) -> tuple[RowPart, RowPart]:
    """The rows of either version that the other need not have just so. All other rows are the same in both."""
    after = {fragment.files: fragment for fragment in new.fragments()}
    before_only: list[FragmentIdentity] = []
    thinned: list[tuple[FragmentIdentity, FragmentIdentity]] = []
    for fragment in old.fragments():
        twin = after.pop(fragment.files, None)
        if twin is None:
            before_only.append(fragment)
        elif twin.deletion != fragment.deletion:
            thinned.append((fragment, twin))
    lost, gained = _compare_thinned(old, new, thinned)
    return RowPart(tuple(before_only), lost), RowPart(tuple(after.values()), gained)


def _compare_thinned(
    old: LanceTable, new: LanceTable, pairs: Sequence[tuple[FragmentIdentity, FragmentIdentity]]
) -> tuple[Addresses, Addresses]:
    """Addresses of the rows that only one of two fragments with the same files still has."""
    lost: list[Addresses] = []
    gained: list[Addresses] = []
    for before, after in pairs:
        left, right = run_parallel([lambda one=before: _offsets(old, one), lambda one=after: _offsets(new, one)])
        lost.append(addresses_in(before.id, np.setdiff1d(left, right, assume_unique=True)))
        gained.append(addresses_in(after.id, np.setdiff1d(right, left, assume_unique=True)))
    return _joined(lost), _joined(gained)


def _offsets(table: LanceTable, fragment: FragmentIdentity) -> Addresses:
    """Where the rows are that a fragment still has. Only its deletion file is read."""
    with lance_errors(f"see which rows of table {table.ref.location} are left"):
        source = table.fragment(fragment.id)
        rows = table.scanner([], fragments=[source], with_row_address=True).to_table()
        drain(table.dataset)
    return offsets_of(rows.column(ADDRESS).to_numpy())


def _joined(parts: Sequence[Addresses]) -> Addresses:
    return np.concatenate(parts).astype(np.uint64) if parts else NO_ROWS.addresses


def scan_part(table: LanceTable, part: RowPart, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read rows a batch at a time, each with its address."""
    if part.fragments:
        with lance_errors(f"read changed rows of table {table.ref.location}"):
            sources = [table.fragment(fragment.id) for fragment in part.fragments]
            scanner = table.scanner(columns, fragments=sources, with_row_address=True, batch_size=BATCH_ROWS)
            for batch in scanner.to_batches():
                drain(table.dataset)
                yield _read(pa.table(batch), table, columns)
            drain(table.dataset)
    for start in range(0, len(part.addresses), BATCH_ROWS):
        yield take_rows(table, part.addresses[start : start + BATCH_ROWS], columns)


def take_rows(table: LanceTable, addresses: Addresses, columns: Sequence[str]) -> pa.Table:
    """The rows at these addresses, in their order, each with its address."""
    empty = pa.schema([ADDRESS_FIELD, *(table.schema.field(name) for name in columns)]).empty_table()
    if not len(addresses):
        return empty
    ordered = np.unique(addresses)
    pieces = [_read(piece, table, columns) for piece in _pieces(table, ordered, columns)]
    found = pa.concat_tables([empty, *(piece.cast(empty.schema) for piece in pieces)])
    there = found.column(ADDRESS).to_numpy()
    order = np.argsort(there)
    return found.take(pa.array(order[np.searchsorted(there, addresses, sorter=order)]))


def _pieces(table: LanceTable, ordered: Addresses, columns: Sequence[str]) -> Iterator[pa.Table]:
    owners, starts = np.unique(owners_of(ordered), return_index=True)
    for number, some in zip(owners, np.split(ordered, starts[1:]), strict=True):
        first, last = int(some[0]), int(some[-1])
        if len(some) * DENSE >= last - first + 1:
            rows = _filtered(table, int(number), f"{ADDRESS} >= {first} AND {ADDRESS} <= {last}", columns)
            yield rows.filter(pa.array(np.isin(rows.column(ADDRESS).to_numpy(), some)))
            continue
        for start in range(0, len(some), IN_LIST_MAX):
            wanted = ", ".join(map(str, some[start : start + IN_LIST_MAX].tolist()))
            yield _filtered(table, int(number), f"{ADDRESS} IN ({wanted})", columns)


def _filtered(table: LanceTable, number: int, condition: str, columns: Sequence[str]) -> pa.Table:
    """The rows that a condition on the address names. Lance else reads narrow columns whole beside the filter."""
    with lance_errors(f"read changed rows of table {table.ref.location}"):
        scanner = table.scanner(
            columns,
            filter=condition,
            fragments=[table.fragment(number)],
            with_row_address=True,
            late_materialization=True,
        )
        rows = scanner.to_table()
        drain(table.dataset)
    return rows


def _read(rows: pa.Table, table: LanceTable, columns: Sequence[str]) -> pa.Table:
    return blobs.rows_read(rows.select([ADDRESS, *columns]), table.schema)
