"""What an actor sees whose rules name types: for them the other types do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.errors import Denied
from omnigraph.policy import Action, Gate
from omnigraph.query import CheckedQuery, compile_queries
from omnigraph.query.select import select_query
from omnigraph.schema import Catalog, table_key
from omnigraph.schema.ast import EdgeDeclaration, NodeDeclaration, ParsedSchema
from omnigraph.schema.parse import parse as parse_schema
from omnigraph.schema.printer import print_schema

if TYPE_CHECKING:
    from omnigraph.graph import Graph
    from omnigraph.schema.ast import Declaration


def sees_all(gate: Gate, action: Action, branch: str | None) -> bool:
    """Whether an action is allowed on the graph as a whole."""
    try:
        gate.require(action, branch=branch)
    except Denied:
        return False
    return True


def visible_catalog(gate: Gate, action: Action, branch: str | None, catalog: Catalog) -> Catalog:
    """The types an action is allowed on; edges only with both of their ends."""
    nodes = tuple(node for node in catalog.nodes if gate.sees(action, branch, table_key(node)))
    names = {node.name for node in nodes}
    edges = tuple(
        edge
        for edge in catalog.edges
        if {edge.source, edge.target} <= names and gate.sees(action, branch, table_key(edge))
    )
    interfaces = tuple(one for one in catalog.interfaces if any(one.name in node.implements for node in nodes))
    return Catalog(interfaces, nodes, edges, catalog.next_id)


def visible_schema(gate: Gate, graph: Graph, branch: str | None) -> str:
    """The schema as it was written, or what an actor sees of it."""
    if sees_all(gate, Action.READ, branch):
        return graph.schema.at(branch).source
    require_something(gate, Action.READ, branch)
    stored = graph.schema.at(branch)
    seen = visible_catalog(gate, Action.READ, branch, stored.catalog)
    if not seen.nodes:
        gate.require(Action.READ, branch=branch)
    return print_schema(
        ParsedSchema(tuple(one for one in parse_schema(stored.source).declarations if _is_in(seen, one)))
    )


def _is_in(catalog: Catalog, declared: Declaration) -> bool:
    name = declared.name.text
    if isinstance(declared, NodeDeclaration):
        return catalog.node(name) is not None
    if isinstance(declared, EdgeDeclaration):
        return name in catalog.edge_types
    return catalog.interface(name) is not None


def require_something(gate: Gate, action: Action, branch: str | None) -> None:
    """Refuse an actor whom no rule lets do this to any type, in the same words whether the branch is there or not."""
    if not gate.may_ever(action):
        gate.require(action, branch=branch)


def permit_text(
    gate: Gate,
    graph: Graph,
    action: Action,
    text: str,
    name: str | None,
    branch: str | None,
    snapshot: str | None = None,
) -> None:
    """Refuse a query that touches what its sender does not see; a type out of sight is one that does not exist."""
    if sees_all(gate, action, branch):
        return
    require_something(gate, action, branch)
    catalog = graph.schema.at(branch, commit=snapshot).catalog
    seen = visible_catalog(gate, action, branch, catalog)
    if not seen.nodes:
        gate.require(action, branch=branch)
    select_query(compile_queries(text, seen), name)
    gate.require(action, branch=branch, types=touched(select_query(compile_queries(text, catalog), name)))


def touched(query: CheckedQuery) -> list[str]:
    """The tables a query is about, as a gate asks."""
    return [use.table for use in (*query.reads, *query.writes)]
