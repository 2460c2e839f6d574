"""Loading what is right and leaving out the rest: rows with violations, and rows that are wrong without those."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.errors import ResourceLimit
from omnigraph.model.violations import REJECTS_MAX, Violation, ViolationKind, Violations
from omnigraph.write.places import Places
from omnigraph.write.validate import find_violations, taken_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.manifest import WriteTxn
    from omnigraph.schema import Catalog, EdgeType, NodeType
    from omnigraph.write.delta import Deltas, TableDelta


@dataclass
class Rejected:
    """Rows that were left out, by position, with what is wrong with each."""

    rows: dict[int, list[Violation]] = field(default_factory=dict[int, list[Violation]])

    @property
    def counts(self) -> dict[ViolationKind, int]:
        """How many violations of each kind there are."""
        kinds = [violation.kind for found in self.rows.values() for violation in found]
        return {kind: kinds.count(kind) for kind in sorted(set(kinds))}

    def add(self, violations: Violations) -> None:
        """Take in what was found. What is no row's fault cannot be left out, and refuses the load."""
        if violations.total > len(violations.kept):
            raise ResourceLimit("rejected rows", limit=REJECTS_MAX, actual=violations.total)
        general = Violations()
        general.add_all(violation for violation in violations.kept if violation.place is None)
        general.raise_if_any()
        for violation in violations.kept:
            self.rows.setdefault(violation.position, []).append(violation)


def without_rejected(
    catalog: Catalog, txn: WriteTxn, deltas: Deltas, violations: Violations, rejected: Rejected
) -> Deltas:
    """Leave out rows until the rest is right: an edge goes with the node it ends at."""
    rejected.add(violations)
    while True:
        deltas = {key: _without(delta, rejected.rows) for key, delta in deltas.items()}
        found = Violations()
        find_violations(catalog, txn, deltas, found)
        for delta in deltas.values():
            _report_taken(txn, delta, found)
        if not found.total:
            return deltas
        rejected.add(found)


def _without(delta: TableDelta, rejected: Mapping[int, object]) -> TableDelta:
    assert delta.places is not None
    numbers = delta.places.numbers
    stays = ~np.isin(numbers, np.fromiter(rejected, np.int64, len(rejected)))
    if stays.all():
        return delta
    rows = delta.rows.filter(pa.array(stays))
    return replace(delta, rows=rows, places=Places(delta.places.words, numbers[stays]))


def exists_already(table: NodeType | EdgeType, entity_id: str) -> str:
    """Say that an id is taken."""
    return f"{table.kind} {table.name} '{entity_id}' exists already"


def _report_taken(txn: WriteTxn, delta: TableDelta, found: Violations) -> None:
    assert delta.places is not None
    for row in map(int, taken_rows(txn, delta)):
        entity_id = delta.ids[row].as_py()
        text = exists_already(delta.table, entity_id)
        place, position = delta.places.text(row), int(delta.places.numbers[row])
        found.add(Violation(ViolationKind.KEY, text, delta.table.name, None, entity_id, place, position))
