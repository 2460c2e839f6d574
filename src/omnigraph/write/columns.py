"""Columns from values: Python's objects in, Arrow arrays of the declared type out. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.write.lists import build_lists, build_vectors
from omnigraph.write.scalars import Column, build_scalars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.model.types import PropType

__all__ = ["Column", "build_column"]


def build_column(values: Sequence[object], declared: PropType, *, strict: bool = True) -> Column:
    """Type the values of a property. Blobs have more than one column: see `blobs.build_blob`.

    Whether null is allowed, and whether an enum has the value, is checked later.
    """
    assert not declared.is_blob
    if declared.is_vector:
        return build_vectors(values, declared, strict=strict)
    if declared.is_list:
        return build_lists(values, declared, strict=strict)
    return build_scalars(values, declared.scalar, strict=strict)
