"""Rows found by their ids in memory: the ids are put in order once, and then searched by halves."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.execute.columns import common_start, order_of, rows_of
from omnigraph.model.compute import pc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.adjacency import Small
    from omnigraph.execute.columns import Column, Fragments
    from omnigraph.execute.memory import SnapshotMemory

LOOKED_UP_MAX = 16
"""More ids than this are compared with all ids of a table at once."""
_ROWS_MIN = 2_000
"""Fewer ids are compared as fast as they are searched."""
_SCANS_OF_ORDER = 30
"""Putting ids in order takes about as long as comparing one with all of them so often."""
_MERGE_SHARE = 8
"""An order lasts while no more than this part of the rows was added behind it."""


@dataclass(frozen=True)
class IdOrder:
    """The rows of some first fragments of a table, by their ids."""

    fragments: Fragments
    rows: Small

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        return self.rows.nbytes

    def find(self, ids: Column, wanted: Iterable[str]) -> list[int]:
        """The rows that have these ids."""
        found: list[int] = []
        for one in wanted:
            place = bisect_left(self.rows, one, key=ids.value)
            if place < len(self.rows) and ids.value(self.rows[place]) == one:
                found.append(int(self.rows[place]))
        return found


def rows_by_id(memory: SnapshotMemory, key: str, wanted: Sequence[str]) -> Numbers | None:
    """The rows of a table that have these ids; None while comparing all of its ids is as good a way."""
    if memory.count(key) < _ROWS_MIN or not (memory.has_derived(key, "id", "order") or _is_due(memory, key)):
        return None
    order, ids = memory.derived(key, "id", "order", lambda earlier: _order(memory, key, earlier)), memory.ids(key)
    found = order.find(ids, wanted)
    added = ids.data.slice(len(order.rows))
    if len(added):
        is_wanted = pc.is_in(added, value_set=pa.array(wanted, ids.type))
        found.extend((np.flatnonzero(is_wanted) + len(order.rows)).tolist())
    return np.array(sorted(set(found)), np.int64)


def _is_due(memory: SnapshotMemory, key: str) -> bool:
    """Whether ids may be put in order: an earlier order still serves, or as much was spent on doing without."""
    if _best(memory, key, memory.earlier(key, "id", "order")) is not None:
        return True
    rows, name = memory.count(key), f"{memory.snapshot.state.table(key).location}/id/looked up"
    if not memory.fits(key, ["id"]) or memory.cache.spend([name], rows) < _SCANS_OF_ORDER * rows:
        return False
    memory.cache.spend([name], -_SCANS_OF_ORDER * rows)
    return True


def _order(memory: SnapshotMemory, key: str, earlier: Sequence[IdOrder]) -> IdOrder:
    best = _best(memory, key, earlier)
    if best is not None:
        return best
    return IdOrder(tuple(memory.table(key).fragments()), order_of(memory.ids(key).data))


def _best(memory: SnapshotMemory, key: str, earlier: Sequence[IdOrder]) -> IdOrder | None:
    """An order of an earlier version that has most of the rows."""
    fragments = tuple(memory.table(key).fragments())
    whole = (one for one in earlier if common_start(one.fragments, fragments) == len(one.fragments))
    best = max(whole, key=lambda one: len(one.rows), default=None)
    total = rows_of(fragments)
    return best if best is not None and (total - len(best.rows)) * _MERGE_SHARE <= total else None
