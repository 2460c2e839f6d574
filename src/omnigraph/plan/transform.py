"""Expressions with some of their parts replaced."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from omnigraph.query import ir
from omnigraph.query.walk import parts

if TYPE_CHECKING:
    from collections.abc import Callable


def transform(value: ir.Expression, rewrite: Callable[[ir.Expression], ir.Expression | None]) -> ir.Expression:
    """Replace parts of an expression from the outside in; what `rewrite` gives is not looked into again."""
    found = rewrite(value)
    if found is not None:
        return found
    if not any(True for _ in parts(value)):
        return value
    changed = {each.name: _transformed(getattr(value, each.name), rewrite) for each in fields(value)}
    return replace(value, **changed)


def _transformed(value: Any, rewrite: Callable[[ir.Expression], ir.Expression | None]) -> Any:
    if isinstance(value, tuple):
        return tuple(_transformed(item, rewrite) for item in cast("tuple[Any, ...]", value))
    if is_dataclass(value) and isinstance(value, ir.Expression):
        return transform(value, rewrite)
    return value
