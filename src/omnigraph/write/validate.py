"""The one validator, for mutations, loads and merges. Its cost follows the delta, not the graph.

Rules of single rows are in `rules`; here a whole delta is held against a snapshot. What a check reads there is
declared as the write's read set, so that a commit that would change the answer makes the write look again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnigraph.model.errors import KeyConflict
from omnigraph.model.violations import Violations
from omnigraph.write.cardinality import check_cardinality
from omnigraph.write.context import GraphCheck
from omnigraph.write.delta import RowMode, among, column
from omnigraph.write.references import check_endpoints, check_references
from omnigraph.write.rules import rows_where
from omnigraph.write.uniqueness import check_unique

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.schema import Catalog
    from omnigraph.write.context import Ground
    from omnigraph.write.delta import TableDelta

CHECKS = (check_endpoints, check_references, check_cardinality, check_unique)


def validate(
    catalog: Catalog, txn: Ground, deltas: Mapping[str, TableDelta], violations: Violations | None = None
) -> None:
    """Refuse a delta that would leave the graph broken; every violation is reported, not only the first."""
    found = Violations() if violations is None else Violations(violations.kept_max)
    found.merge(violations or Violations())
    find_violations(catalog, txn, deltas, found)
    found.raise_if_any()
    for delta in deltas.values():
        taken = taken_rows(txn, delta)
        if len(taken):
            row = int(taken[0])
            place = delta.places.text(row) if delta.places is not None else None
            raise KeyConflict(delta.key, delta.ids[row].as_py(), count=len(taken), place=place)


def find_violations(catalog: Catalog, txn: Ground, deltas: Mapping[str, TableDelta], violations: Violations) -> None:
    """Everything that would be wrong with the graph after a delta."""
    check = GraphCheck(catalog, txn, deltas, violations)
    for each in CHECKS:
        each(check)


def taken_rows(txn: Ground, delta: TableDelta) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rows of a strict insert whose ids are there already."""
    if delta.mode is not RowMode.INSERT or not delta.rows.num_rows or not txn.snapshot.table(delta.key).row_count:
        return np.empty(0, np.int64)
    taken = column(txn.find(delta.key, "id", delta.ids, ["id"]), "id")
    return rows_where(among(delta.ids, taken)) if len(taken) else np.empty(0, np.int64)
