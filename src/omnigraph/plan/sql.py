"""Small builders of SQL, and `let`, which names a value that is used more than once."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable

_CLOSED = (
    exp.Column,
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.Placeholder,
    exp.Paren,
    exp.Cast,
    exp.Case,
    exp.Array,
    exp.Bracket,
)
_ATOMS = (exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Placeholder)


def number(value: int) -> exp.Expr:
    """A whole number."""
    return exp.Literal.number(value)


def text(value: str) -> exp.Expr:
    """A text of ours; what users give is bound instead."""
    return exp.Literal.string(value)


def null() -> exp.Expr:
    """The null of no type."""
    return exp.Null()


def own(node: exp.Expr) -> exp.Expr:
    """A node to build with: itself where it is used first, a copy wherever it is used again."""
    return node if node.parent is None else node.copy()


def closed(operand: exp.Expr) -> exp.Expr:
    """An operand as it may stand beside any operator: in parentheses unless it needs none."""
    mine = own(operand)
    return mine if isinstance(mine, _CLOSED) else exp.Paren(this=mine)


def binary(kind: type[exp.Binary], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """`left operator right`."""
    return kind(this=closed(left), expression=closed(right))


def cast(operand: exp.Expr, to: exp.DataType) -> exp.Expr:
    """`CAST(x AS type)`, which fails where the value does not fit."""
    return exp.Cast(this=own(operand), to=to.copy())


def try_cast(operand: exp.Expr, to: exp.DataType) -> exp.Expr:
    """`TRY_CAST(x AS type)`, null where the value does not fit."""
    return exp.TryCast(this=own(operand), to=to.copy(), safe=True)


def case(*branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr | None = None) -> exp.Expr:
    """`CASE WHEN … THEN … ELSE … END`."""
    ifs = [exp.If(this=own(condition), true=own(value)) for condition, value in branches]
    return exp.Case(ifs=ifs, default=otherwise and own(otherwise))


def is_null(operand: exp.Expr) -> exp.Expr:
    """`x IS NULL`."""
    return exp.Is(this=closed(operand), expression=exp.Null())


def all_of(*conditions: exp.Expr) -> exp.Expr:
    """`a AND b AND …`."""
    return exp.and_(*(closed(condition) for condition in conditions), copy=False, wrap=False)


def any_of(*conditions: exp.Expr) -> exp.Expr:
    """`a OR b OR …`."""
    return exp.or_(*(closed(condition) for condition in conditions), copy=False, wrap=False)


def joined(*parts: exp.Expr) -> exp.Expr:
    """`a || b || …`."""
    return reduce(lambda left, right: binary(exp.DPipe, left, right), parts)


def item(items: exp.Expr, position: int) -> exp.Expr:
    """An item of a list; the first is 0 here, whatever it is in the dialect."""
    return exp.Bracket(this=own(items), expressions=[exp.Literal.number(position)], offset=0)


def let(name: str, value: exp.Expr, body: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """`body(value)` with the value written once, so that nested functions do not multiply its text.

    SQL has no `let`: a lambda over a list of one item does it in both dialects. No column is called `#name`.
    """
    if _is_atom(value):
        return body(value)
    variable = exp.to_identifier(f"#{name}", quoted=True)
    bound = exp.Lambda(this=body(exp.Column(this=variable.copy())), expressions=[variable])
    return item(exp.Transform(this=exp.Array(expressions=[own(value)]), expression=bound), 0)


def let_both(
    name: str,
    first: exp.Expr,
    second: exp.Expr,
    body: Callable[[exp.Expr, exp.Expr], exp.Expr],
) -> exp.Expr:
    """`let` for two values of one SQL type."""
    if _is_atom(first) and _is_atom(second):
        return body(first, second)
    pair = exp.Array(expressions=[own(first), own(second)])
    return let(name, pair, lambda both: body(item(both, 0), item(both, 1)))


def _is_atom(value: exp.Expr) -> bool:
    while isinstance(value, exp.Cast | exp.Paren | exp.Neg):
        value = value.this
    return isinstance(value, _ATOMS) or (isinstance(value, exp.Bracket) and _is_atom(value.this))
