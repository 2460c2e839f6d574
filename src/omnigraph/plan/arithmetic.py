"""Arithmetic and the functions of numbers.

Integers are computed as I64 and an overflow is an error; everything else is F64. Dividing by zero gives null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.plan import sql
from omnigraph.plan.sqltypes import BIGINT, DOUBLE, Term
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEPS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}
_FRACTIONLESS = 2**52
"""From here on every double is a whole number."""


def arithmetic(operands: Sequence[Term], operators: Sequence[str]) -> exp.Expr:
    """Compute from left to right; each step is I64 if both sides are integers and it does not divide."""
    found = operands[0]
    for operator, right in zip(operators, operands[1:], strict=True):
        whole = found.is_integer and right.is_integer and operator != "/"
        kind = ScalarType.I64 if whole else ScalarType.F64
        found = Term(_step(operator, found.to(kind), right.to(kind), whole), PropType(kind))
    return found.sql


def _step(operator: str, left: exp.Expr, right: exp.Expr, whole: bool) -> exp.Expr:
    if operator in _STEPS:
        return sql.binary(_STEPS[operator], left, right)
    if operator == "/":
        return sql.binary(exp.Div, left, _not_zero(right))
    return sql.binary(exp.Mod, left, _safe_modulus(right) if whole else _not_zero(right))


def _not_zero(divisor: exp.Expr) -> exp.Expr:
    return exp.Nullif(this=divisor, expression=sql.cast(sql.number(0), DOUBLE))


def _safe_modulus(divisor: exp.Expr) -> exp.Expr:
    """The remainder by -1 is the one by 1, without the overflow of the smallest integer."""
    zero, minus_one = sql.number(0), sql.number(-1)
    return sql.let(
        "divisor",
        divisor,
        lambda d: sql.case(
            (sql.binary(exp.EQ, d, zero), sql.null()),
            (sql.binary(exp.EQ, d, minus_one), sql.cast(sql.number(1), BIGINT)),
            otherwise=d,
        ),
    )


def negated(operand: Term, source: ir.Expression) -> exp.Expr:
    """`-x`, as I64 or F64. A literal takes its sign first, so that the smallest integer can be written."""
    if not operand.is_integer:
        return exp.Neg(this=sql.closed(operand.to(ScalarType.F64)))
    if isinstance(source, ir.Literal) and isinstance(source.value, int):
        least, _ = INTEGER_BOUNDS[ScalarType.I64]
        if -source.value >= least:
            return sql.cast(sql.number(-source.value), BIGINT)
    # DuckDB's own sign operator widens beyond I64 instead of failing.
    return sql.binary(exp.Sub, sql.cast(sql.number(0), BIGINT), operand.to(ScalarType.I64))


# -- functions -----------------------------------------------------------------------------------------


def absolute(result: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `abs`, which keeps the type."""
    (operand,) = arguments
    if operand.scalar in (ScalarType.U32, ScalarType.U64):
        return operand.sql
    return exp.Abs(this=operand.to(result.scalar))


def rounded(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `round`: the engines differ in decimals, so these are moved before the point first."""
    value = arguments[0].to(ScalarType.F64)
    if len(arguments) == 1:
        return exp.Round(this=value)
    return sql.let_both("rounded", value, arguments[1].to(ScalarType.F64), _rounded)


def _rounded(value: exp.Expr, places: exp.Expr) -> exp.Expr:
    power = exp.Pow(this=sql.cast(sql.number(10), DOUBLE), expression=exp.Abs(this=sql.own(places)))
    moved = sql.binary(exp.Mul, value, power)
    fine = sql.binary(exp.Div, exp.Round(this=moved), power)
    has_fraction = sql.binary(exp.LT, exp.Abs(this=sql.own(moved)), sql.number(_FRACTIONLESS))
    coarse = sql.binary(exp.Mul, exp.Round(this=sql.binary(exp.Div, value, power)), power)
    too_coarse = sql.binary(exp.LT, places, sql.number(-308))
    zero = sql.cast(sql.number(0), DOUBLE)
    return sql.case(
        (sql.any_of(sql.is_null(value), sql.is_null(places)), sql.cast(sql.null(), DOUBLE)),
        (sql.all_of(sql.binary(exp.GTE, places, sql.number(0)), has_fraction), fine),
        (sql.binary(exp.GTE, places, sql.number(0)), value),
        (too_coarse, zero),
        otherwise=coarse,
    )


def floored(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `floor`."""
    return _to_whole(exp.Floor, arguments[0])


def ceiled(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `ceil`."""
    return _to_whole(exp.Ceil, arguments[0])


def _to_whole(function: type[exp.Func], operand: Term) -> exp.Expr:
    """Spark's functions give a BIGINT, so only what has a fraction goes through them."""
    value = operand.to(ScalarType.F64)
    if operand.is_integer:
        return value
    return sql.let(
        "whole",
        value,
        lambda x: sql.case(
            (
                sql.binary(exp.LT, exp.Abs(this=sql.own(x)), sql.number(_FRACTIONLESS)),
                sql.cast(function(this=sql.own(x)), DOUBLE),
            ),
            otherwise=x,
        ),
    )


def square_root(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `sqrt`: null for a negative number."""
    return sql.let(
        "root",
        arguments[0].to(ScalarType.F64),
        lambda x: sql.case((sql.binary(exp.GTE, x, sql.number(0)), exp.Sqrt(this=sql.own(x)))),
    )


def power(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `power`."""
    base, exponent = (argument.to(ScalarType.F64) for argument in arguments)
    return exp.Pow(this=base, expression=exponent)


def coalesced(result: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `coalesce`, in the common type."""
    first, *rest = (argument.to(result.scalar) for argument in arguments)
    return exp.Coalesce(this=first, expressions=rest)
