"""Columns as JSON values: the inverse of what a load reads. What is written here is read back as the same value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from omnigraph.model.compute import pc
from omnigraph.model.types import PropType, ScalarType

if TYPE_CHECKING:
    from collections.abc import Callable


def json_values(column: pa.Array | pa.ChunkedArray, declared: PropType) -> list[object]:
    """One JSON value for each row; no type but Blob, whose values need reading, is left out."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if declared.is_list or declared.is_vector:
        return _nested(cast("pa.ListArray", whole), declared)
    return _plain(whole, declared.scalar)


def _nested(lists: pa.ListArray | pa.FixedSizeListArray, declared: PropType) -> list[object]:
    """All items at once, then cut into rows; a list that is null has none."""
    lengths = [0 if length is None else length for length in pc.list_value_length(lists).to_pylist()]
    items = _plain(pc.list_flatten(lists), ScalarType.F32 if declared.is_vector else declared.scalar)
    rows: list[object] = []
    start = 0
    for length, is_there in zip(lengths, lists.is_valid().to_pylist(), strict=True):
        size = length if is_there else 0
        rows.append(items[start : start + size] if is_there else None)
        start += size
    return rows


def _plain(values: pa.Array, scalar: ScalarType) -> list[object]:
    form = _FORMS.get(scalar)
    return values.to_pylist() if form is None else form(values)


def _floats(values: pa.Array) -> list[object]:
    """JSON has no word for what is not finite: these become the strings that a load understands."""
    found = values.cast(pa.float64()).to_pylist()
    if pc.all(pc.is_finite(values), min_count=0).as_py():
        return found
    return [_word(value) if value is not None and not math.isfinite(value) else value for value in found]


def _word(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _days(values: pa.Array) -> list[object]:
    return values.cast(pa.string()).to_pylist()


def _times(values: pa.Array) -> list[object]:
    """RFC 3339 in UTC, with the milliseconds that are stored."""
    return pc.replace_substring(values.cast(pa.string()), " ", "T").to_pylist()


_FORMS: dict[ScalarType, Callable[[pa.Array], list[object]]] = {
    ScalarType.F32: _floats,
    ScalarType.F64: _floats,
    ScalarType.DATE: _days,
    ScalarType.DATE_TIME: _times,
}
