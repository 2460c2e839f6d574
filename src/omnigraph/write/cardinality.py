"""How many edges leave a source: counted again for every source a write touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.violations import ViolationKind
from omnigraph.schema import EdgeType
from omnigraph.write.compute import pc
from omnigraph.write.delta import column, distinct, joined
from omnigraph.write.references import without_mask
from omnigraph.write.rules import rows_where

if TYPE_CHECKING:
    from omnigraph.write.context import GraphCheck
    from omnigraph.write.delta import TableDelta


def check_cardinality(check: GraphCheck) -> None:
    """Sources that gain or lose edges have a number of them that `@card` allows."""
    for delta in check.each("edge"):
        edge = delta.table
        if not isinstance(edge, EdgeType) or edge.cardinality.is_default:
            continue
        counts = _counts(check, delta, edge)
        for source, count in counts.items():
            if not edge.cardinality.allows(count) and not (count == 0 and _is_gone(check, edge, source)):
                _report(check, delta, edge, source, count)


def _counts(check: GraphCheck, delta: TableDelta, edge: EdgeType) -> dict[str, int]:
    """How many edges each touched source has after the write."""
    written = column(delta.rows, "src")
    if delta.replaces:
        lost = column(check.txn.snapshot.table(delta.key).scan(["src"]), "src") if edge.cardinality.minimum else None
        touched = distinct(joined([written, lost] if lost is not None else [written]))
        return _tally(touched, [written])
    before = check.txn.find(delta.key, "id", delta.stored_ids, ["id", "src"]) if len(delta.stored_ids) else None
    touched = distinct(joined([written, column(before, "src")] if before is not None else [written]))
    aspects = ("added", "changed", "removed") if edge.cardinality.minimum else ("added", "changed")
    check.txn.depends_on(delta.key, *aspects)
    stored = check.txn.find(delta.key, "src", touched, ["id", "src"])
    if len(delta.stored_ids) and stored.num_rows:
        stored = stored.filter(without_mask(stored, delta.stored_ids))
    return _tally(touched, [written, column(stored, "src")])


def _tally(touched: pa.Array, sources: list[pa.Array]) -> dict[str, int]:
    counts = dict.fromkeys(touched.to_pylist(), 0)
    found = pc.value_counts(joined(sources))
    for entry in found.to_pylist():
        counts[entry["values"]] = entry["counts"]
    return counts


def _is_gone(check: GraphCheck, edge: EdgeType, source: str) -> bool:
    """Whether a source that has lost all its edges is no longer there itself."""
    nodes = check.deltas.get(f"node:{edge.source}")
    if nodes is None:
        return False
    known = pa.scalar(source, pa.string())
    if nodes.replaces:
        return not pc.any(pc.equal(nodes.ids, known)).as_py()
    return bool(len(nodes.removed)) and bool(pc.any(pc.equal(nodes.removed, known)).as_py())


def _report(check: GraphCheck, delta: TableDelta, edge: EdgeType, source: str, count: int) -> None:
    rows = rows_where(pc.equal(column(delta.rows, "src"), pa.scalar(source, pa.string())))
    text = wrong_number(edge, source, count)
    check.report(delta, int(rows[-1]) if len(rows) else None, ViolationKind.CARDINALITY, text, source)


def wrong_number(edge: EdgeType, source: str, count: int) -> str:
    """Say that too few or too many edges leave a source."""
    bounds = edge.cardinality
    bound = f"min {bounds.minimum}" if count < bounds.minimum else f"max {bounds.maximum}"
    noun = "edge" if count == 1 else "edges"
    return f"@card violation on edge {edge.name}: source '{source}' has {count} {noun} ({bound})"
