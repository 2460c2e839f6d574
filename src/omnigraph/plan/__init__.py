"""From the checked query to steps, and to SQL for either engine. No I/O."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnigraph.plan.dialect import Dialect, render
    from omnigraph.plan.expressions import NotScalar, lower
    from omnigraph.plan.lance import LanceFilter, to_lance_filter
    from omnigraph.plan.scope import Bindings, Columns, PathColumns, RowColumns, Scope

__all__ = [
    "Bindings",
    "Columns",
    "Dialect",
    "LanceFilter",
    "NotScalar",
    "PathColumns",
    "RowColumns",
    "Scope",
    "lower",
    "render",
    "to_lance_filter",
]

_MODULES = {
    **dict.fromkeys(("Dialect", "render"), "dialect"),
    **dict.fromkeys(("NotScalar", "lower"), "expressions"),
    **dict.fromkeys(("LanceFilter", "to_lance_filter"), "lance"),
    **dict.fromkeys(("Bindings", "Columns", "PathColumns", "RowColumns", "Scope"), "scope"),
}


def __getattr__(name: str) -> Any:
    """Load what writes SQL on first use: many questions are answered without any."""
    if name not in _MODULES:
        raise AttributeError(f"module 'omnigraph.plan' has no attribute {name!r}")
    return getattr(import_module(f"omnigraph.plan.{_MODULES[name]}"), name)
