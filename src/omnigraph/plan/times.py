"""The functions of time, on days and milliseconds since 1970: no engine's time zone or calendar quirk gets in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan import sql
from omnigraph.plan.sqltypes import BIGINT, DATE, INTEGER, TIMESTAMPTZ, Term, sql_type

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY_MS = 86_400_000
_MILLISECONDS = {"hour": 3_600_000, "minute": 60_000, "second": 1_000, "day": DAY_MS}
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_MONDAY = 4
"""1970-01-05 was a Monday."""


def days_of(term: Term) -> exp.Expr:
    """Days since 1970 of a Date, or of a DateTime's day in UTC."""
    if term.scalar is ScalarType.DATE_TIME:
        return whole_units(exp.UnixMillis(this=sql.own(term.sql)), DAY_MS)
    return sql.cast(exp.UnixDate(this=term.to(ScalarType.DATE)), BIGINT)


def millis_of(term: Term) -> exp.Expr:
    """Milliseconds since 1970; a Date is its midnight."""
    if term.scalar is ScalarType.DATE_TIME:
        return exp.UnixMillis(this=sql.own(term.sql))
    return sql.binary(exp.Mul, days_of(term), sql.number(DAY_MS))


def to_date(days: exp.Expr) -> exp.Expr:
    """The Date so many days after 1970-01-01."""
    return sql.cast(exp.DateFromUnixDate(this=sql.cast(days, INTEGER)), DATE)


def to_date_time(millis: exp.Expr) -> exp.Expr:
    """The DateTime so many milliseconds after 1970."""
    return sql.cast(exp.UnixToTime(this=sql.own(millis), scale=exp.UnixToTime.MILLIS), TIMESTAMPTZ)


def whole_units(amount: exp.Expr, size: int) -> exp.Expr:
    """Divide and round down. The engines round towards zero, so it is done among positive numbers."""
    bias = 10**16 // size
    lifted = sql.binary(exp.Add, amount, sql.number(bias * size))
    units = sql.cast(sql.binary(exp.IntDiv, lifted, sql.number(size)), BIGINT)
    return sql.binary(exp.Sub, units, sql.number(bias))


def rest_of_units(amount: exp.Expr, size: int) -> exp.Expr:
    """What `whole_units` leaves over, never negative."""
    bias = 10**16 // size
    return sql.binary(exp.Mod, sql.binary(exp.Add, amount, sql.number(bias * size)), sql.number(size))


# -- parts ---------------------------------------------------------------------------------------------


