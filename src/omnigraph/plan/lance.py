"""The part of a condition that Lance's scanner evaluates with the same meaning, as its filter text.

Only what was tried is pushed: columns against known values, `in`, `is null`, and `and`, `or`, `not` over these. Floats
are pushed for equality alone, because Lance orders NaN and -0.0 by their bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.types import ScalarType
from omnigraph.query import ir
from omnigraph.query.conditions import Column, Known, column_name, conjoin, conjuncts, equal_values, known, known_items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnigraph.model.types import PropType
    from omnigraph.query.params import Value

_ORDER = frozenset({"<", "<=", ">", ">="})
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LEAST = -(2**63)
"""Lance reads it as minus a number too large for 64 bits, so as a float, and with it the whole list it stands in."""
_ORDERED = frozenset({ScalarType.STRING, ScalarType.DATE, ScalarType.DATE_TIME})


@dataclass(frozen=True, slots=True)
class LanceFilter:
    """A condition in two parts that both have to be true: Lance's filter, and what remains for the engine."""

    text: str | None
    residual: ir.Expression | None


def to_lance_filter(condition: ir.Expression, params: Mapping[str, Value]) -> LanceFilter:
    """Push what Lance evaluates as we do; everything uncertain stays in the residual."""
    pushed: list[str] = []
    rest: list[ir.Expression] = []
    for part in conjuncts(condition):
        text = _filter(part, params)
        if text is None:
            rest.append(part)
        else:
            pushed.append(text)
    return LanceFilter(" AND ".join(f"({text})" for text in pushed) or None, conjoin(rest))


def _filter(part: ir.Expression, params: Mapping[str, Value]) -> str | None:
    render = _FILTERS.get(type(part))
    return None if render is None else render(part, params)


def _flag(part: ir.Property, _: Mapping[str, Value]) -> str:
    return _quoted(part)


def _null_test(part: ir.IsNull, _: Mapping[str, Value]) -> str | None:
    column = _column(part.operand)
    return None if column is None else f"{_quoted(column)} IS {'NOT ' if part.negated else ''}NULL"


def _not(part: ir.Not, params: Mapping[str, Value]) -> str | None:
    operand = _filter(part.operand, params)
    return None if operand is None else f"NOT ({operand})"


def _logic(part: ir.Logic, params: Mapping[str, Value]) -> str | None:
    operands = [_filter(operand, params) for operand in part.operands]
    if any(operand is None for operand in operands):
        return None
    return f" {part.operator.upper()} ".join(f"({operand})" for operand in operands)


def _compare(part: ir.Compare, params: Mapping[str, Value]) -> str | None:
    if part.operator not in _FLIPPED:
        return None
    sides = ((part.left, part.operator, part.right), (part.right, _FLIPPED[part.operator], part.left))
    for side, operator, other in sides:
        column, value = _column(side), known(other, params)
        if column is not None and value is not None:
            text = _ordered(column.type, value) if operator in _ORDER else _equal(column.type, value)
            return None if text is None else f"{_quoted(column)} {operator} {text}"
    return None


def _member(part: ir.Member, params: Mapping[str, Value]) -> str | None:
    column, items = _column(part.item), known_items(part.items, params)
    if column is None or not items:
        return None
    texts = [_equal(column.type, item) for item in items]
    if any(text is None for text in texts):
        return None
    return f"{_quoted(column)} {'NOT ' if part.negated else ''}IN ({', '.join(cast('list[str]', texts))})"


_FILTERS: dict[type, Callable[[Any, Mapping[str, Value]], str | None]] = {
    ir.Property: _flag,
    ir.IsNull: _null_test,
    ir.Not: _not,
    ir.Logic: _logic,
    ir.Compare: _compare,
    ir.Member: _member,
}


# -- columns and values --------------------------------------------------------------------------------


def _column(expression: ir.Expression) -> Column | None:
    if not isinstance(expression, ir.Property | ir.Identity):
        return None
    kind = expression.type
    return None if kind.is_list or kind.is_vector or kind.is_blob else expression


def _quoted(column: Column) -> str:
    return f"`{column_name(column)}`"


def _equal(declared: PropType, value: Known) -> str | None:
    """Write the one stored value that equals a known one."""
    values = equal_values(value, declared)
    return _literal(values[0], declared.scalar) if values is not None and len(values) == 1 else None


def _ordered(declared: PropType, value: Known) -> str | None:
    if declared.scalar not in _ORDERED and not declared.scalar.is_integer:
        return None
    return _equal(declared, value)


def _literal(value: object, scalar: ScalarType) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return None if "\0" in value else "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        moment = value.astimezone(UTC).replace(tzinfo=None)
        return f"timestamp '{moment.isoformat(' ', 'milliseconds')}'"
    if isinstance(value, date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, float) and scalar.is_float:
        return repr(value)
    if not isinstance(value, int) or value == _LEAST:
        return None
    return str(value)
