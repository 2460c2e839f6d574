"""A second look at edges, once it is known which ids are not there: which rows end at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.pipeline.keys.plan import ends_of, table_of
from omnigraph.pipeline.keys.scatter import AT, parts_of, read_stored
from omnigraph.pipeline.keys.verdict import ENDPOINTS, REFERENCES, Findings
from omnigraph.pipeline.staging import get_keys
from omnigraph.schema import EdgeType
from omnigraph.storage.store import connect
from omnigraph.write.delta import among, column
from omnigraph.write.places import place_text
from omnigraph.write.references import lost_end, missing_end

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.pipeline.keys.plan import KeyPlan, SplitKeys, StoredKeys


def missing_ends(plan: KeyPlan, source: SplitKeys, files: Mapping[str, Sequence[str]]) -> Findings:
    """Edges of a split that end at nodes that are not there."""
    found = Findings(Violations().kept_max)
    keys = list(plan.modes)
    for part in parts_of(plan, source):
        edge = table_of(plan.catalog, part.key)
        if not isinstance(edge, EdgeType):
            continue
        for number, (end, node) in enumerate(ends_of(edge)):
            rows = part.rows.filter(_ends_in(plan, column(part.rows, end), files.get(node, ())))
            kept = rows.slice(0, found.kept_max)
            for row in kept.select(list(dict.fromkeys(("id", end, AT)))).to_pylist():
                at = row[AT]
                text = missing_end(edge.name, end, row[end], node.partition(":")[2])
                place = place_text(plan.words, at)
                violation = Violation(ViolationKind.ENDPOINT, text, edge.name, end, row["id"], place, at)
                found.add((at, ENDPOINTS, keys.index(part.key), number), violation)
            found.add_more(ViolationKind.ENDPOINT, rows.num_rows - kept.num_rows)
    return found


def lost_ends(plan: KeyPlan, number: int, source: StoredKeys, files: Mapping[str, Sequence[str]]) -> Findings:
    """Edges of the graph that stay, and would end at nodes that go."""
    found = Findings(Violations().kept_max)
    edge = table_of(plan.catalog, source.key)
    if not isinstance(edge, EdgeType) or not plan.keeps_edges(source.key):
        return found
    keys = list(plan.modes)
    for place, (end, node) in enumerate(ends_of(edge)):
        if not files.get(node):
            continue
        stored = read_stored(source, number, ("id", end))
        rows = stored.filter(_ends_in(plan, column(stored, end), files[node]))
        kept = rows.slice(0, found.kept_max)
        for row in kept.to_pylist():
            text = lost_end(edge.name, end, row[end], node.partition(":")[2], row["id"])
            violation = Violation(
                ViolationKind.REFERENCE,
                text,
                node.partition(":")[2],
                None,
                row[end],
                edge=(edge.name, str(row["id"])),
            )
            order = (0, REFERENCES, keys.index(node), plan.catalog.edges.index(edge), place, row[AT])
            found.add(order, violation)
        found.add_more(ViolationKind.REFERENCE, rows.num_rows - kept.num_rows)
    return found


def _ends_in(plan: KeyPlan, ends: pa.Array, files: Sequence[str]) -> pa.Array:
    store, hits = connect(plan.address), np.zeros(len(ends), np.bool_)
    for path in files:
        hits |= np.asarray(among(ends, column(get_keys(store, path), "id")))
    return pa.array(hits)
