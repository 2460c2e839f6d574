"""Which types a property can change to without losing stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.types import PropType, ScalarType

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDER: Mapping[ScalarType, tuple[ScalarType, ...]] = {
    ScalarType.I32: (ScalarType.I64, ScalarType.F64),
    ScalarType.U32: (ScalarType.U64, ScalarType.I64, ScalarType.F64),
    ScalarType.F32: (ScalarType.F64,),
}
"""Number types that hold every value of another one exactly."""


def why_refused(before: PropType, after: PropType, is_key: bool) -> str | None:
    """Say why stored values cannot become values of another type; None if they can."""
    if before.is_list != after.is_list:
        return "one value and a list of values are stored differently"
    if before.vector_dim != after.vector_dim:
        return "vectors of different dimensions cannot be made from each other"
    if before.scalar is after.scalar:
        return None
    if after.scalar not in WIDER.get(before.scalar, ()):
        narrower = before.scalar in WIDER.get(after.scalar, ())
        return f"{after.scalar} cannot hold every {before.scalar}" if narrower else "values are not converted"
    # 0.1 as F32 is 0.10000000149011612 as F64: every id would have to change.
    if is_key and before.scalar is ScalarType.F32:
        return "it is in the key, and F64 writes the same number differently"
    return None


def is_rewrite(before: PropType, after: PropType) -> bool:
    """Tell whether a column has to be written anew: an enum is stored as its strings, null is a matter of form."""
    return before.scalar is not after.scalar


def lost_values(before: PropType, after: PropType) -> bool:
    """Tell whether strings that could be stored are not allowed any more."""
    if after.enum_values is None:
        return False
    return before.enum_values is None or not set(before.enum_values) <= set(after.enum_values)


def added_values(before: PropType, after: PropType) -> tuple[str, ...]:
    """Give the values by which an enum grew; nothing if it did not only grow."""
    if before.enum_values is None or after.enum_values is None or lost_values(before, after):
        return ()
    return tuple(sorted(set(after.enum_values) - set(before.enum_values)))
