"""Traversals: edges, directions, hops, edge and path variables (T4, T5, T15, T22, T23)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.query import ast, ir
from omnigraph.query.check.context import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.query.check.context import Place, Scope
    from omnigraph.schema.catalog import EdgeType


def check_traversals(place: Place, nodes: Sequence[ast.Traversal]) -> tuple[ir.Expand, ...]:
    """Check the traversals of one clause list; the order they are written in does not matter."""
    found: dict[int, ir.Expand] = {}
    for position in _reachable_first(place.scope, nodes):
        expand = _expand(place, nodes[position])
        if expand is not None:
            found[position] = expand
    return tuple(found[position] for position in sorted(found))


def _reachable_first(scope: Scope, nodes: Sequence[ast.Traversal]) -> Iterator[int]:
    """Give positions so that an end is bound before the direction is inferred, wherever that is possible."""
    waiting: dict[str, list[int]] = {}
    ready: list[int] = []
    for position, node in enumerate(nodes):
        if node.source.name in scope or node.target.name in scope:
            ready.append(position)
        else:
            for end in (node.source.name, node.target.name):
                waiting.setdefault(end, []).append(position)
    heapify(ready)
    done: set[int] = set()
    rest = iter(range(len(nodes)))
    while len(done) < len(nodes):
        position = heappop(ready) if ready else next(rest)
        if position in done:
            continue
        done.add(position)
        yield position
        for end in {nodes[position].source.name, nodes[position].target.name} - {"_"}:
            for woken in waiting.pop(end, ()):
                heappush(ready, woken)


def _expand(place: Place, node: ast.Traversal) -> ir.Expand | None:
    edge = _edge(place, node)
    hops = _hops(place, node)
    source, target = _end(place, node.source), _end(place, node.target)
    direction = edge and _direction(place, node, edge, source, target)
    if edge is None or direction is None:
        ends = (None, None)
    else:
        ends = (edge.target, edge.source) if direction is ir.Direction.IN else (edge.source, edge.target)
    for name, end in zip((source, target), ends, strict=True):
        if name not in place.scope:
            place.scope.bind(name, None if end is None else ir.NodeValue((end,)))
    edge_variable, path_variable = _edge_variable(place, node, edge), _path_variable(place, node, edge)
    if edge is None or direction is None or hops is None:
        return None
    assert ends[0] is not None
    assert ends[1] is not None
    return ir.Expand(source, target, edge.name, direction, ends[0], ends[1], *hops, edge_variable, path_variable)


# -- the edge and its ends -----------------------------------------------------------------------------


def _edge(place: Place, node: ast.Traversal) -> EdgeType | None:
    word = node.edge
    edge = place.catalog.edge(word.text)
    if edge is None:
        known = [name[0].lower() + name[1:] for name in place.catalog.edge_types]
        hint = suggest(word.text, known)
        return place.error("T4", f"there is no edge {word.text!r}", word.span, hint)
    if node.undirected and edge.source != edge.target:
        place.error(
            "T22",
            f"<{word.text}> needs an edge between nodes of one type; "
            f"{edge.name} goes from {edge.source} to {edge.target}",
            word.span,
            "leave out the angle brackets",
        )
        return None
    return edge


def _end(place: Place, node: ast.Variable) -> str:
    if node.name == "_":
        return place.findings.anonymous()
    kind = place.scope.find(node.name)
    if kind is not None and not isinstance(kind, ir.NodeValue):
        place.error("T23", f"${node.name} is {describe(kind)} and cannot be the end of a traversal", node.span)
        return place.findings.anonymous()
    return node.name


def _direction(place: Place, node: ast.Traversal, edge: EdgeType, source: str, target: str) -> ir.Direction | None:
    """As written if the types allow it, backwards if only that fits."""
    if source == target and edge.source != edge.target:
        return place.error(
            "T5", f"{edge.name} goes from {edge.source} to {edge.target}, never from a node to itself", node.target.span
        )
    if _accepts(place, source, edge.source) and _accepts(place, target, edge.target):
        return ir.Direction.BOTH if node.undirected else ir.Direction.OUT
    if _accepts(place, source, edge.target) and _accepts(place, target, edge.source):
        return ir.Direction.IN
    wrong = node.target if _touches(place, source, edge) else node.source
    kind = place.scope.find(wrong.name)
    assert kind is not None
    return place.error(
        "T5", f"{edge.name} goes from {edge.source} to {edge.target}, but ${wrong.name} is {describe(kind)}", wrong.span
    )


def _accepts(place: Place, name: str, type_name: str) -> bool:
    kind = place.scope.find(name)
    return not isinstance(kind, ir.NodeValue) or type_name in kind.types


def _touches(place: Place, name: str, edge: EdgeType) -> bool:
    return _accepts(place, name, edge.source) or _accepts(place, name, edge.target)


# -- hops and variables --------------------------------------------------------------------------------


def _hops(place: Place, node: ast.Traversal) -> tuple[int, int | None] | None:
    hops = node.hops
    if hops is None:
        return 1, 1
    if hops.least == 0:
        return place.error("T15", "hops start at 1", hops.span, "for zero hops use optional { … }")
    if hops.most is not None and hops.most < hops.least:
        return place.error(
            "T15", f"at least {hops.least} and at most {hops.most} hops are never met", hops.span, "swap the bounds"
        )
    return hops.least, hops.most


def _edge_variable(place: Place, node: ast.Traversal, edge: EdgeType | None) -> str | None:
    variable = node.edge_variable
    if variable is None:
        return None
    if node.hops is not None:
        place.error(
            "T23", f"${variable.name} stands for one edge, so there are no hops", node.hops.span, "leave out the hops"
        )
    kind = edge and ir.EdgeValue(edge.name)
    return _fresh(place, variable, kind)


def _path_variable(place: Place, node: ast.Traversal, edge: EdgeType | None) -> str | None:
    variable = node.path_variable
    if variable is None:
        return None
    if node.edge_variable is not None:
        place.error("T23", "a shortest path has no edge variable", node.edge_variable.span, "use edges($path)")
    kind = edge and ir.PathValue(edge.name)
    return _fresh(place, variable, kind)


def _fresh(place: Place, variable: ast.Variable, kind: ir.VariableType | None) -> str | None:
    """Bind an edge or path variable, whose name must be new."""
    name = variable.name
    if name == "_":
        name = place.findings.anonymous()
    elif name in place.scope:
        return place.error("T23", f"${name} is bound already", variable.span, "choose another name")
    place.scope.bind(name, kind)
    return name
