"""Rows reached through memory: ordinals are rows of whole tables in scan order, neighbours stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.execute.access import Hits
from omnigraph.execute.hops import distinct, reach
from omnigraph.execute.keys import key_equality
from omnigraph.execute.lookup import LOOKED_UP_MAX, rows_by_id
from omnigraph.execute.masks import condition_mask
from omnigraph.execute.rows import used_columns
from omnigraph.execute.shortest import Steps, find_paths, least_of_groups
from omnigraph.execute.watch import NEVER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omnigraph.execute.access import Numbers, Paths
    from omnigraph.execute.adjacency import Adjacency
    from omnigraph.execute.masks import Mask
    from omnigraph.execute.memory import SnapshotMemory
    from omnigraph.execute.watch import Watch
    from omnigraph.query import ir
    from omnigraph.query.ir import Direction
    from omnigraph.query.params import Value

_NONE: Numbers = np.empty(0, np.int64)


class DenseGraph:
    """Access to a snapshot through its memory, for one query."""

    def __init__(
        self, memory: SnapshotMemory, params: Mapping[str, Value], now: datetime, watch: Watch = NEVER
    ) -> None:
        self.memory = memory
        self._params = params
        self._now = now
        self._watch = watch

    # -- rows ------------------------------------------------------------------------------------------

    def count(self, key: str) -> int:
        """How many rows the table has."""
        return self.memory.count(key)

    def scan(self, key: str, condition: ir.Expression | None, *, must_exist: bool = True) -> Numbers:
        """Ordinals of the rows that meet a condition. Only rows that exist have one."""
        del must_exist
        if condition is None:
            return np.arange(self.count(key))
        self._watch.check()
        found = self._by_id(key, condition)
        if found is not None:
            return found
        names = used_columns(condition)
        if self.memory.keeps(key, names):
            return np.flatnonzero(self._mask(self._whole(key, condition), condition))
        return self._streamed(key, names, condition)

    def _by_id(self, key: str, condition: ir.Expression) -> Numbers | None:
        """The rows of a condition that names their ids; None if there is a better way."""
        pinned = key_equality(condition, self.memory.catalog.table(key), self._params)
        if pinned is None or pinned.column != "id" or len(pinned.values) > LOOKED_UP_MAX:
            return None
        rows = rows_by_id(self.memory, key, pinned.values.to_pylist()) if len(pinned.values) else _NONE
        if rows is None or pinned.residual is None:
            return rows
        return rows[self.keep(key, pinned.residual, rows)]

    def _streamed(self, key: str, names: Sequence[str], condition: ir.Expression) -> Numbers:
        """Test rows as they are read, where their columns would fill the cache."""
        found = [_NONE]
        start = 0
        for batch in self.memory.table(key).batches(names):
            self._watch.check()
            found.append(np.flatnonzero(self._mask(pa.table(batch), condition)) + start)
            start += batch.num_rows
        return np.concatenate(found)

    def gather(self, key: str, names: Sequence[str], ordinals: Numbers) -> pa.Table:
        """Columns of rows, one row for each ordinal in the order asked for."""
        wanted = list(dict.fromkeys(names))
        missing = [name for name in wanted if not self.memory.has_column(key, name)]
        if missing and self.memory.is_few(key, missing, len(ordinals)):
            found = self._taken(key, missing, ordinals)
            held = self.memory.columns(key, [name for name in wanted if name not in missing])
            return pa.table({name: held[name].take(ordinals) if name in held else found[name] for name in wanted})
        columns = self.memory.columns(key, wanted)
        return pa.table({name: columns[name].take(ordinals) for name in wanted})

    def _taken(self, key: str, names: Sequence[str], ordinals: Numbers) -> dict[str, pa.Array]:
        """Read some rows of columns that are not in memory."""
        self._watch.check()
        positions = distinct(ordinals[ordinals >= 0])
        rows = self.memory.table(key).take(names, positions.tolist())
        places = np.searchsorted(positions, ordinals)
        indices = pa.array(places, mask=ordinals < 0)
        return {name: rows.column(name).combine_chunks().take(indices) for name in names}

    def keep(self, key: str, condition: ir.Expression, ordinals: Numbers) -> Mask:
        """For each ordinal, whether its row meets a condition; -1 meets none."""
        self._watch.check()
        names = used_columns(condition)
        if not names:
            return self._mask(_bare(len(ordinals)), condition) & (ordinals >= 0)
        return self._mask(self.gather(key, names, ordinals), condition) & (ordinals >= 0)

    def _whole(self, key: str, condition: ir.Expression) -> pa.Table:
        names = used_columns(condition)
        if not names:
            return _bare(self.count(key))
        columns = self.memory.columns(key, names)
        return pa.table({name: column.data for name, column in columns.items()})

    def _mask(self, rows: pa.Table, condition: ir.Expression) -> Mask:
        return condition_mask(rows, condition, self._params, self._now)

    # -- edges -----------------------------------------------------------------------------------------

    def adjacency(self, edge: str, direction: Direction) -> Adjacency:
        """Who is whose neighbour, of all nodes at once."""
        self._watch.check()
        return self.memory.adjacency(edge, direction)

    def degrees(self, edge: str, direction: Direction, *, parallel: bool) -> Numbers:
        """How many edges each node has in a direction, or how many neighbours."""
        self._watch.check()
        return self.memory.degrees(edge, direction, parallel=parallel)

    def expand(self, edge: str, direction: ir.Direction, sources: Numbers, *, parallel: bool) -> Hits:
        """Follow edges of a type once."""
        adjacency = self.adjacency(edge, direction)
        if not parallel:
            adjacency = adjacency.distinct()
        slots, positions = adjacency.slots(sources)
        edges = adjacency.edges[slots].astype(np.int64) if parallel else _NONE
        return Hits(positions, adjacency.targets[slots].astype(np.int64), edges)

    def reach(self, edge: str, direction: ir.Direction, sources: Numbers, min_hops: int, max_hops: int | None) -> Hits:
        """Follow edges between nodes of one type several times."""
        found = reach(self.adjacency(edge, direction), sources, min_hops, max_hops, self._watch.check)
        return Hits(*found, _NONE)

    def shortest(
        self,
        edge: str,
        direction: ir.Direction,
        sources: Numbers,
        targets: Numbers | None,
        min_hops: int,
        max_hops: int | None,
    ) -> Paths:
        """As `reach`, with a path to each node, or to `targets[i]` alone from `sources[i]`."""
        steps = Steps(
            self.adjacency(edge, direction),
            self.adjacency(edge, direction.opposite),
            self.memory.ranks(self.memory.ends(edge)[0]),
            lambda edges, groups: self._least(f"edge:{edge}", edges, groups),
            min_hops,
            max_hops,
            self._watch.check,
        )
        return find_paths(steps, sources, targets)

    def _least(self, key: str, edges: Numbers, groups: Numbers) -> Numbers:
        """Of each group of edges the one with the least id."""
        last = int(groups[-1]) + 1 if len(groups) else 0
        if len(edges) == last:
            return edges
        return least_of_groups(self.gather(key, ["id"], edges).column("id"), edges, groups)


def _bare(rows: int) -> pa.Table:
    """Rows without a column that matters."""
    return pa.table({"row": pa.nulls(rows, pa.bool_())})
