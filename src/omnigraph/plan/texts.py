"""The functions of text. Positions and lengths count characters (code points)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan import sql
from omnigraph.plan.casts import as_text
from omnigraph.plan.sqltypes import BIGINT, TEXT, Term, list_of

if TYPE_CHECKING:
    from collections.abc import Sequence

WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""What Unicode calls white space; the engines' own ideas differ."""

_FARTHEST = 2**31 - 1
"""No text is longer, and DuckDB takes no larger positions."""


def lower(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `lower`."""
    return exp.Lower(this=_text(arguments[0]))


def upper(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `upper`."""
    return exp.Upper(this=_text(arguments[0]))


def trim(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `trim`."""
    return exp.Trim(this=_text(arguments[0]), expression=sql.text(WHITE_SPACE))


def length(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `length` of a text or a list."""
    (operand,) = arguments
    kind = operand.type
    is_list = isinstance(kind, PropType) and kind.is_list
    return sql.cast(exp.ArraySize(this=sql.own(operand.sql)) if is_list else exp.Length(this=_text(operand)), BIGINT)


def substring(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `substring`: the characters at the positions asked for, as far as there are such."""
    text, start, *rest = arguments
    first = _clamp(_position(start), 1, _FARTHEST)
    if not rest:
        return exp.Substring(this=_text(text), start=first)
    count = sql.let_both("window", _position(start), _position(rest[0]), _count)
    return exp.Substring(this=_text(text), start=first, length=count)


def _position(term: Term) -> exp.Expr:
    """A position as I64; one beyond is as far as any."""
    if term.scalar is not ScalarType.U64:
        return term.to(ScalarType.I64)
    most = sql.number(_FARTHEST)
    return sql.let(
        "position",
        term.sql,
        lambda x: sql.case((sql.binary(exp.GT, x, most), sql.cast(most, BIGINT)), otherwise=sql.cast(x, BIGINT)),
    )


def _count(start: exp.Expr, length: exp.Expr) -> exp.Expr:
    """How many characters remain of the window when it is cut at the first position."""
    behind = sql.binary(exp.Add, _clamp(start, -_FARTHEST, _FARTHEST), _clamp(length, 0, 2 * _FARTHEST))
    return _clamp(sql.binary(exp.Sub, behind, _clamp(start, 1, _FARTHEST)), 0, _FARTHEST, name="count")


def _clamp(value: exp.Expr, least: int, most: int, name: str = "bounded") -> exp.Expr:
    low, high = sql.number(least), sql.number(most)
    return sql.let(
        name,
        value,
        lambda x: sql.case(
            (sql.binary(exp.LT, x, low), sql.cast(low, BIGINT)),
            (sql.binary(exp.GT, x, high), sql.cast(high, BIGINT)),
            otherwise=x,
        ),
    )


def replace(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `replace`: nothing is an occurrence of the empty text."""
    text, old, new = (_text(argument) for argument in arguments)
    return exp.Replace(this=text, expression=old, replacement=new)


def concat(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `concat`."""
    return sql.joined(*map(as_text, arguments))


def split(_: PropType, arguments: Sequence[Term]) -> exp.Expr:
    """Implement `split`: an empty separator separates nothing."""
    text, separator = (_text(argument) for argument in arguments)
    return sql.let_both(
        "parts",
        text,
        separator,
        lambda t, s: sql.case(
            (sql.any_of(sql.is_null(t), sql.is_null(s)), sql.cast(sql.null(), list_of(TEXT))),
            (sql.binary(exp.EQ, s, sql.text("")), exp.Array(expressions=[sql.own(t)])),
            otherwise=exp.Split(this=sql.own(t), expression=sql.own(s)),
        ),
    )


def _text(term: Term) -> exp.Expr:
    return term.to(ScalarType.STRING)
