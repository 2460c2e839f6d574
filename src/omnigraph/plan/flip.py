"""The same traversal seen from its other end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnigraph.query import ir


def flip(expand: ir.Expand) -> ir.Expand:
    """Give the traversal from target to source. It finds the same pairs."""
    return replace(
        expand,
        source=expand.target,
        target=expand.source,
        source_type=expand.target_type,
        target_type=expand.source_type,
        direction=expand.direction.opposite,
    )
