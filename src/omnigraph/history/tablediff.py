"""What differs between two versions of one table: who came, changed or went. Images are read when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.history.cells import Mask, differ, mask_of
from omnigraph.history.views import ALL_SHARED, PropertyPair, Side, View, keeps_all, pair_properties
from omnigraph.model.compute import pc, whole
from omnigraph.storage.addresses import ADDRESS, ADDRESS_FIELD, Addresses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.storage.differing import RowPart
    from omnigraph.storage.interface import TableHandle, Tables

Positions = np.ndarray[tuple[int], np.dtype[np.int64]]

KEPT_ROWS_MAX = 250_000
"""Up to so many rows are read once, with all columns, and kept; beyond, what is needed is read again."""
KEPT_WIDE_ROWS_MAX = 20_000
"""The same where a property is a list or a vector."""
KEPT_BLOB_ROWS_MAX = 500
COMPARED_ROWS = 65_536
COMPARED_BLOB_ROWS = 500
INSERT, UPDATE, DELETE = 0, 1, 2


class SideRows:
    """Rows of one version that may differ from the other's: their ids, and the rest when it is asked for."""

    def __init__(self, view: View, side: Side, part: RowPart, keep: bool) -> None:
        self._tables: Tables = view.tables
        self._handle: TableHandle = view.open(side)
        columns = side.columns if keep else ["id"]
        pieces = list(self._tables.scan_part(self._handle, part, columns))
        names = [ADDRESS, *columns]
        rows = pa.concat_tables(pieces) if pieces else self._empty(names)
        self.ids = cast("pa.StringArray", whole(rows.column("id")))
        self._addresses: Addresses = rows.column(ADDRESS).to_numpy()
        self._rows = rows.select(columns) if keep else None

    def _empty(self, names: Sequence[str]) -> pa.Table:
        known = self._handle.schema
        return pa.schema([ADDRESS_FIELD if name == ADDRESS else known.field(name) for name in names]).empty_table()

    def rows(self, positions: Positions, columns: Sequence[str]) -> pa.Table:
        """Some of the rows, in the order asked for."""
        if self._rows is not None:
            return _taken(self._rows.select(list(columns)), positions)
        return self._tables.take_rows(self._handle, self._addresses[positions], columns).select(list(columns))


def _taken(rows: pa.Table, positions: Positions) -> pa.Table:
    """Some rows; a stretch of them is not copied."""
    count = len(positions)
    first = int(positions[0]) if count else 0
    if count and int(positions[-1]) - first == count - 1 and np.array_equal(positions, np.arange(first, first + count)):
        return rows.slice(first, count)
    return rows.take(pa.array(positions))


@dataclass(frozen=True)
class TableDiff:
    """The difference, sorted by id: for each entity what happened, and where its rows are (-1: there is none)."""

    old: Side | None
    new: Side | None
    properties: tuple[PropertyPair, ...]
    ids: pa.StringArray
    ops: Positions
    old_at: Positions
    new_at: Positions
    old_rows: SideRows | None
    new_rows: SideRows | None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def side(self) -> Side:
        """The table as it is now, or as it was last."""
        known = self.new or self.old
        assert known is not None
        return known

    def count(self, op: int) -> int:
        """How many entities came, changed or went."""
        return int(np.count_nonzero(self.ops == op))

    @cached_property
    def sort_key(self) -> tuple[bool, str]:
        """Nodes before edges, then by the id of the type."""
        return self.side.kind == "edge", self.side.type_id

    def olds(self, some: Positions) -> pa.Table:
        """Rows as they were, of entities that were there."""
        assert self.old is not None
        assert self.old_rows is not None
        return self.old_rows.rows(self.old_at[some], self.old.columns)

    def news(self, some: Positions) -> pa.Table:
        """Rows as they are, of entities that are there."""
        assert self.new is not None
        assert self.new_rows is not None
        return self.new_rows.rows(self.new_at[some], self.new.columns)

    def where(self, *ops: int) -> Positions:
        """The entities to which one of these happened."""
        return np.flatnonzero(np.isin(self.ops, ops))

    def only(self, some: Positions) -> TableDiff:
        """Less of it."""
        return TableDiff(
            self.old,
            self.new,
            self.properties,
            self.ids.take(pa.array(some)),
            self.ops[some],
            self.old_at[some],
            self.new_at[some],
            self.old_rows,
            self.new_rows,
        )

    def changed_cells(self, olds: pa.Table, news: pa.Table) -> list[tuple[str, Mask]]:
        """For each property which of these rows, given as they were and as they are, have another value."""
        return changed_cells(self.side.table.fields[1:], self.properties, olds, news)


