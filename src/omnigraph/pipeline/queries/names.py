"""Columns of frames for the variables of a query. Spark's names ignore case and ours do not: columns have numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp

from omnigraph.plan import PathColumns
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.schema import Catalog

TYPE, ID = "type", "id"


@dataclass
class Names:
    """What each variable is called, and the properties that somebody reads of it: a struct with a field for each."""

    catalog: Catalog
    properties: dict[str, dict[str, str]]
    numbers: dict[str, int]

    @classmethod
    def of(cls, catalog: Catalog, *plans: object) -> Names:
        """Collect what plans mention."""
        names = cls(catalog, {}, {})
        for plan in plans:
            for part in _parts(plan):
                names._note(part)
        return names

    def _note(self, part: object) -> None:
        if isinstance(part, ir.Property | ir.Identity) and part.variable is not None:
            self._field(part.variable, part.name if isinstance(part, ir.Property) else part.field.value)
        elif isinstance(part, ir.Entity) and isinstance(part.type, ir.NodeValue):
            for each in shown_properties(self.catalog, part.type):
                self._field(part.variable, each)

    def _field(self, variable: str, name: str) -> None:
        known = self.properties.setdefault(variable, {})
        if name != ID:
            known.setdefault(name, f"p{len(known)}")

    def column(self, variable: str) -> str:
        """The column of a variable."""
        return f"v{self.numbers.setdefault(variable, len(self.numbers))}"

    def wanted(self, variable: str) -> dict[str, str]:
        """The properties that are read, with the names of their fields."""
        return self.properties.get(variable, {})

    # -- what plan.Columns asks for --------------------------------------------------------------------

    def property(self, variable: str | None, name: str) -> exp.Expr:
        """Give the field of a property."""
        assert variable is not None
        return self._at(variable, ID if name == ID else self.properties[variable][name])

    def identity(self, variable: str | None, field: ir.IdentityField) -> exp.Expr:
        """Give the field of `@id`, `@src` or `@dst`."""
        return self.property(variable, field.value)

    def node(self, variable: str) -> tuple[exp.Expr, ...]:
        """Give what tells a node from all others."""
        return self._at(variable, ID), self._at(variable, TYPE)

    def path(self, variable: str) -> PathColumns:
        """Give the lists of a path."""
        return PathColumns(self._at(variable, "nodes"), self._at(variable, "edges"))

    def _at(self, variable: str, field: str) -> exp.Expr:
        return exp.column(field, table=self.column(variable))


def shown_properties(catalog: Catalog, kind: ir.NodeValue) -> list[str]:
    """What a node shows as an object: no vectors and no blobs."""
    if kind.interface is not None:
        declared = catalog.interface_types[kind.interface].properties
    else:
        declared = catalog.node_types[kind.types[0]].properties
    return [each.name for each in declared if not each.type.is_vector and not each.type.is_blob]


def _parts(value: Any) -> Iterator[object]:
    """A plan and everything in it."""
    if isinstance(value, tuple | frozenset):
        for item in cast("tuple[Any, ...]", value):
            yield from _parts(item)
    elif is_dataclass(value):
        yield value
        for each in fields(value):
            yield from _parts(getattr(value, each.name))


def has_search(*plans: object) -> bool:
    """Whether something is searched for: texts by their words, vectors by their distance."""
    searches = (ir.TextMatch, ir.Nearest, ir.TextScore, ir.Fusion)
    return any(isinstance(part, searches) for plan in plans for part in _parts(plan))
