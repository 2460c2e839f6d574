"""Conditions that name the rows they mean, so that these are looked up and nothing is scanned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.query import ir
from omnigraph.query.conditions import (
    Column,
    Known,
    column_name,
    conjoin,
    conjuncts,
    equal_values,
    known,
    known_items,
)
from omnigraph.schema.arrow import arrow_type
from omnigraph.schema.catalog import IndexKind, TypeKind
from omnigraph.schema.keys import InvalidKey, canonical_text, join_members

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.model.types import PropType
    from omnigraph.query.params import Value
    from omnigraph.schema.catalog import EdgeType, NodeType


@dataclass(frozen=True)
class Pinned:
    """Only rows with one of these values in the column can meet the condition; those also have to meet the residual."""

    column: str
    values: pa.Array
    residual: ir.Expression | None = None


@dataclass(frozen=True, slots=True)
class _Pin:
    """The values a column must have, and the positions of the conjuncts that say so."""

    column: str
    values: tuple[object, ...]
    type: PropType
    parts: tuple[int, ...] = ()


def key_equality(condition: ir.Expression, table: NodeType | EdgeType, params: Mapping[str, Value]) -> Pinned | None:
    """Find what pins the rows of a condition: ids best, then ends, then an indexed property, then any other.

    A whole key becomes the id. With a null there are no rows. None: the condition has to be scanned for.
    """
    parts = conjuncts(condition)
    pins = [replace(pin, parts=(n,)) for n, part in enumerate(parts) if (pin := _pin(part, table, params)) is not None]
    whole = _whole_key(pins, table)
    if whole is not None:
        pins.append(whole)
    if not pins:
        return None
    pin = min(pins, key=lambda each: _rank(each, table))
    # By their texts, because 0.0 and -0.0 are equal and both wanted.
    values = pa.array(list({repr(value): value for value in pin.values}.values()), arrow_type(pin.type))
    rest = [part for n, part in enumerate(parts) if n not in pin.parts]
    return Pinned(pin.column, values, conjoin(rest) if len(values) else None)


def _rank(pin: _Pin, table: NodeType | EdgeType) -> tuple[int, int]:
    if not pin.values:
        return -1, 0
    order = {"id": 0, "src": 1, "dst": 1}.get(pin.column)
    if order is None:
        order = 2 if table.indexes.get(pin.column) is IndexKind.BTREE else 3
    return order, len(pin.values)


def _whole_key(pins: Sequence[_Pin], table: NodeType | EdgeType) -> _Pin | None:
    """A key of several members is an id once each of them has one value."""
    if table.kind is not TypeKind.NODE or len(table.key) < 2:
        return None
    members: list[str] = []
    parts: list[int] = []
    for name in table.key:
        pin = next((pin for pin in pins if pin.column == name), None)
        texts = {} if pin is None else dict.fromkeys(_ids(pin.values, pin.type))
        if pin is None or len(texts) != 1:
            return None
        members.extend(texts)
        parts.extend(pin.parts)
    return _Pin("id", (join_members(members),), ir.STRING, tuple(parts))


def _pin(part: ir.Expression, table: NodeType | EdgeType, params: Mapping[str, Value]) -> _Pin | None:
    if isinstance(part, ir.Compare) and part.operator == "=":
        for column, constant in ((part.left, part.right), (part.right, part.left)):
            value = known(constant, params)
            if isinstance(column, ir.Property | ir.Identity) and value is not None:
                return _equal_to(column, [value], table)
    if isinstance(part, ir.Member) and not part.negated and isinstance(part.item, ir.Property | ir.Identity):
        values = known_items(part.items, params)
        return None if values is None else _equal_to(part.item, values, table)
    if isinstance(part, ir.Logic) and part.operator == "or":
        return _either([_pin(operand, table, params) for operand in part.operands])
    return None


def _either(pins: Sequence[_Pin | None]) -> _Pin | None:
    """Alternatives pin the rows if all of them pin the same column."""
    first = pins[0]
    if first is None or any(pin is None or pin.column != first.column for pin in pins):
        return None
    values = tuple(value for pin in pins if pin is not None for value in pin.values)
    return _Pin(first.column, values, first.type)


def _equal_to(column: Column, constants: Sequence[Known], table: NodeType | EdgeType) -> _Pin | None:
    if column.type.is_list or column.type.is_vector or column.type.is_blob:
        return None
    values: list[object] = []
    for constant in constants:
        equal = equal_values(constant, column.type)
        if equal is None:
            return None
        values.extend(equal)
    name = column_name(column)
    if isinstance(column, ir.Property) and table.kind is TypeKind.NODE and table.key == (name,):
        return _Pin("id", tuple(_ids(values, column.type)), ir.STRING)
    return _Pin(name, tuple(values), column.type)


def _ids(values: Sequence[object], declared: PropType) -> list[str]:
    """Give the ids that keys have. A value without one, such as an infinite float, is the key of no row."""
    ids: list[str] = []
    for value in values:
        try:
            ids.append(canonical_text(value, declared))
        except InvalidKey:
            continue
    return ids
