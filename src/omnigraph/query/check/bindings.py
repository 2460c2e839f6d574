"""Bindings: `$x: Type { property: value }` (T1, T2, T3, T7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.model.types import PropType
from omnigraph.query import ast, ir
from omnigraph.query.check.compare import boolean, in_enum, same_scalar
from omnigraph.query.check.context import describe, properties_of
from omnigraph.query.check.expressions import check_expression
from omnigraph.query.walk import variables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.query.check.context import Place


@dataclass(frozen=True, slots=True)
class Declared:
    """A binding whose variable is in scope."""

    name: str
    kind: ir.NodeValue
    node: ast.Binding


def declare(place: Place, node: ast.Binding) -> Declared | None:
    """Bring the variable of a binding into scope."""
    kind = _node_value(place, node.type_name)
    name = node.variable.name
    if name == "_":
        name = place.findings.anonymous()
    if name not in place.scope:
        place.scope.bind(name, kind)
        return kind and Declared(name, kind, node)
    before = place.scope.find(name)
    if kind is None or before is None:
        return None
    if not isinstance(before, ir.NodeValue):
        return place.error(
            "T23", f"${name} is {describe(before)} and cannot be bound as a node too", node.variable.span
        )
    narrowed = _both(before, kind)
    if narrowed is None:
        return place.error(None, f"${name} is {describe(before)} already, not {describe(kind)}", node.variable.span)
    place.scope.narrow(name, narrowed)
    return Declared(name, kind, node)


def _node_value(place: Place, name: ast.Name) -> ir.NodeValue | None:
    catalog = place.catalog
    if catalog.node(name.text) is not None:
        return ir.NodeValue((name.text,))
    if catalog.interface(name.text) is not None:
        types = tuple(t.name for t in catalog.implementing(name.text))
        if not types:
            return place.error("T1", f"no node type implements the interface {name.text}", name.span)
        return ir.NodeValue(types, name.text)
    if name.text in catalog.edge_types:
        word = name.text[0].lower() + name.text[1:]
        return place.error("T1", f"{name.text} is an edge type", name.span, f"write $a $e:{word} $b to bind an edge")
    hint = suggest(name.text, {*catalog.node_types, *catalog.interface_types})
    return place.error("T1", f"there is no node type {name.text!r}", name.span, hint)


def _both(before: ir.NodeValue, now: ir.NodeValue) -> ir.NodeValue | None:
    """A node that is both: the types they share, and the properties of the narrower of the two."""
    shared = tuple(name for name in before.types if name in now.types)
    if not shared:
        return None
    interface = before.interface if set(before.types) <= set(now.types) else now.interface
    return ir.NodeValue(shared, interface, before.nullable)


def merge_scans(declared: Iterable[Declared], conditions: dict[str, list[ir.Expression]]) -> tuple[ir.Scan, ...]:
    """Make one scan per variable, however often it is declared."""
    scans: dict[str, ir.Scan] = {}
    for found in declared:
        earlier, kind = scans.get(found.name), found.kind
        if earlier is not None:
            both = _both(ir.NodeValue(earlier.types, earlier.interface), kind)
            assert both is not None
            kind = both
        scans[found.name] = ir.Scan(found.name, kind.types, kind.interface)
    return tuple(replace(scan, conditions=tuple(conditions.get(scan.variable, ()))) for scan in scans.values())


# -- conditions ----------------------------------------------------------------------------------------


def check_conditions(place: Place, declared: Declared) -> tuple[list[ir.Expression], list[ir.Expression]]:
    """Check `{ property: value }`. Gives what the scan can test, and what needs other variables."""
    own: list[ir.Expression] = []
    joined: list[ir.Expression] = []
    for pair in declared.node.properties:
        found = _condition(place, declared, pair)
        if found is not None:
            (own if set(variables(found)) <= {declared.name} else joined).append(found)
    return own, joined


def _condition(place: Place, declared: Declared, pair: ast.PropertyValue) -> ir.Expression | None:
    name = pair.property
    known = properties_of(declared.kind, place.catalog)
    value = check_expression(place, pair.value)
    if name.text not in known:
        hint = f"write ${declared.name}.@id = …" if name.text == "id" else suggest(name.text, known)
        return place.error("T2", f"{describe(declared.kind)} has no property {name.text!r}", name.span, hint)
    if value is None:
        return None
    kind = known[name.text].type
    if not _can_equal(place, name.text, kind, value, pair.value):
        return None
    stored = ir.Property(declared.name, name.text, kind)
    if kind.is_list:
        return ir.Member(value, stored, False, boolean(value, stored))
    return ir.Compare("=", stored, value, boolean(stored, value))


def _can_equal(place: Place, name: str, kind: PropType, value: ir.Expression, node: ast.Expression) -> bool:
    """T3 for literals, T7 for everything else; a list property is asked for one of its items."""
    given = value.type
    code = "T3" if isinstance(value, ir.Literal) else "T7"
    problem, hint = None, None
    if kind.is_blob:
        code, problem = "T3", f"{name} is a Blob, which cannot be matched"
    elif isinstance(given, ir.NullValue):
        problem, hint = f"{name} is never equal to null", f"write $x.{name} is null as a filter"
    elif not isinstance(given, PropType):
        problem = f"{name} is {kind.required}, the value is {describe(given)}"
    elif kind.is_vector:
        problem, hint = f"{name} is {kind.required}, which cannot be matched", "order by nearest( … ) instead"
    elif given.is_list and kind.is_list:
        problem, hint = f"{name} is a list and is matched by one of its items", "give a single value"
    elif given.is_list or not same_scalar(kind, given):
        problem = f"{name} is {kind.required}, the value is {describe(given)}"
    if problem is not None:
        place.error(code, problem, node.span, hint)
        return False
    return in_enum(place, ir.Property(None, name, kind), value, node.span)
