"""Edges end at nodes: what is written must find them, what goes must not be missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.violations import ViolationKind
from omnigraph.schema import EdgeType, NodeType, table_key
from omnigraph.write.compute import pc
from omnigraph.write.delta import NO_IDS, among, column, distinct_without, joined, without
from omnigraph.write.rules import rows_where

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.write.context import GraphCheck
    from omnigraph.write.delta import TableDelta


def check_endpoints(check: GraphCheck) -> None:
    """Every edge that is written ends at nodes that are there afterwards."""
    for delta in check.each("edge"):
        edge = delta.table
        if not isinstance(edge, EdgeType) or not delta.rows.num_rows:
            continue
        for node, ends in _ends_by_node(edge).items():
            missing = _missing_nodes(check, node, [delta.rows.column(end) for end in ends])
            for end in ends if len(missing) else ():
                _report_missing(check, delta, end, node, missing)


def _ends_by_node(edge: EdgeType) -> dict[str, list[str]]:
    """The ends of an edge by the type of node that is there."""
    if edge.source == edge.target:
        return {edge.source: ["src", "dst"]}
    return {edge.source: ["src"], edge.target: ["dst"]}


def _report_missing(check: GraphCheck, delta: TableDelta, end: str, node: str, missing: pa.Array) -> None:
    ends = column(delta.rows, end)
    for row in rows_where(among(ends, missing)):
        text = missing_end(delta.table.name, end, ends[int(row)].as_py(), node)
        check.report(delta, int(row), ViolationKind.ENDPOINT, text, property=end)


def missing_end(edge: str, end: str, node_id: str, node: str) -> str:
    """Say that an edge ends at nothing."""
    return f"edge {edge}: {end} '{node_id}' not found in {node}"


def _missing_nodes(check: GraphCheck, node: str, ends: list[pa.ChunkedArray]) -> pa.Array:
    """Those ids at the ends of edges that no node will have."""
    key = f"node:{node}"
    delta = check.deltas.get(key)
    rest = distinct_without(ends, NO_IDS if delta is None else delta.ids)
    gone = rest.slice(0, 0)
    if delta is not None:
        if delta.replaces:
            return rest
        gone = rest.filter(among(rest, delta.removed))
        rest = without(rest, delta.removed)
    if not len(rest):
        return gone
    found = column(check.txn.find(key, "id", rest, ["id"]), "id")
    if len(found):
        check.txn.depends_on(key, "removed")
    return joined([gone, without(rest, found)])


def check_references(check: GraphCheck) -> None:
    """No node goes away that is still the end of an edge."""
    for delta in check.each("node"):
        node = delta.table
        gone = _gone(check, delta)
        if not isinstance(node, NodeType) or not len(gone):
            continue
        for edge in check.catalog.edges_touching(node.name):
            if edge.source == node.name:
                _check_end(check, delta, edge, "src", gone)
            if edge.target == node.name:
                _check_end(check, delta, edge, "dst", gone)


def _gone(check: GraphCheck, delta: TableDelta) -> pa.Array:
    if not delta.replaces:
        return delta.removed
    return without(column(check.txn.snapshot.table(delta.key).scan(["id"]), "id"), delta.ids)


def _check_end(check: GraphCheck, nodes: TableDelta, edge: EdgeType, end: str, gone: pa.Array) -> None:
    key = table_key(edge)
    edges = check.deltas.get(key)
    if edges is not None and edges.replaces:  # only new rows are left, and those have been checked
        return
    check.txn.depends_on(key, "added", "changed")
    stored = check.txn.find(key, end, gone, ["id", end])
    if edges is not None and stored.num_rows:
        stored = stored.filter(without_mask(stored, edges.stored_ids))
    for row in stored.slice(0, check.violations.kept_max).to_pylist():
        text = lost_end(edge.name, end, row[end], nodes.table.name, row["id"])
        edge_id = (edge.name, str(row["id"]))
        check.report(nodes, None, ViolationKind.REFERENCE, text, row[end], edge=edge_id)
    check.violations.add_more(ViolationKind.REFERENCE, stored.num_rows - check.violations.kept_max)


def lost_end(edge: str, end: str, node_id: str, node: str, edge_id: str) -> str:
    """Say that an edge that stays ends at a node that goes."""
    return f"{end} '{node_id}' not found in {node}: edge {edge} '{edge_id}' still ends there"


def without_mask(rows: pa.Table, ids: pa.Array) -> pa.Array:
    """For each row whether its id is none of these."""
    return pc.invert(among(column(rows, "id"), ids))
