"""Columns of frames: Arrow arrays of any type in, arrays of the declared type out.

Whole columns are cast at once. If one does not fit, its values are looked at one by one, as those of records are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema.arrow import arrow_type
from omnigraph.write.blobs import BlobColumns, build_blob
from omnigraph.write.columns import build_column
from omnigraph.write.compute import pc
from omnigraph.write.lists import Lists, lists_of, vectors_of
from omnigraph.write.scalars import Column, days_of_texts, times_of_texts
from omnigraph.write.values import DAY_BOUNDS, MS_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Callable

types: Any = pa.types

_DAY_MS = 86_400_000
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def cast_column(column: pa.Array | pa.ChunkedArray, declared: PropType) -> Column | BlobColumns:
    """Type a column of a frame. What does not fit is null and bad."""
    array = plain_array(column)
    if declared.is_blob:
        return _blobs(array)
    if declared.is_vector or declared.is_list:
        return _lists(array, declared)
    return _scalars(array, declared)


def plain_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Give one array without dictionaries, runs, extensions and views."""
    if isinstance(column, pa.ChunkedArray):
        chunks = [plain_array(chunk) for chunk in column.chunks] or [plain_array(pa.array([], column.type))]
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    array: Any = column
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if types.is_dictionary(array.type):
        array = plain_array(array.dictionary).take(array.indices)
    if types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if types.is_string_view(array.type) or types.is_large_string(array.type):
        array = array.cast(pa.string())
    return array


# -- scalars -------------------------------------------------------------------------------------------


def _scalars(array: pa.Array, declared: PropType) -> Column:
    if types.is_null(array.type):
        return Column(pa.nulls(len(array), arrow_type(declared)))
    if declared.scalar in (ScalarType.DATE, ScalarType.DATE_TIME):
        array = _counts(array, declared.scalar)
    try:
        cast = _CASTS.get(declared.scalar, _integers)(array, arrow_type(declared))
    except pa.ArrowException:
        cast = None
    return build_column(_python(array, declared.scalar), declared) if cast is None else Column(cast)


def _python(array: pa.Array, scalar: ScalarType) -> list[object]:
    try:
        values = array.to_pylist()
    except (ValueError, OverflowError):  # times of day in nanoseconds, and other things Python has no object for
        return list(array)
    if scalar.is_integer and types.is_floating(array.type):
        # Frames have whole numbers as floats wherever one was missing.
        return [int(value) if value is not None and value.is_integer() else value for value in values]
    return values


def _strings(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    return array if array.type == wanted else None


def _is_number(kind: pa.DataType) -> bool:
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def _integers(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    return array.cast(wanted) if _is_number(array.type) else None


def _floats(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if not _is_number(array.type):
        return None
    # Numbers are rounded to what the type holds, as those of JSON are; but F32 has to stay finite.
    cast = array.cast(pa.float64(), safe=False).cast(wanted, safe=False)
    if wanted == pa.float32() and not pc.all(pc.is_finite(cast), min_count=0).as_py():
        return None
    return cast


def _days(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if array.type == pa.string():
        return days_of_texts(array)
    return array.cast(pa.int32()).cast(wanted) if _within(array, DAY_BOUNDS) else None


def _times(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if array.type == pa.string():
        return times_of_texts(array)
    return array.cast(pa.int64()).cast(wanted) if _within(array, MS_BOUNDS) else None


def _within(array: pa.Array, bounds: tuple[int, int]) -> bool:
    if not types.is_integer(array.type):
        return False
    found = pc.min_max(array).as_py()
    return found["min"] is None or (bounds[0] <= found["min"] and found["max"] <= bounds[1])


_CASTS: dict[ScalarType, Callable[[pa.Array, pa.DataType], pa.Array | None]] = {
    ScalarType.STRING: _strings,
    ScalarType.BOOL: _strings,
    ScalarType.F32: _floats,
    ScalarType.F64: _floats,
    ScalarType.DATE: _days,
    ScalarType.DATE_TIME: _times,
}


def _counts(array: pa.Array, scalar: ScalarType) -> pa.Array:
    """Turn days and times of any unit into the counts that are stored; anything else is left as it is."""
    kind = array.type
    if types.is_date32(kind):
        unit, counts = "d", array.cast(pa.int32()).cast(pa.int64())
    elif types.is_date64(kind):
        unit, counts = "ms", array.cast(pa.int64())
    elif types.is_timestamp(kind):
        unit, counts = kind.unit, array.cast(pa.int64())
    else:
        return array
    known = counts.is_valid().to_numpy(zero_copy_only=False)
    found = _scaled(counts.fill_null(0).to_numpy(), unit, scalar is ScalarType.DATE)
    return pa.array(found, pa.int64(), mask=~known)


def _scaled(counts: np.ndarray, unit: str, to_days: bool) -> np.ndarray:
    """Change the unit, rounding down. What would overflow is far outside of what is allowed, and stays so."""
    if unit == "d":
        return counts if to_days else counts * _DAY_MS
    wanted = (1, 86_400) if to_days else (1000, 1)
    per_second = _PER_SECOND[unit]
    if per_second * wanted[1] >= wanted[0]:
        return np.floor_divide(counts, per_second * wanted[1] // wanted[0])
    limit = np.iinfo(np.int64).max // wanted[0]
    return np.clip(counts, -limit, limit) * wanted[0]


# -- lists, vectors and blobs --------------------------------------------------------------------------


def _lists(array: pa.Array, declared: PropType) -> Column:
    kind = array.type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return build_column(array.to_pylist(), declared)
    present = array.is_valid().to_numpy(zero_copy_only=False)
    lengths = pc.list_value_length(array).fill_null(0).to_numpy().astype(np.int64)
    item_type = PropType(ScalarType.F32 if declared.is_vector else declared.scalar)
    items = cast_column(array.flatten(), item_type)
    assert isinstance(items, Column)
    lists = Lists(lengths, present, items, [])
    return vectors_of(lists, declared) if declared.is_vector else lists_of(lists, declared)


def _blobs(array: pa.Array) -> BlobColumns:
    kind = array.type
    is_binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    if is_binary or types.is_binary_view(kind) or types.is_null(kind):
        return BlobColumns(array.cast(pa.large_binary()), pa.nulls(len(array), pa.string()))
    return build_blob(array.to_pylist())
