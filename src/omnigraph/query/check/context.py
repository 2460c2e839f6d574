"""What every check needs: the schema, the parameters, the variables in sight, and where findings go."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import Findings as Collector
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omnigraph.model.diagnostics import Span
    from omnigraph.model.types import PropType
    from omnigraph.schema.catalog import Catalog, EdgeType, NodeType, Property


class Findings(Collector):
    """Collects what is wrong. A part that was reported is None from then on, and None is never reported."""

    def __init__(self) -> None:
        super().__init__()
        self._anonymous = 0

    def error(self, code: str | None, message: str, span: Span, hint: str | None = None) -> None:
        """Report a mistake."""
        self.add(message, span, hint=hint, code=code)

    def anonymous(self) -> str:
        """Name an anonymous variable; `#` keeps it apart from every written name."""
        self._anonymous += 1
        return f"_#{self._anonymous}"


class Scope:
    """The variables of one clause list, within the scopes around it. None marks a wrongly bound name."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self._own: dict[str, ir.VariableType | None] = {}
        self._narrowed: dict[str, ir.VariableType] = {}

    def bind(self, name: str, kind: ir.VariableType | None) -> None:
        """Add a variable of this clause list, or change what one stands for."""
        self._own[name] = kind

    def narrow(self, name: str, kind: ir.VariableType) -> None:
        """Say what a variable from outside is within this clause list."""
        if name in self._own:
            self._own[name] = kind
        else:
            self._narrowed[name] = kind

    def __contains__(self, name: str) -> bool:
        return name in self._own or (self.outer is not None and name in self.outer)

    def find(self, name: str) -> ir.VariableType | None:
        """Give what a variable stands for; None if it is unknown or wrong."""
        if name in self._own:
            return self._own[name]
        if name in self._narrowed:
            return self._narrowed[name]
        return self.outer.find(name) if self.outer else None

    def own(self) -> tuple[ir.BoundVariable, ...]:
        """Give the variables this clause list introduces."""
        return tuple(ir.BoundVariable(name, kind) for name, kind in self._own.items() if kind is not None)

    def bound(self) -> Iterator[tuple[str, ir.VariableType | None]]:
        """Give the names this clause list introduces, wrong ones too."""
        yield from self._own.items()

    def names(self) -> Iterator[str]:
        """Give every name in sight."""
        yield from self._own
        if self.outer is not None:
            yield from self.outer.names()


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression stands, and so what its words may mean."""

    findings: Findings
    catalog: Catalog
    parameters: Mapping[str, PropType | None]
    scope: Scope = field(default_factory=Scope)
    columns: Mapping[str, ir.Column | None] | None = None
    aggregates: bool = False
    row: NodeType | EdgeType | None = None
    row_is_readable: bool = False

    def within(self, scope: Scope) -> Place:
        """Give the same place with other variables in sight."""
        return replace(self, scope=scope)

    def error(self, code: str | None, message: str, span: Span, hint: str | None = None) -> None:
        """Report a mistake."""
        self.findings.error(code, message, span, hint)


def properties_of(kind: ir.VariableType, catalog: Catalog) -> Mapping[str, Property]:
    """Give the properties that can be read from a variable."""
    if isinstance(kind, ir.NodeValue):
        owner = catalog.interface(kind.interface) if kind.interface else catalog.node(kind.types[0])
    elif isinstance(kind, ir.EdgeValue):
        owner = catalog.edge(kind.edge)
    else:
        return {}
    assert owner is not None
    return owner.properties_by_name


def describe(kind: ir.ValueType) -> str:
    """Name a type for a message."""
    if isinstance(kind, ir.NodeValue):
        return f"a {kind.interface or kind.types[0]} node"
    if isinstance(kind, ir.EdgeValue):
        return f"a {kind.edge} edge"
    if isinstance(kind, ir.PathValue):
        return "a path"
    if isinstance(kind, ir.NullValue):
        return "null"
    return str(kind.required)


def optional_value(kind: ir.VariableType) -> ir.VariableType:
    """Give the type of a variable that an optional block may leave unbound."""
    return replace(kind, nullable=True)
