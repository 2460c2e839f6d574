"""Whether cells differ: bit for bit, so that what was written again is the same, NaN included."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc, whole

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]

_BITS: dict[pa.DataType, pa.DataType] = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}


def differ(left: pa.Array, right: pa.Array) -> Mask:
    """For each place whether the two cells differ. Null is a value of its own."""
    if left.type != right.type:
        return _differ_in_type(left, right)
    missing = mask_of(left.is_null()), mask_of(right.is_null())
    unequal = _lists_differ(left, right) if _is_list(left.type) else _scalars_differ(left, right)
    return np.where(missing[0] | missing[1], missing[0] != missing[1], unequal)


def _differ_in_type(left: pa.Array, right: pa.Array) -> Mask:
    """Values of another type are compared as that type where they can be; else only null is equal to null."""
    try:
        return differ(left.cast(right.type), right)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return mask_of(left.is_valid()) | mask_of(right.is_valid())


def _scalars_differ(left: pa.Array, right: pa.Array) -> Mask:
    bits = _BITS.get(left.type)
    if bits is not None:
        left, right = left.view(bits), right.view(bits)
    return mask_of(pc.not_equal(left, right).fill_null(False))


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind)


def _lists_differ(left: pa.Array, right: pa.Array) -> Mask:
    sizes = _sizes(left), _sizes(right)
    unequal = sizes[0] != sizes[1]
    alike = np.flatnonzero(~unequal)
    if not len(alike):
        return unequal
    picked = pa.array(alike)
    items = differ(whole(pc.list_flatten(left.take(picked))), whole(pc.list_flatten(right.take(picked))))
    owners = np.repeat(np.arange(len(alike)), sizes[0][alike])
    unequal[alike[np.unique(owners[items])]] = True
    return unequal


def _sizes(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return pc.list_value_length(values).fill_null(0).cast(pa.int64()).to_numpy(zero_copy_only=False)


def mask_of(values: pa.Array) -> Mask:
    """Bools without nulls as a mask."""
    return values.to_numpy(zero_copy_only=False).astype(bool)


def either(left: pa.Array, right: pa.Array, take_right: Mask) -> pa.Array:
    """Cell by cell the left or the right one."""
    if not take_right.any():
        return left
    places = np.arange(len(left))
    return pa.concat_arrays([left, right.cast(left.type)]).take(
        pa.array(np.where(take_right, places + len(left), places))
    )
