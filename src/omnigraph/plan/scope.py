"""What surrounds an expression: where its columns are, and the values that are bound to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from omnigraph.plan.sql import cast
from omnigraph.plan.sqltypes import sql_type
from omnigraph.query import ir
from omnigraph.query.constants import Constant, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from omnigraph.query.params import Value


@dataclass(frozen=True, slots=True)
class PathColumns:
    """A path: the ids of its nodes and of its edges, as lists."""

    nodes: exp.Expr
    edges: exp.Expr


class Columns(Protocol):
    """Where the values of variables are."""

    def property(self, variable: str | None, name: str) -> exp.Expr:
        """Give the column of a property."""
        ...

    def identity(self, variable: str | None, field: ir.IdentityField) -> exp.Expr:
        """Give the column of `@id`, `@src` or `@dst`."""
        ...

    def node(self, variable: str) -> tuple[exp.Expr, ...]:
        """Give what tells a node from all others: its id, or its type and id, or its ordinal."""
        ...

    def path(self, variable: str) -> PathColumns:
        """Give the lists of a path."""
        ...


@dataclass(frozen=True, slots=True)
class RowColumns:
    """One row of a table, whichever variable stands for it. Columns have the names of properties unless told."""

    names: Mapping[str, str] = field(default_factory=dict[str, str])

    def property(self, variable: str | None, name: str) -> exp.Expr:
        """Give the column of a property."""
        del variable
        return exp.column(self.names.get(name, name), quoted=True)

    def identity(self, variable: str | None, field: ir.IdentityField) -> exp.Expr:
        """Give the column of `@id`, `@src` or `@dst`."""
        return self.property(variable, field.value)

    def node(self, variable: str) -> tuple[exp.Expr, ...]:
        """Fail: a row has no nodes beside it."""
        raise AssertionError(f"a row has no variable ${variable}")

    def path(self, variable: str) -> PathColumns:
        """Fail: a row has no paths."""
        raise AssertionError(f"a row has no variable ${variable}")


class Bindings:
    """The values that a statement gets beside its text: parameters, literals and the time.

    Grows while expressions are lowered; `values` gives what to bind when they run.
    """

    def __init__(self) -> None:
        self._sources: dict[str, Constant] = {}
        self._literals = 0

    def __len__(self) -> int:
        return len(self._sources)

    def place(self, source: Constant) -> exp.Expr:
        """Give the placeholder of a value, in its declared type."""
        name = self._name(source)
        self._sources[name] = source
        return cast(exp.Placeholder(this=name), sql_type(source.type))

    def _name(self, source: Constant) -> str:
        if isinstance(source, ir.Parameter):
            return f"p_{source.name}"
        if isinstance(source, ir.Now):
            return "now"
        self._literals += 1
        return f"literal_{self._literals}"

    def values(self, params: Mapping[str, Value], now: datetime) -> dict[str, object]:
        """Give a value for every placeholder."""
        return {name: _listed(value_of(source, params, now)) for name, source in self._sources.items()}


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Scope:
    """Columns and bindings, and how to lower the expressions that only a whole query has."""

    columns: Columns = field(default_factory=RowColumns)
    bindings: Bindings = field(default_factory=Bindings)
    others: Mapping[type, Callable[[ir.Expression, Scope], exp.Expr]] = field(
        default_factory=dict[type, "Callable[[ir.Expression, Scope], exp.Expr]"]
    )
