"""Expressions of the checked query as SQL that gives exactly their declared types, in either dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from omnigraph.model.errors import OmniGraphError, ResourceLimit
from omnigraph.model.types import PropType
from omnigraph.plan import arithmetic, casts, compare, sql, texts, times
from omnigraph.plan.sqltypes import BIGINT, Term, sql_type
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnigraph.plan.scope import Scope

    Function = Callable[[PropType, Sequence[Term]], exp.Expr]

LARGEST = 20_000
"""Nodes of SQL in one expression; deeply nested functions of several arguments multiply."""


class NotScalar(OmniGraphError):
    """An expression that stands for more than a value of one row, where only such a value can be."""

    def __init__(self, expression: ir.Expression) -> None:
        kind = type(expression).__name__
        super().__init__(f"{kind} has no value of its own here: the surrounding plan has to lower it", kind=kind)


def lower(expression: ir.Expression, scope: Scope) -> exp.Expr:
    """Give the SQL of a scalar expression; what only a whole query can lower comes from `scope.others`."""
    other = scope.others.get(type(expression))
    if other is not None:
        return other(expression, scope)
    lowering = _LOWERINGS.get(type(expression))
    if lowering is None:
        raise NotScalar(expression)
    return lowering(expression, scope)


def _term(expression: ir.Expression, scope: Scope) -> Term:
    return Term(lower(expression, scope), expression.type)


def _terms(expressions: Sequence[ir.Expression], scope: Scope) -> list[Term]:
    return [_term(expression, scope) for expression in expressions]


# -- values --------------------------------------------------------------------------------------------


def _literal(node: ir.Literal, scope: Scope) -> exp.Expr:
    if node.value is None:
        return exp.Null() if isinstance(node.type, ir.NullValue) else sql.cast(exp.Null(), sql_type(node.type))
    if isinstance(node.value, bool):
        return exp.true() if node.value else exp.false()
    if isinstance(node.value, int) and isinstance(node.type, PropType) and node.type.scalar.is_integer:
        return sql.cast(sql.number(node.value), sql_type(node.type))
    return scope.bindings.place(node)


def _bound(node: ir.Parameter | ir.Now, scope: Scope) -> exp.Expr:
    return scope.bindings.place(node)


def _property(node: ir.Property, scope: Scope) -> exp.Expr:
    return scope.columns.property(node.variable, node.name)


def _identity(node: ir.Identity, scope: Scope) -> exp.Expr:
    return scope.columns.identity(node.variable, node.field)


def _list(node: ir.ListOf, scope: Scope) -> exp.Expr:
    items = [term.to(node.type.scalar) for term in _terms(node.items, scope)]
    return exp.Array(expressions=items)


# -- operators -----------------------------------------------------------------------------------------


def _compare(node: ir.Compare, scope: Scope) -> exp.Expr:
    return compare.compare(node.operator, _term(node.left, scope), _term(node.right, scope))


def _member(node: ir.Member, scope: Scope) -> exp.Expr:
    item, items = _term(node.item, scope), node.items
    if isinstance(items, ir.ListOf):
        return compare.member(item, _terms(items.items, scope), node.negated)
    if isinstance(items, ir.Literal):
        return compare.member(item, _terms(compare.literal_items(items), scope), node.negated)
    return compare.member_of_list(item, _term(items, scope), node.negated)


def _same_node(node: ir.SameNode, scope: Scope) -> exp.Expr:
    return compare.same_node(scope.columns.node(node.left), scope.columns.node(node.right), node.negated)


def _is_null(node: ir.IsNull, scope: Scope) -> exp.Expr:
    operand = node.operand
    if not isinstance(operand, ir.Entity):
        return compare.null_test(lower(operand, scope), node.negated)
    if isinstance(operand.type, ir.PathValue):
        return compare.null_test(scope.columns.path(operand.variable).nodes, node.negated)
    return compare.null_test(scope.columns.node(operand.variable)[0], node.negated)


def _logic(node: ir.Logic, scope: Scope) -> exp.Expr:
    join = sql.all_of if node.operator == "and" else sql.any_of
    return join(*(lower(operand, scope) for operand in node.operands))


def _not(node: ir.Not, scope: Scope) -> exp.Expr:
    return compare.negate(lower(node.operand, scope))


def _arithmetic(node: ir.Arithmetic, scope: Scope) -> exp.Expr:
    return arithmetic.arithmetic(_terms(node.operands, scope), node.operators)


def _negate(node: ir.Negate, scope: Scope) -> exp.Expr:
    return arithmetic.negated(_term(node.operand, scope), node.operand)


# -- functions -----------------------------------------------------------------------------------------


def _call(node: ir.Call, scope: Scope) -> exp.Expr:
    path = next((argument for argument in node.arguments if isinstance(argument, ir.Entity)), None)
    if path is not None:
        return _of_path(node.function, path, scope)
    if node.function in _WITH_UNIT:
        unit, *rest = node.arguments
        assert isinstance(unit, ir.Literal)
        terms = [Term(sql.text(str(unit.value)), unit.type), *_terms(rest, scope)]
    else:
        terms = _terms(node.arguments, scope)
    found = FUNCTIONS[node.function](node.type, terms)
    size = sum(1 for _ in found.walk())
    if size > LARGEST:
        raise ResourceLimit(f"parts of one expression around {node.function}()", limit=LARGEST, actual=size)
    return found


def _of_path(function: str, path: ir.Entity, scope: Scope) -> exp.Expr:
    columns = scope.columns.path(path.variable)
    if function == "length":
        return sql.cast(exp.ArraySize(this=sql.own(columns.edges)), BIGINT)
    return (columns.nodes if function == "nodes" else columns.edges).copy()


_WITH_UNIT = frozenset({"date_trunc", "date_diff", "date_add"})

FUNCTIONS: dict[str, Function] = {
    "lower": texts.lower,
    "upper": texts.upper,
    "trim": texts.trim,
    "length": texts.length,
    "substring": texts.substring,
    "replace": texts.replace,
    "concat": texts.concat,
    "split": texts.split,
    "abs": arithmetic.absolute,
    "round": arithmetic.rounded,
    "floor": arithmetic.floored,
    "ceil": arithmetic.ceiled,
    "sqrt": arithmetic.square_root,
    "power": arithmetic.power,
    "coalesce": arithmetic.coalesced,
    "year": times.year,
    "month": times.month,
    "day": times.day,
    "hour": times.hour,
    "minute": times.minute,
    "second": times.second,
    "date_trunc": times.date_trunc,
    "date_diff": times.date_diff,
    "date_add": times.date_add,
    "date": casts.date,
    "datetime": casts.date_time,
    "to_string": casts.to_string,
    "to_int": casts.to_int,
    "to_float": casts.to_float,
}
"""Every function of `query/functions.py` but `nodes` and `edges`, which are columns of a path."""

_LOWERINGS: dict[type, Callable[[Any, Scope], exp.Expr]] = {
    ir.Literal: _literal,
    ir.Parameter: _bound,
    ir.Now: _bound,
    ir.Property: _property,
    ir.Identity: _identity,
    ir.SameNode: _same_node,
    ir.Compare: _compare,
    ir.Member: _member,
    ir.IsNull: _is_null,
    ir.Logic: _logic,
    ir.Not: _not,
    ir.Arithmetic: _arithmetic,
    ir.Negate: _negate,
    ir.ListOf: _list,
    ir.Call: _call,
}
