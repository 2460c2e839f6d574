"""Bound values as SQL that holds them. A string that a user gives travels as hexadecimal."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from omnigraph.plan import Dialect, render

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def spark_sql(statement: exp.Expr, values: Mapping[str, object]) -> str:
    """Write a statement for Spark, with its values in it."""

    def filled(node: exp.Expr) -> exp.Expr:
        return _literal(values[node.name]) if isinstance(node, exp.Placeholder) else node

    return render(statement.transform(filled), Dialect.SPARK)


def _literal(value: object) -> exp.Expr:
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.true() if value else exp.false()
        case int():
            return exp.Literal.number(value)
        case float():
            return _cast(repr(value).replace("inf", "Infinity"), "DOUBLE")
        case str():
            hexadecimal = exp.Literal.string(value.encode().hex())
            unpacked = exp.Anonymous(this="unhex", expressions=[hexadecimal])
            return exp.Anonymous(this="decode", expressions=[unpacked, exp.Literal.string("UTF-8")])
        case datetime():
            return _call("timestamp_millis", (value - _EPOCH) // timedelta(milliseconds=1))
        case date():
            return _call("date_from_unix_date", (value - _EPOCH.date()).days)
        case list():
            return exp.Array(expressions=[_literal(item) for item in cast("list[object]", value)])
        case _:
            raise AssertionError(f"no value of a query is a {type(value).__name__}")


def _call(function: str, number: int) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=[exp.Literal.number(number)])


def _cast(text: str, to: str) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build(to))
