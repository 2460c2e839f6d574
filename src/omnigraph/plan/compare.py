"""Comparisons, membership and logic. Every one is null with a null operand; `is null` never is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.plan import sql
from omnigraph.plan.sqltypes import Term, aligned, common_type, list_of
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPERATORS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_TEXTS: dict[str, type[exp.Func]] = {
    "contains": exp.Contains,
    "starts_with": exp.StartsWith,
    "ends_with": exp.EndsWith,
}


def compare(operator: str, left: Term, right: Term) -> exp.Expr:
    """`left operator right`. Text compares by its bytes, as both engines do without a collation.

    NaN equals itself and is larger than every other number, and 0.0 equals -0.0: both engines agree on that.
    """
    if operator in _TEXTS:
        return _TEXTS[operator](this=sql.own(left.sql), expression=sql.own(right.sql))
    return sql.binary(_OPERATORS[operator], *aligned((left, right)))


def member(item: Term, items: Sequence[Term], negated: bool) -> exp.Expr:
    """`item IN (a, b)`: null where nothing is equal and something is null."""
    if not items:
        found = sql.case((sql.is_null(item.sql), sql.null()), otherwise=exp.false())
    else:
        first, *rest = aligned((item, *items))
        found = exp.In(this=sql.closed(first), expressions=rest)
    return negate(found) if negated else found


def member_of_list(item: Term, items: Term, negated: bool) -> exp.Expr:
    """Membership in a list that is a value: stored and given lists hold no nulls."""
    item_scalar, items_scalar = item.scalar, items.scalar
    assert item_scalar is not None
    assert items_scalar is not None
    probe, whole = item.sql, items.sql
    if item_scalar is not items_scalar:
        to = common_type({item_scalar, items_scalar})
        probe, whole = sql.cast(probe, to), sql.cast(whole, list_of(to))
    found = exp.ArrayContains(this=sql.own(whole), expression=sql.own(probe))
    return negate(found) if negated else found


def literal_items(literal: ir.Literal) -> list[ir.Literal]:
    """Give the items of a list literal, each in the type that holds it."""
    assert isinstance(literal.type, PropType)
    values = literal.value if isinstance(literal.value, tuple) else ()
    return [ir.Literal(value, _item_type(value, literal.type.scalar)) for value in values]  # type: ignore[arg-type]


def _item_type(value: object, declared: ScalarType) -> PropType:
    if isinstance(value, int) and declared is ScalarType.I64 and value > INTEGER_BOUNDS[ScalarType.I64][1]:
        return PropType(ScalarType.U64)
    return PropType(declared)


def same_node(left: Sequence[exp.Expr], right: Sequence[exp.Expr], negated: bool) -> exp.Expr:
    """Whether two nodes are one."""
    same = sql.all_of(*(sql.binary(exp.EQ, *pair) for pair in zip(left, right, strict=True)))
    return negate(same) if negated else same


def null_test(operand: exp.Expr, negated: bool) -> exp.Expr:
    """`IS NULL` or `IS NOT NULL`."""
    found = sql.is_null(operand)
    return negate(found) if negated else found


def negate(condition: exp.Expr) -> exp.Expr:
    """`NOT condition`."""
    return exp.Not(this=sql.closed(condition))
