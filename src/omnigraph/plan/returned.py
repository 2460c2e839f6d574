"""What a read makes of the rows of its pattern, and which variables it needs for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.query import ir
from omnigraph.query.walk import variables

if TYPE_CHECKING:
    from collections.abc import Iterator


def wanted(read: ir.CheckedRead) -> frozenset[str]:
    """Give the variables whose values are returned, computed with, or needed to put equal rows in order."""
    found = {name for value in values(read) for name in variables(value)}
    if is_ordered_by_row(read):
        found.update(tie_breakers(read.pattern))
    return frozenset(found)


def values(read: ir.CheckedRead) -> Iterator[ir.Expression]:
    """Give every expression that is computed from the rows."""
    yield from (column.value for column in read.columns)
    yield from (key.value for key in read.order)


def is_ordered_by_row(read: ir.CheckedRead) -> bool:
    """Tell whether single rows are put in order, not groups or distinct ones."""
    return bool(read.order) and not read.grouped and not read.distinct


def tie_breakers(pattern: ir.Pattern) -> list[str]:
    """Give the variables whose ids order rows that are equal otherwise, by their names."""
    return sorted(
        variable.name
        for variable in pattern.variables
        if isinstance(variable.type, ir.NodeValue | ir.EdgeValue) and "#" not in variable.name
    )
