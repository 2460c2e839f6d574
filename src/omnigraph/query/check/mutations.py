"""Queries that write: insert, update, delete (T3, T7, T10 to T14, T16)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.query import ast, ir
from omnigraph.query.check.compare import fits
from omnigraph.query.check.expressions import check_condition, check_expression
from omnigraph.schema.catalog import EdgeType, NodeType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.query.check.context import Place
    from omnigraph.schema.catalog import Property

_ENDS = ("from", "to")
Table = NodeType | EdgeType


def check_mutation(
    place: Place, query: ast.ParsedQuery, mutation: ast.Mutation, parameters: tuple[ir.QueryParameter, ...]
) -> ir.CheckedMutation:
    """Check a query that writes. What it gives is complete only if nothing was reported."""
    _check_mix(place, query.name.text, mutation)
    found = [_statement(place, node) for node in mutation.statements]
    statements = tuple(statement for statement in found if statement is not None)
    reads, writes = _touched(place, statements)
    return ir.CheckedMutation(
        query.name.text,
        parameters,
        query.description,
        query.instruction,
        statements,
        tuple(sorted(reads | writes)),
        tuple(sorted(writes)),
    )


def _check_mix(place: Place, name: str, mutation: ast.Mutation) -> None:
    """A mutation builds up or takes away, never both: its effect does not depend on the order."""
    deletes = isinstance(mutation.statements[0], ast.Delete)
    for node in mutation.statements:
        if isinstance(node, ast.Delete) != deletes:
            place.error(
                None,
                f"mutation '{name}' on the same query mixes inserts or updates with deletes",
                node.span,
                "write two queries",
            )
            return


def _statement(place: Place, node: ast.Statement) -> ir.Statement | None:
    table = _table(place, node.type_name)
    if table is None:
        return None
    if isinstance(node, ast.Insert):
        return _insert(replace(place, row=table), table, node)
    return _change(replace(place, row=table, row_is_readable=True), table, node)


def _table(place: Place, name: ast.Name) -> Table | None:
    catalog = place.catalog
    found = catalog.node(name.text) or catalog.edge_types.get(name.text)
    if found is not None:
        return found
    if catalog.interface(name.text) is not None:
        types = ", ".join(t.name for t in catalog.implementing(name.text))
        hint = f"name one of the types that implement it: {types}" if types else None
        return place.error("T10", f"{name.text} is an interface and has no rows of its own", name.span, hint)
    hint = suggest(name.text, {*catalog.node_types, *catalog.edge_types})
    return place.error("T10", f"there is no node or edge type {name.text!r}", name.span, hint)


# -- insert --------------------------------------------------------------------------------------------


def _insert(place: Place, table: Table, node: ast.Insert) -> ir.Statement | None:
    ends: dict[str, ir.Expression | None] = {}
    if isinstance(table, EdgeType):
        ends = {pair.property.text: _end(place, pair) for pair in node.assignments if _is_end(table, pair)}
    assignments = _assignments(place, table, node.assignments)
    _check_complete(place, table, node)
    if isinstance(table, NodeType):
        return ir.InsertNode(table.name, assignments)
    source, target = (ends.get(name) for name in _ENDS)
    if source is None or target is None:
        return None
    return ir.InsertEdge(table.name, source, target, assignments)


def _is_end(table: Table, pair: ast.PropertyValue) -> bool:
    return isinstance(table, EdgeType) and pair.property.text in _ENDS


def _end(place: Place, pair: ast.PropertyValue) -> ir.Expression | None:
    value = check_expression(place, pair.value)
    if value is None or not fits(place, pair.property.text, ir.STRING, value, pair.value.span):
        return None
    return value


def _check_complete(place: Place, table: Table, node: ast.Insert) -> None:
    """T12: everything that has no value of its own has to be given."""
    given = {pair.property.text for pair in node.assignments}
    wanted = _ENDS if isinstance(table, EdgeType) else ()
    missing = [name for name in wanted if name not in given]
    missing += [p.name for p in table.properties if p.name not in given and _is_missed(p, given)]
    if missing:
        lines = ", ".join(f"{name}: …" for name in missing)
        what = "property" if len(missing) == 1 else "properties"
        place.error(
            "T12", f"insert {table.name} lacks the {what} {', '.join(missing)}", node.type_name.span, f"add {lines}"
        )


def _is_missed(declared: Property, given: set[str]) -> bool:
    if declared.embed is not None:
        return not declared.nullable and declared.embed.source not in given
    return declared.must_be_given


# -- update and delete ---------------------------------------------------------------------------------


def _change(place: Place, table: Table, node: ast.Update | ast.Delete) -> ir.Statement | None:
    is_edge = isinstance(table, EdgeType)
    assignments: tuple[ir.Assignment, ...] = ()
    if isinstance(node, ast.Update):
        allowed = [pair for pair in node.assignments if _is_changeable(place, table, pair)]
        assignments = _assignments(place, table, allowed)
    condition = check_condition(place, node.condition)
    if condition is None:
        return None
    if isinstance(node, ast.Delete):
        return ir.Delete(table.name, is_edge, condition)
    return ir.Update(table.name, is_edge, assignments, condition)


def _is_changeable(place: Place, table: Table, pair: ast.PropertyValue) -> bool:
    """T16: what a row is found by stays as it is."""
    name = pair.property
    if _is_end(table, pair):
        place.error("T16", f"cannot update '{name.text}' of an edge", name.span, "delete the edge and insert another")
        return False
    if table.is_key(name.text):
        place.error(
            "T16", f"cannot update @key property {name.text!r}", name.span, "insert a new node and delete this one"
        )
        return False
    return True


def _assignments(place: Place, table: Table, pairs: Sequence[ast.PropertyValue]) -> tuple[ir.Assignment, ...]:
    return tuple(_each_assignment(place, table, pairs))


def _each_assignment(place: Place, table: Table, pairs: Sequence[ast.PropertyValue]) -> Iterator[ir.Assignment]:
    seen: set[str] = set()
    for pair in pairs:
        name = pair.property
        if name.text in seen:
            place.error("T13", f"{name.text!r} is assigned twice", name.span, "leave one out")
            continue
        seen.add(name.text)
        if _is_end(table, pair):
            continue
        declared = table.property(name.text)
        value = check_expression(place, pair.value)
        if declared is None:
            place.error("T11", f"{table.name} has no property {name.text!r}", name.span, _unknown(table, name.text))
        elif value is not None and fits(place, f"{table.name}.{name.text}", declared.type, value, pair.value.span):
            yield ir.Assignment(name.text, declared.type, value)


def _unknown(table: Table, name: str) -> str | None:
    if isinstance(table, EdgeType):
        if name in ("src", "dst"):
            return "the ends of an edge are written from and to"
        return suggest(name, {*table.properties_by_name, *_ENDS})
    if name == "id":
        return "ids are made from the key, or new" if table.key else "ids are made for you"
    return suggest(name, table.properties_by_name)


# -- what is touched -----------------------------------------------------------------------------------


def _touched(place: Place, statements: Sequence[ir.Statement]) -> tuple[set[ir.TypeUse], set[ir.TypeUse]]:
    reads: set[ir.TypeUse] = set()
    writes: set[ir.TypeUse] = set()
    for statement in statements:
        name = statement.type_name
        is_edge = isinstance(statement, ir.InsertEdge) or (
            isinstance(statement, ir.Update | ir.Delete) and statement.is_edge
        )
        writes.add(ir.TypeUse(is_edge, name))
        if isinstance(statement, ir.InsertEdge):
            edge = place.catalog.edge_types[name]
            reads |= {ir.TypeUse(False, edge.source), ir.TypeUse(False, edge.target)}
        if isinstance(statement, ir.Delete) and not is_edge:
            writes |= {ir.TypeUse(True, edge.name) for edge in place.catalog.edges_touching(name)}
    return reads, writes
