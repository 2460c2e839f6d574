"""Rows reached through indexes: for questions about a few nodes, which should not read whole tables first.

What is found is numbered. When it becomes much, `Outgrown` is raised, and the query starts again in memory; no more
than the bounds below is lost by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.execute.access import Hits, Outgrown
from omnigraph.execute.columns import ranks_of
from omnigraph.execute.found import FoundEdges, FoundRows
from omnigraph.execute.hops import reach
from omnigraph.execute.keys import key_equality
from omnigraph.execute.masks import condition_mask
from omnigraph.execute.rows import used_columns
from omnigraph.execute.shortest import Steps, find_paths, least_of_groups
from omnigraph.execute.watch import NEVER
from omnigraph.plan.lance import to_lance_filter
from omnigraph.query.ir import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from omnigraph.execute.access import Numbers, Paths
    from omnigraph.execute.adjacency import Adjacency
    from omnigraph.execute.masks import Mask
    from omnigraph.execute.watch import Watch
    from omnigraph.manifest import Snapshot
    from omnigraph.query import ir
    from omnigraph.query.params import Value
    from omnigraph.schema import Catalog

ROWS_MAX = 20_000
"""Rows of one table that may be found; with more, memory is the better way."""
FRONTIER_MAX = 1_000
"""Nodes whose edges may be asked for at once: up to so many values an index is asked."""
_NONE: Numbers = np.empty(0, np.int64)
_OUT, _IN = ("src", Direction.OUT), ("dst", Direction.IN)
_ENDS = {Direction.OUT: [_OUT], Direction.IN: [_IN], Direction.BOTH: [_OUT, _IN]}
"""Which ends of edges are looked for to follow them in a direction."""


class ProbeGraph:
    """Access to a snapshot through its indexes, for one query. `read` says which columns the query reads of tables."""

    def __init__(
        self,
        snapshot: Snapshot,
        catalog: Catalog,
        params: Mapping[str, Value],
        now: datetime,
        watch: Watch = NEVER,
        read: Mapping[str, frozenset[str]] | None = None,
        rows_max: int = ROWS_MAX,
    ) -> None:
        self._snapshot = snapshot
        self._catalog = catalog
        self._params = params
        self._now = now
        self._watch = watch
        self._read = read or {}
        self._rows_max = rows_max
        self._rows: dict[str, FoundRows] = {}
        self._edges: dict[str, FoundEdges] = {}

    # -- rows ------------------------------------------------------------------------------------------

    def count(self, key: str) -> int:
        """How many rows the table has."""
        return self._snapshot.state.table(key).row_count

    def scan(self, key: str, condition: ir.Expression | None, *, must_exist: bool = True) -> Numbers:
        """Numbers of the rows that meet a condition."""
        if not must_exist and condition is not None:
            pinned = key_equality(condition, self._catalog.table(key), self._params)
            if pinned is not None and pinned.column == "id" and pinned.residual is None:
                return self._found(key).number(pinned.values.to_pylist())
        found = [_NONE]
        total = 0
        for rows in self._scanned(key, condition):
            self._watch.check()
            total += rows.num_rows
            if total > self._rows_max:
                raise Outgrown
            found.append(self._found(key).keep(rows))
        return np.concatenate(found)

    def _scanned(self, key: str, condition: ir.Expression | None) -> Iterator[pa.Table]:
        """Rows that meet a condition, with the columns that are read of them later."""
        names = ["id", *sorted(self._read.get(key, frozenset()) - {"id"})]
        if condition is None:
            for batch in self._snapshot.table(key).batches(names):
                yield pa.table(batch)
            return
        needed = list(dict.fromkeys([*names, *used_columns(condition)]))
        pinned = key_equality(condition, self._catalog.table(key), self._params)
        if pinned is not None:
            rows = self._snapshot.find(key, pinned.column, pinned.values, needed)
            yield self._only(rows, pinned.residual, names)
            return
        pushed = to_lance_filter(condition, self._params)
        for batch in self._snapshot.table(key).batches(needed, where=pushed.text):
            yield self._only(pa.table(batch), pushed.residual, names)

    def _only(self, rows: pa.Table, condition: ir.Expression | None, names: Sequence[str]) -> pa.Table:
        if condition is not None and rows.num_rows:
            rows = rows.filter(pa.array(condition_mask(rows, condition, self._params, self._now)))
        return rows.select(list(names))

    def gather(self, key: str, names: Sequence[str], ordinals: Numbers) -> pa.Table:
        """Columns of rows, one row for each number in the order asked for."""
        wanted = list(dict.fromkeys(names))
        found = self._found(key)
        lacking, rows = found.lacking(wanted, ordinals)
        if lacking:
            self._watch.check()
            found.keep(self._snapshot.find(key, "id", found.ids(rows), ["id", *lacking]))
        return pa.table({name: found.take(name, ordinals) for name in wanted})

    def keep(self, key: str, condition: ir.Expression, ordinals: Numbers) -> Mask:
        """For each number, whether its row meets a condition; -1 meets none."""
        names = used_columns(condition) or ["id"]
        rows = self.gather(key, names, ordinals)
        return condition_mask(rows, condition, self._params, self._now) & (ordinals >= 0)

    # -- edges -----------------------------------------------------------------------------------------

    def expand(self, edge: str, direction: ir.Direction, sources: Numbers, *, parallel: bool) -> Hits:
        """Follow edges of a type once."""
        self._fetch(edge, direction, sources)
        adjacency = self._known(edge, direction)
        if not parallel:
            adjacency = adjacency.distinct()
        slots, positions = adjacency.slots(sources)
        edges = adjacency.edges[slots].astype(np.int64) if parallel else _NONE
        return Hits(positions, adjacency.targets[slots].astype(np.int64), edges)

    def reach(self, edge: str, direction: ir.Direction, sources: Numbers, min_hops: int, max_hops: int | None) -> Hits:
        """Follow edges between nodes of one type several times."""
        self._explore(edge, direction, sources, None, max_hops)
        found = reach(self._known(edge, direction), sources, min_hops, max_hops, self._watch.check)
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
        self._explore(edge, direction, sources, targets, max_hops)
        nodes = self._found(self._ends(edge)[0])
        steps = Steps(
            self._known(edge, direction),
            self._known(edge, direction.opposite),
            ranks_of(pa.chunked_array([nodes.ids(np.arange(len(nodes)))])),
            lambda edges, groups: least_of_groups(self._found(f"edge:{edge}").ids(edges), edges, groups),
            min_hops,
            max_hops,
            self._watch.check,
        )
        return find_paths(steps, sources, targets)

    def _explore(
        self, edge: str, direction: Direction, sources: Numbers, targets: Numbers | None, max_hops: int | None
    ) -> None:
        """Fetch all edges that following from each source needs, level by level, until it has found its targets."""
        wanted: dict[int, set[int]] = {}
        for n, source in enumerate(sources.tolist()):
            if source >= 0 and (targets is None or targets[n] >= 0):
                goals = wanted.setdefault(source, set())
                goals.update(() if targets is None else (int(targets[n]),))
        seen = {source: {source} for source in wanted}
        frontiers = {source: {source} for source in wanted}
        hop = 0
        while frontiers and (max_hops is None or hop < max_hops):
            self._watch.check()
            hop += 1
            self._fetch(edge, direction, np.array(sorted(set().union(*frontiers.values())), np.int64))
            adjacency = self._known(edge, direction)
            for source, frontier in list(frontiers.items()):
                slots, _ = adjacency.slots(np.array(sorted(frontier), np.int64))
                fresh = set(adjacency.targets[slots].tolist()) - seen[source]
                seen[source] |= fresh
                frontiers[source] = fresh
                if not fresh or (targets is not None and wanted[source] <= seen[source]):
                    del frontiers[source]
            if sum(map(len, seen.values())) > self._rows_max:
                raise Outgrown

    def _fetch(self, edge: str, direction: Direction, nodes: Numbers) -> None:
        """Ask for the edges of nodes that are not known yet."""
        found = self._edges.setdefault(edge, FoundEdges())
        key = f"edge:{edge}"
        source_rows, target_rows = (self._found(end) for end in self._ends(edge))
        for column, side in _ENDS[direction]:
            unknown = found.unknown(side, nodes)
            if not len(unknown):
                continue
            if len(unknown) > FRONTIER_MAX:
                raise Outgrown
            self._watch.check()
            ids = (source_rows if side is Direction.OUT else target_rows).ids(unknown)
            kept = ["id", *sorted(self._read.get(key, frozenset()) - {"id"})]
            rows = self._snapshot.find(key, column, ids, list(dict.fromkeys((*kept, "src", "dst"))))
            if rows.num_rows + len(found.sources) > self._rows_max:
                raise Outgrown
            numbers = self._found(key).keep(rows.select(kept))
            starts = source_rows.number(rows.column("src").to_pylist())
            ends = target_rows.number(rows.column("dst").to_pylist())
            found.add(numbers, starts, ends)
            found.complete[side].update(unknown.tolist())

    def _known(self, edge: str, direction: Direction) -> Adjacency:
        source, target = self._ends(edge)
        nodes = len(self._found(target if direction is Direction.IN else source))
        return self._edges.setdefault(edge, FoundEdges()).adjacency(direction, nodes)

    def _ends(self, edge: str) -> tuple[str, str]:
        declared = self._catalog.edge_types[edge]
        return f"node:{declared.source}", f"node:{declared.target}"

    def _found(self, key: str) -> FoundRows:
        if key not in self._rows:
            self._rows[key] = FoundRows(lambda: self._snapshot.table(key).schema)
        return self._rows[key]
