"""Expressions that are values by themselves: a literal, a parameter, the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.types import PropType
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from omnigraph.query.params import Value

Constant = ir.Literal | ir.Parameter | ir.Now


def value_of(source: Constant, params: Mapping[str, Value], now: datetime) -> object:
    """Give the value; a list is a tuple, and the time is in the milliseconds that are stored."""
    if isinstance(source, ir.Now):
        return now.replace(microsecond=now.microsecond // 1000 * 1000)
    if isinstance(source, ir.Parameter):
        return params[source.name]
    if isinstance(source.type, PropType) and source.type.scalar.is_float:
        return _floats(source.value)
    return source.value


def _floats(value: object) -> object:
    """A whole number in a list of floats is one of them."""
    if isinstance(value, tuple):
        return tuple(_floats(item) for item in value)
    return float(value) if isinstance(value, int) else value
