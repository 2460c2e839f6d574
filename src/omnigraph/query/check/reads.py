"""Queries that read: pattern, columns, order, limit, and the types they touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.query import ast, ir
from omnigraph.query.check.columns import check_columns, check_groups
from omnigraph.query.check.order import check_amount, check_fusion, check_order, check_order_scope
from omnigraph.query.check.patterns import check_pattern
from omnigraph.query.walk import blocks

if TYPE_CHECKING:
    from omnigraph.query.check.context import Place


def check_read(
    place: Place, query: ast.ParsedQuery, read: ast.Read, parameters: tuple[ir.QueryParameter, ...]
) -> ir.CheckedRead:
    """Check a query that reads. What it gives is complete only if nothing was reported."""
    pattern = check_pattern(place, read.match)
    by_name = check_columns(place, read.projections)
    order, order_aggregates = check_order(place, read, by_name)
    columns = tuple(column for column in by_name.values() if column is not None)
    grouped = order_aggregates or any(column.aggregated for column in columns)
    if grouped and len(by_name) == len(read.projections):
        check_groups(place, tuple(by_name.values()), [node.span for node in read.projections])
    check_order_scope(place, read, order, columns, grouped=grouped)
    check_fusion(place, read, columns, order)
    return ir.CheckedRead(
        query.name.text,
        parameters,
        query.description,
        query.instruction,
        pattern,
        columns,
        read.distinct,
        grouped,
        order,
        check_amount(place, "limit", read.limit),
        check_amount(place, "offset", read.offset),
        reads=tuple(sorted(_touched(pattern))),
    )


def _touched(pattern: ir.Pattern) -> set[ir.TypeUse]:
    found = {ir.TypeUse(False, name) for scan in pattern.scans for name in scan.types}
    for expand in pattern.expansions:
        found.add(ir.TypeUse(True, expand.edge))
        found.update(ir.TypeUse(False, name) for name in (expand.source_type, expand.target_type))
    for block in blocks(pattern):
        found |= _touched(block.pattern)
    return found