def changed_cells(
    ends: Sequence[str], properties: Sequence[PropertyPair], olds: pa.Table, news: pa.Table
) -> list[tuple[str, Mask]]:
    """For each property, and the ends of edges, which rows have another value."""
    found = [(end, differ(whole(olds.column(end)), whole(news.column(end)))) for end in ends]
    for pair in properties:
        if pair.old is not None and pair.new is not None:
            masks = [
                differ(whole(olds.column(before)), whole(news.column(after)))
                for before, after in zip(pair.old.columns, pair.new.columns, strict=False)
            ]
        else:
            rows = news if pair.old is None else olds
            names = pair.known.columns
            masks = [mask_of(whole(rows.column(name)).is_valid()) for name in names]
        found.append((pair.name, np.logical_or.reduce(masks)))
    return found


def compare_tables(
    old_view: View, old: Side | None, new_view: View, new: Side | None, shared_below: int = ALL_SHARED
) -> TableDiff:
    """Compare two versions of a table."""
    parts = _parts(old_view, old, new_view, new, shared_below)
    total = sum(part.count for part in parts if part is not None)
    blobs = any(side is not None and side.has_blobs for side in (old, new))
    wide = any(side is not None and side.is_wide for side in (old, new))
    keep = total <= (KEPT_BLOB_ROWS_MAX if blobs else KEPT_WIDE_ROWS_MAX if wide else KEPT_ROWS_MAX)
    old_rows = SideRows(old_view, old, parts[0], keep) if old is not None and parts[0] is not None else None
    new_rows = SideRows(new_view, new, parts[1], keep) if new is not None and parts[1] is not None else None
    properties = tuple(
        pair_properties(
            old.table.properties_by_name if old is not None else {},
            new.table.properties_by_name if new is not None else {},
            shared_below,
        )
    )
    draft = _match(old, new, properties, old_rows, new_rows)
    return draft.only(_updates_that_change(draft, COMPARED_BLOB_ROWS if blobs else COMPARED_ROWS))


def _parts(
    old_view: View, old: Side | None, new_view: View, new: Side | None, shared_below: int
) -> tuple[RowPart | None, RowPart | None]:
    tables = old_view.tables
    if old is None or new is None:
        return (
            tables.whole(old_view.open(old)) if old is not None else None,
            tables.whole(new_view.open(new)) if new is not None else None,
        )
    left, right = old_view.open(old), new_view.open(new)
    if old.state.location == new.state.location and keeps_all(old.table, new.table, shared_below):
        return tables.differing(left, right)
    return tables.whole(left), tables.whole(right)


def _match(
    old: Side | None,
    new: Side | None,
    properties: tuple[PropertyPair, ...],
    old_rows: SideRows | None,
    new_rows: SideRows | None,
) -> TableDiff:
    """Who is on which side, by id. Whether those on both sides differ is not known yet."""
    nobody = cast("pa.StringArray", pa.array([], pa.string()))
    before = old_rows.ids if old_rows is not None else nobody
    after = new_rows.ids if new_rows is not None else nobody
    twin = pc.index_in(after, value_set=before).fill_null(-1).cast(pa.int64()).to_numpy(zero_copy_only=False)
    gone = np.setdiff1d(np.arange(len(before)), twin)
    ids = cast("pa.StringArray", pa.concat_arrays([after, before.take(pa.array(gone))]))
    old_at = np.concatenate([twin, gone]).astype(np.int64)
    new_at = np.concatenate([np.arange(len(after)), np.full(len(gone), -1)]).astype(np.int64)
    ops = np.where(old_at < 0, INSERT, np.where(new_at < 0, DELETE, UPDATE)).astype(np.int64)
    order = pc.sort_indices(ids).to_numpy()
    return TableDiff(
        old,
        new,
        properties,
        ids.take(pa.array(order)),
        ops[order],
        old_at[order],
        new_at[order],
        old_rows,
        new_rows,
    )


def _updates_that_change(draft: TableDiff, at_once: int) -> Positions:
    """Leave out entities whose rows were only written again."""
    keep = draft.ops != UPDATE
    both = draft.where(UPDATE)
    for some in _chunks(both[np.argsort(draft.new_at[both])], at_once):
        cells = draft.changed_cells(draft.olds(some), draft.news(some))
        keep[some] = np.logical_or.reduce([mask for _, mask in cells]) if cells else False
    return np.flatnonzero(keep)


def _chunks(positions: Positions, size: int) -> Iterator[Positions]:
    for start in range(0, len(positions), size):
        yield positions[start : start + size]
