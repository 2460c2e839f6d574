"""Several merge bases, after two branches were merged into each other: one base that knows what all of them know.

The bases are merged themselves, onto where they parted. A cell they disagree about is known to nobody: whatever the two
sides of the outer merge say about it, if they differ, is a conflict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from omnigraph.history.bases import merge_bases, state_of
from omnigraph.history.combine import Aligned, combine, rows_of
from omnigraph.history.three_way import counterpart
from omnigraph.history.versions import CorrectedBase, Version, align
from omnigraph.history.views import View, view_of

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.history.diff import Differ
    from omnigraph.history.three_way import ThreeWay
    from omnigraph.history.versions import Versions
    from omnigraph.manifest import State


def correct_base(differ: Differ, merge: ThreeWay, base: State, others: list[State]) -> dict[str, CorrectedBase]:
    """By table: rows in which the base is to be corrected by what the other bases know."""
    found: dict[str, CorrectedBase] = {}
    for other in others:
        older = merge_bases(differ.repository, base, other)[0]
        if older.id in (base.head, other.head):
            continue
        root = view_of(differ.repository, state_of(differ.repository, older))
        known = view_of(differ.repository, other)
        for key, versions in merge.versions.items():
            corrected = _correct(differ, merge, versions, root, known)
            if corrected is not None and key not in found:
                found[key] = corrected
    return found


def _correct(differ: Differ, merge: ThreeWay, versions: Versions, root: View, other: View) -> CorrectedBase | None:
    before = counterpart(root, versions.table, merge.shared)
    after = counterpart(other, versions.table, merge.shared)
    if after is None or (before is not None and before.state.ref == after.state.ref):
        return None
    ids = cast("pa.StringArray", differ.table(root, before, other, after, merge.shared).ids)
    if not len(ids):
        return None
    oldest, ours = align(versions, Version(root, before), ids), align(versions, versions.base, ids)
    theirs = align(versions, Version(other, after), ids)
    combined = combine(versions.groups, oldest, ours, theirs)
    rows = rows_of(versions.groups, ours, theirs, combined.theirs)
    lost = combined.deleted_by_us | combined.deleted_by_them
    unknown = {name: mask | lost for name, mask in combined.divergent.items()}
    return CorrectedBase(ids, Aligned(np.asarray(combined.there), rows), unknown)
