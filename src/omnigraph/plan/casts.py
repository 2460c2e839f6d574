"""Values as text, whole numbers, floats, days and times. What cannot be read is null."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan import sql
from omnigraph.plan.float_text import float_text
from omnigraph.plan.sqltypes import BIGINT, DATE, DOUBLE, TEXT, TIMESTAMPTZ, Term
from omnigraph.plan.times import (
    DAY_MS,
    clock_part,
    days_of,
    millis_of,
    rest_of_units,
    to_date,
    to_date_time,
    whole_units,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# `\z` and not `$`: Java's `$` overlooks a line break at the end.
_INTEGER = r"^[+-]?[0-9]+\z"
_NUMBER = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\z"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\z"
_DATE_TIME = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,9}))?)?"
    r"(?:Z|([+-])([01][0-9]|2[0-3]):?([0-5][0-9]))?)?\z"
)
_HOUR, _MINUTE, _SECOND, _FRACTION, _SIGN, _OFFSET_HOUR, _OFFSET_MINUTE = range(1, 8)
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999, as everywhere in the language."""


def as_text(term: Term) -> exp.Expr:
    """A value in the one form it has as text."""
    if term.scalar is ScalarType.STRING:
        return sql.own(term.sql)
    if term.scalar in (ScalarType.F32, ScalarType.F64):
        return float_text(term.sql)
    if term.scalar is ScalarType.DATE_TIME:
        return sql.let("moment", millis_of(term), _moment_text)
    return sql.cast(term.sql, TEXT)


def _moment_text(millis: exp.Expr) -> exp.Expr:
    return sql.joined(
        sql.cast(to_date(whole_units(millis, DAY_MS)), TEXT),
        sql.text("T"),
        _padded(clock_part(millis, DAY_MS, 3_600_000), 2),
        sql.text(":"),
        _padded(clock_part(millis, 3_600_000, 60_000), 2),
        sql.text(":"),
        _padded(clock_part(millis, 60_000, 1_000), 2),
        sql.text("."),
        _padded(rest_of_units(millis, 1_000), 3),
        sql.text("Z"),
    )


def _padded(amount: exp.Expr, width: int) -> exp.Expr:
    return exp.Pad(this=sql.cast(amount, TEXT), expression=sql.number(width), fill_pattern=sql.text("0"), is_left=True)


def to_string(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `to_string`."""
    return as_text(arguments[0])


# -- numbers -------------------------------------------------------------------------------------------


def to_int(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `to_int`: days and milliseconds of times, as in ids."""
    (operand,) = arguments
    if operand.scalar is ScalarType.STRING:
        return _if_matches(operand.sql, _INTEGER, lambda t: sql.try_cast(t, BIGINT))
    if operand.scalar in (ScalarType.F32, ScalarType.F64):
        return sql.let("whole", operand.to(ScalarType.F64), _whole)
    if operand.scalar is ScalarType.U64:
        return sql.try_cast(operand.sql, BIGINT)
    return _count(operand) or operand.to(ScalarType.I64)


def _whole(value: exp.Expr) -> exp.Expr:
    fits = sql.all_of(
        sql.binary(exp.GTE, value, sql.cast(sql.number(-(2**63)), DOUBLE)),
        sql.binary(exp.LT, value, sql.cast(sql.number(2**63), DOUBLE)),
        sql.binary(exp.EQ, sql.binary(exp.Mod, value, sql.cast(sql.number(1), DOUBLE)), sql.number(0)),
    )
    return sql.case((fits, sql.cast(value, BIGINT)))


def to_float(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `to_float`: a text too large for a float is none."""
    (operand,) = arguments
    if operand.scalar is ScalarType.STRING:
        return _if_matches(operand.sql, _NUMBER, lambda t: sql.let("read", sql.try_cast(t, DOUBLE), _finite))
    return sql.cast(_count(operand) or operand.sql, DOUBLE)


def _finite(value: exp.Expr) -> exp.Expr:
    infinite = sql.binary(exp.EQ, exp.Abs(this=sql.own(value)), sql.cast(sql.text("Infinity"), DOUBLE))
    return sql.case((infinite, sql.null()), otherwise=value)


def _count(operand: Term) -> exp.Expr | None:
    if operand.scalar is ScalarType.DATE:
        return days_of(operand)
    return millis_of(operand) if operand.scalar is ScalarType.DATE_TIME else None


# -- times ---------------------------------------------------------------------------------------------


def date(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `date`."""
    (operand,) = arguments
    if operand.scalar is ScalarType.DATE_TIME:
        return to_date(days_of(operand))
    return _if_matches(operand.to(ScalarType.STRING), _DATE, _read_date)


def _read_date(written: exp.Expr) -> exp.Expr:
    """The year 0 is none, whatever an engine thinks."""
    return sql.case((sql.binary(exp.GTE, written, sql.text("0001")), sql.try_cast(written, DATE)))


def date_time(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `datetime`."""
    (operand,) = arguments
    if operand.scalar is ScalarType.DATE:
        return to_date_time(millis_of(operand))
    written = operand.to(ScalarType.STRING)
    millis = _if_matches(written, _DATE_TIME, _read_millis)
    return sql.let("read", millis, _in_range)


def _in_range(millis: exp.Expr) -> exp.Expr:
    inside = sql.all_of(
        sql.binary(exp.GTE, millis, sql.number(_FIRST_MS)), sql.binary(exp.LTE, millis, sql.number(_LAST_MS))
    )
    return sql.case((inside, to_date_time(millis)), otherwise=sql.cast(sql.null(), TIMESTAMPTZ))


def _read_millis(written: exp.Expr) -> exp.Expr:
    day = _read_date(exp.Substring(this=sql.own(written), start=sql.number(1), length=sql.number(10)))
    offset = _sum((_group(written, _OFFSET_HOUR), 3_600_000), (_group(written, _OFFSET_MINUTE), 60_000))
    ahead = sql.binary(exp.EQ, _matched(written, _SIGN), sql.text("-"))
    local = _sum(
        (days_of(Term(day, PropType(ScalarType.DATE))), DAY_MS),
        (_group(written, _HOUR), 3_600_000),
        (_group(written, _MINUTE), 60_000),
        (_group(written, _SECOND), 1_000),
        (_thousandths(written), 1),
    )
    return sql.case((ahead, sql.binary(exp.Add, local, offset)), otherwise=sql.binary(exp.Sub, local, offset))


def _sum(*parts: tuple[exp.Expr, int]) -> exp.Expr:
    amounts = (sql.binary(exp.Mul, amount, sql.number(size)) for amount, size in parts)
    return reduce(lambda left, right: sql.binary(exp.Add, left, right), amounts)


def _thousandths(written: exp.Expr) -> exp.Expr:
    padded = exp.Pad(
        this=_matched(written, _FRACTION), expression=sql.number(3), fill_pattern=sql.text("0"), is_left=False
    )
    return exp.Coalesce(this=sql.try_cast(padded, BIGINT), expressions=[sql.number(0)])


def _group(written: exp.Expr, group: int) -> exp.Expr:
    return exp.Coalesce(this=sql.try_cast(_matched(written, group), BIGINT), expressions=[sql.number(0)])


def _matched(written: exp.Expr, group: int) -> exp.Expr:
    return exp.RegexpExtract(this=sql.own(written), expression=sql.text(_DATE_TIME), group=sql.number(group))


def _if_matches(written: exp.Expr, pattern: str, read: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    return sql.let(
        "written",
        written,
        lambda t: sql.case((exp.RegexpLike(this=sql.own(t), expression=sql.text(pattern)), read(t))),
    )
