"""From a checked read to its plan: a visible row of passes, each from one form to the next."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from omnigraph.plan.estimate import Estimates, Sizes
from omnigraph.plan.patterns import plan_pattern
from omnigraph.plan.steps import ReadPlan
from omnigraph.query import ir
from omnigraph.query.walk import parts, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from omnigraph.schema.catalog import Catalog


def plan_read(read: ir.CheckedRead, catalog: Catalog, sizes: Sizes) -> ReadPlan:
    """Plan a query for tables of these sizes."""
    for rewrite in REWRITES:
        read = rewrite(read)
    return ReadPlan(read, plan_pattern(read.pattern, frozenset(), wanted(read), Estimates(catalog, sizes)))


# -- rewrites of the query -----------------------------------------------------------------------------


def inline_columns(read: ir.CheckedRead) -> ir.CheckedRead:
    """Put the values of columns where their names stand, so that every expression reads the pattern itself."""
    values: dict[str, ir.Expression] = {}
    columns: list[ir.Column] = []
    for column in read.columns:
        value = _inlined(column.value, values)
        values[column.name] = value
        columns.append(replace(column, value=value))
    order = tuple(replace(key, value=_inlined(key.value, values)) for key in read.order)
    return replace(read, columns=tuple(columns), order=order)


def count_rows(read: ir.CheckedRead) -> ir.CheckedRead:
    """Count rows instead of values that are never null: then nobody has to read them."""
    columns = tuple(replace(column, value=_counting_rows(column.value)) for column in read.columns)
    order = tuple(replace(key, value=_counting_rows(key.value)) for key in read.order)
    return replace(read, columns=columns, order=order)


REWRITES: tuple[Callable[[ir.CheckedRead], ir.CheckedRead], ...] = (inline_columns, count_rows)

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


def transform(value: ir.Expression, rewrite: Callable[[ir.Expression], ir.Expression | None]) -> ir.Expression:
    """Replace parts of an expression from the outside in; what `rewrite` gives is not looked into again."""
    found = rewrite(value)
    if found is not None:
        return found
    if not any(True for _ in parts(value)):
        return value
    changed = {each.name: _transformed(getattr(value, each.name), rewrite) for each in fields(value)}
    return replace(value, **changed)


def _transformed(value: Any, rewrite: Callable[[ir.Expression], ir.Expression | None]) -> Any:
    if isinstance(value, tuple):
        return tuple(_transformed(item, rewrite) for item in cast("tuple[Any, ...]", value))
    if is_dataclass(value) and isinstance(value, ir.Expression):
        return transform(value, rewrite)
    return value


# -- what is read of the pattern -----------------------------------------------------------------------


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
