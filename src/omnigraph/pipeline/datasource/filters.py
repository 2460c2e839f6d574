"""Spark's filters as Lance's. Spark evaluates them again, so a filter that Lance cannot take costs time only."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pyspark.sql import datasource as spark

from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan.lance import to_lance_filter
from omnigraph.query import ir
from omnigraph.query.conditions import conjoin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.schema import EdgeType, NodeType

_OPERATORS: dict[type, str] = {
    spark.EqualTo: "=",
    spark.GreaterThan: ">",
    spark.GreaterThanOrEqual: ">=",
    spark.LessThan: "<",
    spark.LessThanOrEqual: "<=",
}


def lance_filter(filters: Iterable[spark.Filter], table: NodeType | EdgeType) -> str | None:
    """What Lance can sift out of the rows that all these filters let through."""
    known = [part for each in filters if (part := _condition(each, table)) is not None]
    condition = conjoin(known)
    return None if condition is None else to_lance_filter(condition, {}).text


def _condition(given: Any, table: NodeType | EdgeType) -> ir.Expression | None:
    if isinstance(given, spark.Not):
        inner = _condition(given.child, table)
        return None if inner is None else ir.Not(inner, ir.BOOL.optional)
    column = _column(given.attribute, table)
    if column is None:
        return None
    if isinstance(given, spark.IsNull | spark.IsNotNull):
        return ir.IsNull(column, isinstance(given, spark.IsNotNull))
    if isinstance(given, spark.In):
        literals = [_literal(value, column.type) for value in given.value]
        if not literals or any(each is None for each in literals):
            return None
        items = ir.ListOf(
            tuple(each for each in literals if each is not None), PropType(column.type.scalar, is_list=True)
        )
        return ir.Member(column, items, negated=False, type=ir.BOOL.optional)
    operator = _OPERATORS.get(type(given))
    literal = _literal(given.value, column.type) if operator is not None else None
    return None if operator is None or literal is None else ir.Compare(operator, column, literal, ir.BOOL.optional)


def _column(path: tuple[str, ...], table: NodeType | EdgeType) -> ir.Property | ir.Identity | None:
    if len(path) != 1:
        return None
    if path[0] in table.fields:
        return ir.Identity(None, ir.IdentityField(path[0]))
    declared = table.property(path[0])
    if declared is None or declared.type.is_list or declared.type.is_vector or declared.type.is_blob:
        return None
    return ir.Property(None, declared.name, declared.type)


def _literal(value: object, declared: PropType) -> ir.Literal | None:
    """A value as the query language would have it; None if it is of a kind that is better left to Spark."""
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    if isinstance(value, datetime):
        value = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        if value.microsecond % 1000:
            return None
    fits = {
        ScalarType.STRING: str,
        ScalarType.BOOL: bool,
        ScalarType.DATE: date,
        ScalarType.DATE_TIME: datetime,
    }.get(declared.scalar, int)
    if not isinstance(value, fits) or (fits is int and isinstance(value, bool)):
        return None
    return ir.Literal(value, PropType(ScalarType.I64 if fits is int else declared.scalar))  # type: ignore[arg-type]
