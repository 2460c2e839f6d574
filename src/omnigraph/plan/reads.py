"""From a checked read to its plan: a visible row of passes, each from one form to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.plan.estimate import Estimates, Sizes
from omnigraph.plan.key_ids import keys_to_ids
from omnigraph.plan.patterns import plan_pattern
from omnigraph.plan.returned import wanted
from omnigraph.plan.steps import ReadPlan
from omnigraph.plan.transform import transform
from omnigraph.plan.unread import trust_edges
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnigraph.schema.catalog import Catalog


def plan_read(read: ir.CheckedRead, catalog: Catalog, sizes: Sizes) -> ReadPlan:
    """Plan a query for tables of these sizes."""
    for rewrite in REWRITES:
        read = rewrite(read, catalog)
    plan = ReadPlan(read, plan_pattern(read.pattern, frozenset(), wanted(read), Estimates(catalog, sizes)))
    for improve in IMPROVEMENTS:
        plan = improve(plan, catalog)
    return plan


# -- rewrites of the query -----------------------------------------------------------------------------


def inline_columns(read: ir.CheckedRead, _: Catalog) -> ir.CheckedRead:
    """Put the values of columns where their names stand, so that every expression reads the pattern itself."""
    values: dict[str, ir.Expression] = {}
    columns: list[ir.Column] = []
    for column in read.columns:
        value = _inlined(column.value, values)
        values[column.name] = value
        columns.append(replace(column, value=value))
    order = tuple(replace(key, value=_inlined(key.value, values)) for key in read.order)
    return replace(read, columns=tuple(columns), order=order)


def count_rows(read: ir.CheckedRead, _: Catalog) -> ir.CheckedRead:
    """Count rows instead of values that are never null: then nobody has to read them."""
    columns = tuple(replace(column, value=_counting_rows(column.value)) for column in read.columns)
    order = tuple(replace(key, value=_counting_rows(key.value)) for key in read.order)
    return replace(read, columns=columns, order=order)


REWRITES: tuple[Callable[[ir.CheckedRead, Catalog], ir.CheckedRead], ...] = (inline_columns, count_rows, keys_to_ids)
IMPROVEMENTS: tuple[Callable[[ReadPlan, Catalog], ReadPlan], ...] = (trust_edges,)

ROW = ir.Literal(value=True, type=ir.BOOL)
"""What `count` has for an argument once it counts rows."""


def is_row_count(aggregate: ir.Aggregate) -> bool:
    """Tell whether an aggregate only counts rows."""
    return aggregate.function == "count" and aggregate.argument == ROW and not aggregate.distinct


def _counting_rows(value: ir.Expression) -> ir.Expression:
    def rewrite(part: ir.Expression) -> ir.Expression | None:
        if not isinstance(part, ir.Aggregate) or part.function != "count" or part.distinct:
            return None
        return None if part.argument.type.nullable else replace(part, argument=ROW)

    return transform(value, rewrite)


def _inlined(value: ir.Expression, values: Mapping[str, ir.Expression]) -> ir.Expression:
    def rewrite(part: ir.Expression) -> ir.Expression | None:
        return values[part.name] if isinstance(part, ir.ColumnRef) else None

    return transform(value, rewrite)
