"""Groups of the common kind without an engine: by stored properties, with counts and aggregates of stored integers.

Rows are grouped by the nodes they have first: numbers, where an engine would compare texts. What this does not know is
left to the engine, and both give the same groups in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from omnigraph.execute.bindings import Entities
from omnigraph.execute.columns import ranks_of
from omnigraph.execute.rows import type_of
from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan.reads import is_row_count
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.bindings import Bindings
    from omnigraph.execute.execution import Execution
    from omnigraph.plan.cut import Cut

_compute = cast("Any", pc)
_PLAIN = frozenset({ScalarType.STRING, ScalarType.BOOL, ScalarType.DATE, ScalarType.DATE_TIME})
_EXACT_MAX = 2**53
"""Sums of integers up to this are exact as floats, whatever their order."""
_PRESELECT = 8
"""If a limit leaves less than this part of the groups, only those are put in order that may be among them."""


@dataclass(frozen=True)
class _Groups:
    """For each row its group; for each group the first of its rows."""

    of_rows: Numbers
    first_rows: Numbers

    def __len__(self) -> int:
        return len(self.first_rows)


def simple_groups(
    execution: Execution, read: ir.CheckedRead, bindings: Bindings, cut: Cut
) -> list[pa.ChunkedArray] | None:
    """The columns of a grouped read, in order and cut; None if it is not of the common kind."""
    if not _is_simple(read, bindings):
        return None
    keys = tuple(dict.fromkeys(column.value for column in read.columns if not column.aggregated))
    groups = _grouped(execution, bindings, cast("tuple[ir.Property | ir.Identity, ...]", keys))
    columns: dict[ir.Expression, pa.Array] = {}
    for value in dict.fromkeys(column.value for column in read.columns):
        if isinstance(value, ir.Aggregate):
            found = _aggregated(execution, value, bindings, groups)
            if found is None:
                return None
            columns[value] = found
    chosen = np.arange(len(groups))
    if read.order:
        chosen = _preselected(columns.get(read.order[0].value), read.order[0].descending, cut, len(groups))
    for key in keys:
        columns[key] = _gathered(execution, bindings, key, groups.first_rows[chosen])
    for value in columns:
        if isinstance(value, ir.Aggregate):
            columns[value] = columns[value].take(pa.array(chosen))
    order = _ordered(read, columns, groups.first_rows[chosen])
    page = pa.array(order[cut.offset : cut.end])
    return [pa.chunked_array([columns[c.value].take(page)]).cast(type_of(c.value)) for c in read.columns]


# -- what is simple ------------------------------------------------------------------------------------


def _is_simple(read: ir.CheckedRead, bindings: Bindings) -> bool:
    if not read.grouped or read.distinct or not bindings.count:
        return False
    values = {column.value for column in read.columns}
    if any(key.is_rank or key.value not in values for key in read.order):
        return False
    keys = [column.value for column in read.columns if not column.aggregated]
    aggregates = [column.value for column in read.columns if column.aggregated]
    return (
        len(keys) > 0
        and all(_is_stored(value, bindings) and _is_plain(value.type) for value in keys)
        and all(isinstance(value, ir.Aggregate) and _is_simple_aggregate(value, bindings) for value in aggregates)
    )


def _is_simple_aggregate(value: ir.Aggregate, bindings: Bindings) -> bool:
    if is_row_count(value):
        return True
    argument = value.argument
    is_integer = isinstance(argument.type, PropType) and argument.type.scalar.is_integer and _is_plain(argument.type)
    return value.function in ("sum", "avg") and not value.distinct and is_integer and _is_stored(argument, bindings)


def _is_stored(value: ir.Expression, bindings: Bindings) -> bool:
    if not isinstance(value, ir.Property | ir.Identity) or value.variable is None:
        return False
    entities = bindings.columns.get(value.variable)
    return isinstance(entities, Entities) and entities.kinds is None


def _is_plain(kind: ir.ValueType) -> bool:
    """Whether equal values are the same value: floats are not, with their zeros and NaNs."""
    if not isinstance(kind, PropType) or kind.is_list or kind.is_vector or kind.is_blob:
        return False
    return kind.scalar in _PLAIN or kind.scalar.is_integer


# -- groups --------------------------------------------------------------------------------------------


def _grouped(execution: Execution, bindings: Bindings, keys: Sequence[ir.Property | ir.Identity]) -> _Groups:
    """Group rows by the nodes the keys are of, then those groups by the keys, unless they differ anyway."""
    names = sorted({cast("str", key.variable) for key in keys})
    for name in names:
        ordinals = cast("Entities", bindings.columns[name]).ordinals
        if _identified(execution, bindings, name, keys) and _are_distinct(ordinals):
            return _Groups(np.arange(bindings.count), np.arange(bindings.count))
    groups = _numbered([cast("Entities", bindings.columns[name]).ordinals for name in names])
    if all(_identified(execution, bindings, name, keys) for name in names):
        return groups
    codes = [_codes(_gathered(execution, bindings, key, groups.first_rows)) for key in keys]
    merged = _numbered(codes)
    if len(merged) == len(groups):
        return groups
    return _Groups(merged.of_rows[groups.of_rows], groups.first_rows[merged.first_rows])


def _identified(execution: Execution, bindings: Bindings, name: str, keys: Sequence[ir.Property | ir.Identity]) -> bool:
    """Whether one of the keys tells the nodes of a variable from each other."""
    table = cast("Entities", bindings.columns[name]).keys[0]
    kind, _, named = table.partition(":")
    key = execution.catalog.node_types[named].key if kind == "node" else ()
    return any(
        each.variable == name
        and (each.field is ir.IdentityField.ID if isinstance(each, ir.Identity) else key == (each.name,))
        for each in keys
    )


def _numbered(codes: Sequence[Numbers]) -> _Groups:
    """Number what is equal in all of these, in the order in which it is met first."""
    combined = codes[0]
    for more in codes[1:]:
        combined = np.unique(combined, return_inverse=True)[1] * (int(more.max()) + 2) + (more + 1)
    if _is_increasing(combined):
        rows = np.arange(len(combined))
        return _Groups(rows, rows)
    _, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return _Groups(places[inverse], first[order])


def _is_increasing(numbers: Numbers) -> bool:
    return len(numbers) < 2 or bool((numbers[1:] > numbers[:-1]).all())


def _are_distinct(numbers: Numbers) -> bool:
    return _is_increasing(numbers) or int(np.bincount(numbers + 1).max()) == 1


def _codes(values: pa.Array) -> Numbers:
    """Equal numbers for equal values; null is a value here."""
    return np.asarray(_compute.dictionary_encode(values, null_encoding="encode").indices).astype(np.int64)


def _gathered(execution: Execution, bindings: Bindings, value: ir.Expression, rows: Numbers) -> pa.Array:
    column = cast("ir.Property | ir.Identity", value)
    name = column.name if isinstance(column, ir.Property) else column.field.value
    entities = cast("Entities", bindings.columns[cast("str", column.variable)]).take(rows)
    found = cast("Any", execution.gather(entities, [name]).column(name).combine_chunks())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


# -- aggregates ----------------------------------------------------------------------------------------


def _aggregated(execution: Execution, value: ir.Aggregate, bindings: Bindings, groups: _Groups) -> pa.Array | None:
    """One value for each group; None if it cannot be said exactly."""
    if is_row_count(value):
        return pa.array(_sums(bindings.weights, groups))
    gathered = _gathered(execution, bindings, value.argument, np.arange(bindings.count))
    present = np.asarray(gathered.is_valid())
    numbers = np.asarray(gathered.fill_null(0)).astype(np.float64)
    weights = present.astype(np.int64) if bindings.weights is None else np.where(present, bindings.weights, 0)
    weighed = numbers * weights
    if float(np.abs(weighed).sum()) > _EXACT_MAX:
        return None
    counts = _sums(weights, groups)
    totals = np.bincount(groups.of_rows, weighed, minlength=len(groups))
    missing = counts == 0
    if value.function == "avg":
        totals = totals / np.maximum(counts, 1)
    return pa.array(totals, mask=missing)


def _sums(weights: Numbers | None, groups: _Groups) -> Numbers:
    if weights is None:
        return np.bincount(groups.of_rows, minlength=len(groups))
    if len(groups) == len(weights):
        return weights  # every row is a group, in order
    sums = np.zeros(len(groups), np.int64)
    np.add.at(sums, groups.of_rows, weights)
    return sums


# -- order ---------------------------------------------------------------------------------------------


def _preselected(first: pa.Array | None, descending: bool, cut: Cut, count: int) -> Numbers:
    """The groups that can be among those returned, by what is ordered by first."""
    if first is None or cut.end is None or first.null_count or not 0 < cut.end * _PRESELECT < count:
        return np.arange(count)
    values = np.asarray(first)
    if descending:
        return np.flatnonzero(values >= np.partition(values, count - cut.end)[count - cut.end])
    return np.flatnonzero(values <= np.partition(values, cut.end - 1)[cut.end - 1])


def _ordered(read: ir.CheckedRead, columns: Mapping[ir.Expression, pa.Array], first_rows: Numbers) -> Numbers:
    """Positions of the groups in order: by the order keys, then by what tells them apart; without, as they are met."""
    if not read.order:
        return np.argsort(first_rows, kind="stable")
    wanted: dict[ir.Expression, bool] = {}
    for value, descending in [(key.value, key.descending) for key in read.order] + [
        (column.value, False) for column in read.columns if not column.aggregated
    ]:
        wanted.setdefault(value, descending)
    ranks = [_ranks(columns[value], descending=descending) for value, descending in wanted.items()]
    return np.lexsort(ranks[::-1])


def _ranks(values: pa.Array, *, descending: bool) -> Numbers:
    """For each value its place among all distinct ones; nulls first in ascending order and last in descending."""
    encoded = _compute.dictionary_encode(values)
    places = ranks_of(pa.chunked_array([encoded.dictionary])).astype(np.int64)
    last = len(places)
    if descending:
        places = last - 1 - places
    codes = np.asarray(encoded.indices.fill_null(last))
    return np.append(places, last if descending else -1)[codes]
