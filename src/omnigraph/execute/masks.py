"""Conditions over columns in memory: the simple ones by Arrow, in microseconds, the rest by the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from omnigraph.execute.rows import select_mask
from omnigraph.model.compute import pc
from omnigraph.model.types import ScalarType
from omnigraph.query import ir
from omnigraph.query.conditions import Column, Known, column_name, conjoin, conjuncts, equal_values, known, known_items
from omnigraph.schema.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from omnigraph.model.types import PropType
    from omnigraph.query.params import Value

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
_ORDER = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDERED = frozenset({ScalarType.STRING, ScalarType.DATE, ScalarType.DATE_TIME})


def condition_mask(rows: pa.Table, condition: ir.Expression, params: Mapping[str, Value], now: datetime) -> Mask:
    """Tell for every row whether a condition is true: neither false nor null."""
    found: Mask | None = None
    rest: list[ir.Expression] = []
    for part in conjuncts(condition):
        mask = _mask(rows, part, params)
        if mask is None:
            rest.append(part)
        else:
            true = np.asarray(mask.fill_null(fill_value=False))
            found = true if found is None else found & true
    residual = conjoin(rest)
    if residual is None:
        return np.ones(rows.num_rows, np.bool_) if found is None else found
    if found is None:
        return np.asarray(select_mask(rows, residual, params, now))
    left = np.flatnonzero(found)
    if len(left):
        result = np.zeros(rows.num_rows, np.bool_)
        result[left] = np.asarray(select_mask(rows.take(pa.array(left)), residual, params, now))
        return result
    return found


def _mask(rows: pa.Table, part: ir.Expression, params: Mapping[str, Value]) -> pa.ChunkedArray | None:
    """Evaluate a condition on stored columns and known values, as null where it is; None if it is no such thing."""
    evaluate = _MASKS.get(type(part))
    return None if evaluate is None else evaluate(rows, part, params)


def _flag(rows: pa.Table, part: ir.Property, _: Mapping[str, Value]) -> pa.ChunkedArray:
    return rows.column(part.name)


def _null_test(rows: pa.Table, part: ir.IsNull, _: Mapping[str, Value]) -> pa.ChunkedArray | None:
    if not isinstance(part.operand, ir.Property | ir.Identity):
        return None
    found = rows.column(column_name(part.operand))
    return found.is_valid() if part.negated else found.is_null()


def _not(rows: pa.Table, part: ir.Not, params: Mapping[str, Value]) -> pa.ChunkedArray | None:
    operand = _mask(rows, part.operand, params)
    return None if operand is None else pc.invert(operand)


def _logic(rows: pa.Table, part: ir.Logic, params: Mapping[str, Value]) -> pa.ChunkedArray | None:
    combine = pc.and_kleene if part.operator == "and" else pc.or_kleene
    found: pa.ChunkedArray | None = None
    for operand in part.operands:
        mask = _mask(rows, operand, params)
        if mask is None:
            return None
        found = mask if found is None else combine(found, mask)
    return found


def _compare(rows: pa.Table, part: ir.Compare, params: Mapping[str, Value]) -> pa.ChunkedArray | None:
    if part.operator not in _FLIPPED:
        return None
    sides = ((part.left, part.operator, part.right), (part.right, _FLIPPED[part.operator], part.left))
    for side, operator, other in sides:
        column, value = _column(side), known(other, params)
        if column is not None and value is not None:
            return _compared(rows.column(column_name(column)), column.type, operator, value)
    return None


def _compared(column: pa.ChunkedArray, declared: PropType, operator: str, given: Known) -> pa.ChunkedArray | None:
    if given.value is None:
        return pa.chunked_array([pa.nulls(len(column), pa.bool_())])
    values = equal_values(given, declared)
    if operator in _ORDER:
        is_ordered = declared.scalar in _ORDERED or declared.scalar.is_integer
        if not is_ordered or values is None or len(values) != 1:
            return None
        return getattr(pc, _ORDER[operator])(column, pa.scalar(values[0], arrow_type(declared)))
    if values is None:
        return None
    equal = _equal_to_any(column, declared, values)
    return equal if operator == "=" else pc.invert(equal)


def _member(rows: pa.Table, part: ir.Member, params: Mapping[str, Value]) -> pa.ChunkedArray | None:
    column, items = _column(part.item), known_items(part.items, params)
    if column is None or not items or any(item.value is None for item in items):
        return None
    values: list[object] = []
    for item in items:
        equal = equal_values(item, column.type)
        if equal is None:
            return None
        values.extend(equal)
    found = _equal_to_any(rows.column(column_name(column)), column.type, values)
    return pc.invert(found) if part.negated else found


def _equal_to_any(
    column: pa.ChunkedArray, declared: PropType, values: list[object] | tuple[object, ...]
) -> pa.ChunkedArray:
    """Which values are one of these; null stays null."""
    if len(values) == 1:
        return pc.equal(column, pa.scalar(values[0], arrow_type(declared)))
    found = pc.is_in(column, value_set=pa.array(values, arrow_type(declared)))
    if not column.null_count:
        return found
    return pc.if_else(column.is_valid(), found, pa.scalar(None, pa.bool_()))


_MASKS: dict[type, Callable[[pa.Table, Any, Mapping[str, Value]], pa.ChunkedArray | None]] = {
    ir.Property: _flag,
    ir.IsNull: _null_test,
    ir.Not: _not,
    ir.Logic: _logic,
    ir.Compare: _compare,
    ir.Member: _member,
}


def _column(expression: ir.Expression) -> Column | None:
    if not isinstance(expression, ir.Property | ir.Identity):
        return None
    kind = expression.type
    return None if kind.is_list or kind.is_vector or kind.is_blob else expression
