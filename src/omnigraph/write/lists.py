"""Columns of lists and vectors: all items of a column are typed at once, as one long column."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema.arrow import arrow_type
from omnigraph.write.scalars import Bad, Column, build_scalars
from omnigraph.write.values import items_of, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

_EMPTY: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Lists:
    """Rows of items while they are typed: how many items each row has, and which rows are there at all."""

    lengths: np.ndarray
    present: np.ndarray
    items: Column
    bad: Bad


def build_lists(values: Sequence[object], declared: PropType, *, strict: bool = True) -> Column:
    """Type the lists of a column. Strict: no item is null. Permissive: an item that does not fit is null."""
    rows, bad = _rows(values, strict)
    items = build_scalars(list(chain.from_iterable(row or _EMPTY for row in rows)), declared.scalar, strict=strict)
    return lists_of(Lists(_lengths(rows), _present(rows), items, bad), declared, strict=strict)


def build_vectors(values: Sequence[object], declared: PropType, *, strict: bool = True) -> Column:
    """Type the vectors of a column. A wrong number of items is bad in either mode: it is no scalar."""
    rows, bad = _rows(values, strict)
    items = build_scalars(list(chain.from_iterable(row or _EMPTY for row in rows)), ScalarType.F32)
    return vectors_of(Lists(_lengths(rows), _present(rows), items, bad), declared)


def lists_of(lists: Lists, declared: PropType, *, strict: bool = True) -> Column:
    """Put typed items together to lists; a row with an item that does not fit is null."""
    if strict:
        lists = _without(lists, _misfits(lists))
    offsets = np.zeros(len(lists.lengths) + 1, np.int32)
    np.cumsum(lists.lengths, out=offsets[1:])
    array = pa.ListArray.from_arrays(
        pa.array(offsets), lists.items.array, type=arrow_type(declared), mask=pa.array(~lists.present)
    )
    return Column(array, sorted(lists.bad))


def vectors_of(lists: Lists, declared: PropType) -> Column:
    """Put typed items together to vectors; a row of another length, or with an item that does not fit, is null."""
    dimension = declared.vector_dim or 0
    others = np.flatnonzero(lists.present & (lists.lengths != dimension))
    sizes = [(int(row), f"it takes {dimension} numbers, not {lists.lengths[row]}") for row in others]
    lists = _without(lists, sizes)
    lists = _without(lists, _misfits(lists))
    items, wanted = lists.items.array, arrow_type(declared)
    if not lists.present.all():
        spread = np.zeros((len(lists.present), dimension), np.float32)
        spread[lists.present] = items.to_numpy().reshape(-1, dimension)
        items = pa.array(spread.ravel())
    mask = pa.array(~lists.present)
    return Column(pa.FixedSizeListArray.from_arrays(items, type=wanted, mask=mask), sorted(lists.bad))


def _rows(values: Sequence[object], strict: bool) -> tuple[list[Sequence[object] | None], Bad]:
    if set(map(type, values)) <= {list, type(None)}:
        return list(values), []  # type: ignore[arg-type]
    rows = [items_of(value) for value in values]
    bad = [
        (index, f"{shown(value)} is not an array")
        for index, (row, value) in enumerate(zip(rows, values, strict=True))
        if row is None and value is not None
    ]
    return rows, bad if strict else []


def _lengths(rows: list[Sequence[object] | None]) -> np.ndarray:
    return np.array([0 if row is None else len(row) for row in rows], np.int64)


def _present(rows: list[Sequence[object] | None]) -> np.ndarray:
    return np.array([row is not None for row in rows], np.bool_)


def _misfits(lists: Lists) -> Bad:
    """Give the rows with an item that is null or does not fit; of each row only the first is told."""
    if not lists.items.array.null_count:
        return []
    reasons = dict(lists.items.bad)
    ends = np.cumsum(lists.lengths)
    first: dict[int, str] = {}
    for item in map(int, np.flatnonzero(lists.items.array.is_null().to_numpy(zero_copy_only=False))):
        row = int(np.searchsorted(ends, item, side="right"))
        number = item - int(ends[row] - lists.lengths[row]) + 1
        first.setdefault(row, f"item {number}: {reasons.get(item, 'it is null')}")
    return list(first.items())


def _without(lists: Lists, wrong: Bad) -> Lists:
    """Make rows null, and take their items out."""
    if not wrong:
        return lists
    kept = np.ones(len(lists.lengths), np.bool_)
    kept[[row for row, _ in wrong]] = False
    kept_items = np.repeat(kept, lists.lengths)
    numbers = np.cumsum(kept_items) - 1
    bad_items = [(int(numbers[item]), why) for item, why in lists.items.bad if kept_items[item]]
    items = Column(lists.items.array.filter(pa.array(kept_items)), bad_items)
    return Lists(np.where(kept, lists.lengths, 0), lists.present & kept, items, lists.bad + wrong)