def year(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `year`."""
    return sql.cast(exp.Year(this=_day(arguments[0])), BIGINT)


def month(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `month`."""
    return sql.cast(exp.Month(this=_day(arguments[0])), BIGINT)


def day(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `day`."""
    return sql.cast(exp.Day(this=_day(arguments[0])), BIGINT)


def hour(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `hour`."""
    return clock_part(_clock(arguments[0]), DAY_MS, 3_600_000)


def minute(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `minute`."""
    return clock_part(_clock(arguments[0]), 3_600_000, 60_000)


def second(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `second`."""
    return clock_part(_clock(arguments[0]), 60_000, 1_000)


def clock_part(millis: exp.Expr, within: int, size: int) -> exp.Expr:
    """Count the units of a size since the larger unit began."""
    return sql.cast(sql.binary(exp.IntDiv, rest_of_units(millis, within), sql.number(size)), BIGINT)


def _clock(term: Term) -> exp.Expr:
    return exp.UnixMillis(this=term.to(ScalarType.DATE_TIME))


def _day(term: Term) -> exp.Expr:
    return to_date(days_of(term)) if term.scalar is ScalarType.DATE_TIME else term.to(ScalarType.DATE)


# -- units ---------------------------------------------------------------------------------------------


def date_trunc(result: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `date_trunc`; weeks begin on Monday."""
    unit, time = _unit(arguments[0]), arguments[1]
    if time.scalar is None:
        return sql.cast(sql.null(), sql_type(result))
    if result.scalar is ScalarType.DATE_TIME and unit in _MILLISECONDS:
        size = _MILLISECONDS[unit]
        return to_date_time(sql.binary(exp.Mul, whole_units(millis_of(time), size), sql.number(size)))
    days = _first_day(unit, time)
    if result.scalar is ScalarType.DATE:
        return to_date(days)
    return to_date_time(sql.binary(exp.Mul, days, sql.number(DAY_MS)))


def _first_day(unit: str, time: Term) -> exp.Expr:
    if unit in _MONTHS:
        first = exp.DateTrunc(this=_day(time), unit=exp.Literal.string(unit.upper()))
        return sql.cast(exp.UnixDate(this=sql.cast(first, DATE)), BIGINT)
    if unit != "week":
        return days_of(time)
    weeks = sql.binary(exp.Mul, _weeks(days_of(time)), sql.number(7))
    return sql.binary(exp.Add, weeks, sql.number(_MONDAY))


def _weeks(days: exp.Expr) -> exp.Expr:
    return whole_units(sql.binary(exp.Sub, days, sql.number(_MONDAY)), 7)


def date_diff(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `date_diff`: number every unit, then subtract."""
    unit = _unit(arguments[0])
    first, second = (_ordinal(unit, term) for term in arguments[1:])
    return sql.binary(exp.Sub, second, first)


def _ordinal(unit: str, time: Term) -> exp.Expr:
    if unit in ("hour", "minute", "second"):
        return whole_units(millis_of(time), _MILLISECONDS[unit])
    if unit in _DAYS:
        return _weeks(days_of(time)) if unit == "week" else days_of(time)
    return sql.let("month_of", _day(time), lambda moment: _month_ordinal(moment, _MONTHS[unit]))


def _month_ordinal(moment: exp.Expr, months: int) -> exp.Expr:
    years = sql.binary(exp.Mul, sql.cast(exp.Year(this=sql.own(moment)), BIGINT), sql.number(12))
    before = sql.binary(exp.Sub, sql.cast(exp.Month(this=sql.own(moment)), BIGINT), sql.number(1))
    return whole_units(sql.binary(exp.Add, years, before), months)


def date_add(result: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `date_add`. A month later is the same day, or the last one of a shorter month."""
    unit, count, time = _unit(arguments[0]), arguments[1].to(ScalarType.I64), arguments[2]
    if time.scalar is None:
        return sql.cast(sql.null(), sql_type(result))
    is_date = result.scalar is ScalarType.DATE
    if unit in _MONTHS:
        months = sql.binary(exp.Mul, count, sql.number(_MONTHS[unit]))
        return _add_months(time, months) if is_date else _add_months_to_time(time, months)
    if is_date and unit in _DAYS:
        later = sql.binary(exp.Mul, count, sql.number(_DAYS[unit]))
        return to_date(sql.binary(exp.Add, days_of(time), later))
    size = _MILLISECONDS.get(unit, 7 * DAY_MS)
    moment = sql.binary(exp.Add, millis_of(time), sql.binary(exp.Mul, count, sql.number(size)))
    return to_date(whole_units(moment, DAY_MS)) if is_date else to_date_time(moment)


def _add_months(time: Term, months: exp.Expr) -> exp.Expr:
    added = exp.DateAdd(this=_day(time), expression=sql.closed(sql.cast(months, INTEGER)), unit=exp.var("MONTH"))
    return sql.cast(added, DATE)


def _add_months_to_time(time: Term, months: exp.Expr) -> exp.Expr:
    """Move the day and keep the time of day."""

    def moved(moment: exp.Expr) -> exp.Expr:
        at = Term(moment, PropType(ScalarType.DATE_TIME))
        day = Term(_add_months(at, months), PropType(ScalarType.DATE))
        return to_date_time(sql.binary(exp.Add, millis_of(day), rest_of_units(millis_of(at), DAY_MS)))

    return sql.let("moved", time.sql, moved)


def _unit(term: Term) -> str:
    return term.sql.name
