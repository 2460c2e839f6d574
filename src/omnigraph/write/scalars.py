"""Columns of single values. Most columns are of one Python type: those become Arrow in one call."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema.arrow import arrow_type
from omnigraph.write.compute import pc
from omnigraph.write.values import DAY_BOUNDS, MS_BOUNDS, Unfit, read_value

if TYPE_CHECKING:
    from collections.abc import Sequence

Bad = list[tuple[int, str]]

_NONE = type(None)
_NUMBERS = {int, float}
_REFUSED = (pa.ArrowException, ValueError, OverflowError, TypeError)

# Only forms that Arrow and `model.times` read alike; all others are read one by one.
_CANONICAL_DATE = r"^[1-9]\d{3}-\d{2}-\d{2}$"
_CANONICAL_UTC = r"^[1-9]\d{3}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$"
_CANONICAL_NAIVE = r"^[1-9]\d{3}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,3})?$"


@dataclass(frozen=True, slots=True)
class Column:
    """A typed column. `bad` holds index and reason of the values that did not fit; they are null in `array`."""

    array: pa.Array
    bad: Bad = field(default_factory=list[tuple[int, str]])


def build_scalars(values: Sequence[object], scalar: ScalarType, *, strict: bool = True) -> Column:
    """Type the values of a scalar property. Permissive: what does not fit is null, and nothing is bad."""
    array = at_once(values, scalar)
    if array is not None:
        return Column(array)
    column = one_by_one(values, scalar)
    return column if strict else Column(column.array)


def at_once(values: Sequence[object], scalar: ScalarType) -> pa.Array | None:
    """Type a whole column in one call; None if a value is of another type than most columns have."""
    kinds = set(map(type, values))
    kinds.discard(_NONE)
    if not kinds:
        return pa.nulls(len(values), _stored(scalar))
    try:
        return _typed(values, kinds, scalar)
    except _REFUSED:
        return None


def _typed(values: Sequence[object], kinds: set[type], scalar: ScalarType) -> pa.Array | None:
    if scalar is ScalarType.DATE:
        return _days(values, kinds)
    if scalar is ScalarType.DATE_TIME:
        return _times(values, kinds)
    if scalar.is_float:
        return _floats(values, scalar) if kinds <= _NUMBERS else None
    wanted = {ScalarType.STRING: str, ScalarType.BOOL: bool}.get(scalar, int)
    return pa.array(values, _stored(scalar)) if kinds == {wanted} else None


def _floats(values: Sequence[object], scalar: ScalarType) -> pa.Array | None:
    wide = pa.array(values, pa.float64())
    if scalar is ScalarType.F64:
        return wide
    array = pc.cast(wide, pa.float32(), safe=False)
    return array if _holds(pc.is_finite(array)) else None


def _days(values: Sequence[object], kinds: set[type]) -> pa.Array | None:
    if kinds == {str}:
        return days_of_texts(pa.array(values, pa.string()))
    if kinds == {int}:
        counts = pa.array(values, pa.int32())
        return counts.cast(pa.date32()) if _between(counts, DAY_BOUNDS) else None
    return pa.array(values, pa.date32()) if kinds == {date} else None


def _times(values: Sequence[object], kinds: set[type]) -> pa.Array | None:
    stored = _stored(ScalarType.DATE_TIME)
    if kinds == {str}:
        return times_of_texts(pa.array(values, pa.string()))
    if kinds == {int}:
        counts = pa.array(values, pa.int64())
        return counts.cast(stored) if _between(counts, MS_BOUNDS) else None
    return None


def days_of_texts(texts: pa.Array) -> pa.Array | None:
    """Read days all at once; None if one of them is not written as most are. Raises Arrow's errors as well."""
    return pc.cast(texts, pa.date32()) if _match(texts, _CANONICAL_DATE) else None


def times_of_texts(texts: pa.Array) -> pa.Array | None:
    """Read times all at once; None if one of them is not written as most are. Raises Arrow's errors as well."""
    stored = _stored(ScalarType.DATE_TIME)
    if _match(texts, _CANONICAL_UTC):
        return pc.cast(texts, stored)
    return pc.cast(texts, pa.timestamp("ms")).cast(stored) if _match(texts, _CANONICAL_NAIVE) else None


def _match(texts: pa.Array, pattern: str) -> bool:
    return _holds(pc.match_substring_regex(texts, pattern))


def _holds(flags: pa.Array) -> bool:
    return pc.all(flags, min_count=0).as_py()


def _between(counts: pa.Array, bounds: tuple[int, int]) -> bool:
    found = pc.min_max(counts).as_py()
    return bounds[0] <= found["min"] and found["max"] <= bounds[1]


def one_by_one(values: Sequence[object], scalar: ScalarType) -> Column:
    """Type a column value by value, and say which ones do not fit and why."""
    stored: list[object] = []
    bad: Bad = []
    for index, value in enumerate(values):
        try:
            stored.append(read_value(value, scalar))
        except Unfit as unfit:
            stored.append(None)
            bad.append((index, str(unfit)))
    return Column(_of_stored(stored, scalar), bad)


def _of_stored(stored: list[object], scalar: ScalarType) -> pa.Array:
    if scalar is ScalarType.DATE:
        return pa.array(stored, pa.int32()).cast(pa.date32())
    if scalar is ScalarType.DATE_TIME:
        return pa.array(stored, pa.int64()).cast(_stored(scalar))
    return pa.array(stored, _stored(scalar))


def _stored(scalar: ScalarType) -> pa.DataType:
    return arrow_type(PropType(scalar))
