"""A float as text: the shortest decimal that reads back as it, without an exponent, as in ids."""

from __future__ import annotations

from sqlglot import exp

from omnigraph.plan import sql
from omnigraph.plan.sqltypes import BIGINT, DOUBLE, TEXT


def float_text(value: exp.Expr) -> exp.Expr:
    """Write `0.1`, `1` and `100000000000000000000`; the engines agree on the digits, not on the exponent."""
    return sql.let("number", value, _any_float)


def _any_float(value: exp.Expr) -> exp.Expr:
    infinity = sql.cast(sql.text("Infinity"), DOUBLE)
    minus = sql.binary(exp.LT, value, sql.number(0))
    sign = sql.case((minus, sql.text("-")), otherwise=sql.text(""))
    written = exp.Lower(this=sql.cast(exp.Abs(this=sql.own(value)), TEXT))
    return sql.case(
        (sql.is_null(value), sql.cast(sql.null(), TEXT)),
        (sql.binary(exp.EQ, value, sql.number(0)), sql.text("0")),
        (sql.binary(exp.GT, value, infinity), sql.text("NaN")),
        (sql.binary(exp.EQ, exp.Abs(this=sql.own(value)), infinity), sql.joined(sign, sql.text("Infinity"))),
        otherwise=sql.joined(sign, sql.let("written", written, _without_exponent)),
    )


def _without_exponent(written: exp.Expr) -> exp.Expr:
    """`1.5e+3`: the digits `15` and where the point goes among them, with zeros on either side to reach it."""
    mantissa = _part(written, "e", 1)
    exponent = exp.Coalesce(this=sql.try_cast(_part(written, "e", 2), BIGINT), expressions=[sql.number(0)])
    whole, fraction = _part(mantissa, ".", 1), _part(mantissa, ".", 2)
    point = sql.binary(exp.Add, exp.Length(this=whole), exponent)
    digits = sql.joined(whole, fraction)
    before = _zeros(sql.binary(exp.Sub, sql.number(1), point))
    after = _zeros(sql.binary(exp.Sub, point, exp.Length(this=sql.own(digits))))
    cut = sql.cast(sql.case((sql.binary(exp.LT, point, sql.number(1)), sql.number(1)), otherwise=point), BIGINT)
    return _pointed(sql.joined(before, digits, after), cut)


def _pointed(digits: exp.Expr, cut: exp.Expr) -> exp.Expr:
    whole = exp.Substring(this=sql.own(digits), start=sql.number(1), length=sql.own(cut))
    behind = exp.Substring(this=sql.own(digits), start=sql.binary(exp.Add, cut, sql.number(1)))
    fraction = exp.Trim(this=behind, expression=sql.text("0"), position="TRAILING")
    pointed = sql.case(
        (sql.binary(exp.EQ, fraction, sql.text("")), sql.text("")), otherwise=sql.joined(sql.text("."), fraction)
    )
    return sql.joined(whole, pointed)


def _part(written: exp.Expr, separator: str, position: int) -> exp.Expr:
    return exp.SplitPart(this=sql.own(written), delimiter=sql.text(separator), part_index=sql.number(position))


def _zeros(count: exp.Expr) -> exp.Expr:
    times = sql.case((sql.binary(exp.GT, count, sql.number(0)), count), otherwise=sql.number(0))
    return exp.Repeat(this=sql.text("0"), times=sql.cast(times, BIGINT))
