"""Aggregates as SQL. With a weight a row stands for as many rows as its weight says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from omnigraph.plan import sql
from omnigraph.plan.expressions import lower
from omnigraph.plan.reads import is_row_count
from omnigraph.plan.sqltypes import BIGINT, DOUBLE, sql_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.plan.scope import Scope
    from omnigraph.query import ir


def lower_aggregate(aggregate: ir.Aggregate, scope: Scope, weight: exp.Expr | None) -> exp.Expr:
    """Give the SQL of an aggregate over the rows of a group."""
    if is_row_count(aggregate):
        return _whole(exp.Count(this=exp.Star()) if weight is None else exp.Sum(this=weight.copy()))
    value = lower(aggregate.argument, scope)
    return _AGGREGATES[aggregate.function](aggregate, value, None if aggregate.distinct else weight)


def can_be_weighed(aggregate: ir.Aggregate) -> bool:
    """Tell whether rows may stand for several: not where every value becomes an item of a list."""
    return aggregate.function != "collect" or aggregate.distinct


def _count(aggregate: ir.Aggregate, value: exp.Expr, weight: exp.Expr | None) -> exp.Expr:
    if weight is None:
        return _whole(exp.Count(this=_argument(aggregate, value)))
    return _whole(exp.Sum(this=_weight_of(value, weight)))


def _sum(aggregate: ir.Aggregate, value: exp.Expr, weight: exp.Expr | None) -> exp.Expr:
    return exp.Sum(this=_weighed(aggregate, value, weight))


def _avg(aggregate: ir.Aggregate, value: exp.Expr, weight: exp.Expr | None) -> exp.Expr:
    if weight is None:
        return exp.Avg(this=_weighed(aggregate, value, weight))
    total = exp.Sum(this=_weighed(aggregate, value, weight))
    count = sql.cast(exp.Sum(this=_weight_of(value, weight)), DOUBLE)
    return sql.binary(exp.Div, total, count)


def _least(_: ir.Aggregate, value: exp.Expr, __: exp.Expr | None) -> exp.Expr:
    return exp.Min(this=sql.own(value))


def _most(_: ir.Aggregate, value: exp.Expr, __: exp.Expr | None) -> exp.Expr:
    return exp.Max(this=sql.own(value))


def _collect(aggregate: ir.Aggregate, value: exp.Expr, _: exp.Expr | None) -> exp.Expr:
    present = exp.Where(this=exp.Not(this=sql.is_null(value.copy())))
    items = exp.Filter(this=exp.ArrayAgg(this=_argument(aggregate, value)), expression=present)
    nothing = sql.cast(exp.Array(expressions=[]), sql_type(aggregate.type))
    return exp.Coalesce(this=exp.ArraySort(this=items), expressions=[nothing])


_AGGREGATES: dict[str, Callable[[ir.Aggregate, exp.Expr, exp.Expr | None], exp.Expr]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _least,
    "max": _most,
    "collect": _collect,
}


def _argument(aggregate: ir.Aggregate, value: exp.Expr) -> exp.Expr:
    return exp.Distinct(expressions=[sql.own(value)]) if aggregate.distinct else sql.own(value)


def _weighed(aggregate: ir.Aggregate, value: exp.Expr, weight: exp.Expr | None) -> exp.Expr:
    number = sql.cast(value.copy(), DOUBLE)
    if weight is None:
        return _argument(aggregate, number)
    return sql.binary(exp.Mul, number, sql.cast(weight.copy(), DOUBLE))


def _weight_of(value: exp.Expr, weight: exp.Expr) -> exp.Expr:
    return sql.case((exp.Not(this=sql.is_null(value.copy())), weight.copy()))


def _whole(count: exp.Expr) -> exp.Expr:
    return sql.cast(exp.Coalesce(this=count, expressions=[sql.number(0)]), BIGINT)
