"""Conditions taken apart: conjuncts, and which stored values a constant equals."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.query.params import Value

Column = ir.Property | ir.Identity
_EXACT = 2**53
"""Below this every whole F64 is one integer, and every integer one F64."""


def conjuncts(condition: ir.Expression) -> tuple[ir.Expression, ...]:
    """Give the conditions that all have to be true."""
    if isinstance(condition, ir.Logic) and condition.operator == "and":
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)


def conjoin(conditions: Sequence[ir.Expression]) -> ir.Expression | None:
    """Give the one condition that all of these make, None without any."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    nullable = any(condition.type.nullable for condition in conditions)
    return ir.Logic("and", tuple(conditions), ir.BOOL.optional if nullable else ir.BOOL)


def column_name(column: Column) -> str:
    """Give the name of a stored column."""
    return column.name if isinstance(column, ir.Property) else column.field.value


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is known before any row is read, with the type it was declared with."""

    value: object
    type: PropType


def known(expression: ir.Expression, params: Mapping[str, Value]) -> Known | None:
    """Give the value of a literal or parameter, None if it is something else."""
    if isinstance(expression, ir.Negate):
        return _negated(known(expression.operand, params), expression.type)
    if isinstance(expression, ir.Parameter):
        return Known(params[expression.name], expression.type)
    if isinstance(expression, ir.Literal) and isinstance(expression.type, PropType):
        return Known(expression.value, expression.type)
    return None


def _negated(operand: Known | None, declared: PropType) -> Known | None:
    if operand is None or isinstance(operand.value, bool) or not isinstance(operand.value, int | float):
        return None
    value = -operand.value if declared.scalar is ScalarType.I64 else -float(operand.value)
    least, most = INTEGER_BOUNDS[ScalarType.I64]
    return None if isinstance(value, int) and not least <= value <= most else Known(value, declared)


def known_items(expression: ir.Expression, params: Mapping[str, Value]) -> list[Known] | None:
    """Give the items of a list that is known, a null item or list included; None if it is not known."""
    if isinstance(expression, ir.ListOf):
        found = [known(item, params) for item in expression.items]
        return None if any(item is None for item in found) else cast("list[Known]", found)
    whole = known(expression, params)
    if whole is None:
        return None
    item_type = PropType(whole.type.scalar)
    values = (None,) if whole.value is None else cast("tuple[object, ...]", whole.value)
    return [Known(value, item_type) for value in values]


def equal_values(given: Known, declared: PropType) -> tuple[object, ...] | None:
    """Give the stored values of a type that equal a given one; None if that cannot be said for sure."""
    value = given.value
    if value is None:
        return ()
    if not declared.is_numeric:
        return (value,)
    if not isinstance(value, int | float):
        return None
    if declared.scalar.is_integer:
        return _equal_integers(value, declared.scalar)
    return _equal_floats(value, declared.scalar)


def _equal_integers(value: float, scalar: ScalarType) -> tuple[object, ...] | None:
    if isinstance(value, float):
        if not abs(value) < _EXACT:
            return None
        if not value.is_integer():
            return ()
    least, most = INTEGER_BOUNDS[scalar]
    return (int(value),) if least <= value <= most else ()


def _equal_floats(value: float, scalar: ScalarType) -> tuple[object, ...] | None:
    if isinstance(value, int) and abs(value) >= _EXACT:
        return None
    number = float(value)
    if not math.isfinite(number):
        return None
    if number == 0:
        return (0.0, -0.0)
    return (number,) if scalar is ScalarType.F64 or _is_single(number) else ()


def _is_single(number: float) -> bool:
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0] == number
    except OverflowError:
        return False
