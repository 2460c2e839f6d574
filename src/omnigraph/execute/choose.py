"""How a query starts to reach rows, and what happens when that turns out to be the wrong way."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from omnigraph.execute.access import Outgrown
from omnigraph.execute.dense import DenseGraph
from omnigraph.execute.keys import key_equality
from omnigraph.execute.memory import SnapshotMemory
from omnigraph.execute.probe import ROWS_MAX, ProbeGraph
from omnigraph.execute.rows import used_columns
from omnigraph.execute.topology import Topology
from omnigraph.plan.estimate import Estimates
from omnigraph.plan.steps import Bind, Follow, Meet, Trace, Weigh
from omnigraph.plan.touched import columns_read, steps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnigraph.execute.access import Access
    from omnigraph.execute.engines import ReadRequest
    from omnigraph.plan.steps import Branch, PatternPlan, Step
    from omnigraph.query import ir

T = TypeVar("T")

# Rough times in milliseconds, measured warm on a local disk: they only have to tell far apart ways from each other.
_PROBE = 1.5
"""One look into an index."""
_FOUND_ROW = 0.01
"""Reading and numbering one row."""
_STREAMED_ROW = 1e-5
"""Testing one row of a scan."""
_SIFTED_ROW = 2.5e-5
"""Comparing one row that no index covers."""
_CHECKED_EDGE = 1e-6
"""Checking the sum of a saved edge."""
_FETCHED_BYTE = 1e-5
"""Getting a byte of a saved adjacency from an object store."""
_READ_VALUE = 1e-4
"""Reading one value of a column into memory."""
_READ_EDGE = 4e-4
"""Reading one edge, and putting it in order."""
_TESTED_ROW = 3e-6
"""Testing one row in memory."""
_INFINITE = float("inf")
_VALUE_BYTES = 24
_ROOM = 4
"""What would take more than this part of the cache is not read only because it was asked for often."""


def with_access(request: ReadRequest, run: Callable[[Access], T]) -> T:
    """Run a query with the access it should start with. `run` may be called a second time, with another access.

    So everything that has ordinals in it has to be made inside `run`: each access numbers rows in its own way.
    """
    memory = SnapshotMemory(request.snapshot, request.catalog, topology=Topology(request.repository.parts.store))
    costs = Costs(request, memory)
    if starts_with_probes(memory, costs):
        probes = ProbeGraph(
            request.snapshot, request.catalog, request.params, request.now, request.watch, costs.columns_read
        )
        try:
            return run(probes)
        except Outgrown:
            request.profile.start_again()
    return run(DenseGraph(memory, request.params, request.now, request.watch))


def starts_with_probes(memory: SnapshotMemory, costs: Costs) -> bool:
    """Whether to ask indexes: few rows are expected, and what memory lacks would take longer to read."""
    probing = costs.probing()
    reading = costs.reading(lambda *_: None)
    if costs.reading(lambda *_: 0) < probing < reading:  # only then it matters whether an adjacency is saved
        reading = costs.reading(memory.saved_bytes)
    if probing == _INFINITE or probing >= reading:
        return False
    # To buy is right once as much was paid in rent, whatever comes: then what memory lacks is read after all.
    return memory.cache.spend(costs.locations(), probing) < reading or costs.bytes() > memory.cache.bytes_max // _ROOM


class Costs:
    """What both ways are expected to take."""

    def __init__(self, request: ReadRequest, memory: SnapshotMemory) -> None:
        self._request = request
        self._memory = memory
        self._estimates = Estimates(request.catalog, self)

    def rows(self, key: str) -> int:
        """How many rows a table has."""
        tables = self._request.snapshot.state.tables
        return tables[key].row_count if key in tables else 0

    # -- by indexes ------------------------------------------------------------------------------------

    def probing(self) -> float:
        """Milliseconds by indexes; infinite if more would be found than may be."""
        total, rows = 0.0, 1.0
        for step in steps_of(self._request.plan.pattern):
            if isinstance(step, Bind):
                if step.must_exist:
                    total += sum(self._scan(f"node:{name}", step.condition) for name in step.types)
                found = step.estimate / max(1.0, rows)
            else:
                looking, found = self._followed(step, rows)
                total += looking
            if max(found, step.estimate) > ROWS_MAX:
                return _INFINITE
            total += found * _FOUND_ROW
            rows = step.estimate
        return total

    def _scan(self, key: str, condition: ir.Expression | None) -> float:
        if condition is None:
            return self.rows(key) * _FOUND_ROW
        table = self._request.catalog.table(key)
        pinned = key_equality(condition, table, self._request.params)
        if pinned is not None and pinned.column in table.indexes:
            return self._look(key, pinned.column)
        return _PROBE + self.rows(key) * _STREAMED_ROW * len(used_columns(condition))

    def _followed(self, step: Step, rows: float) -> tuple[float, float]:
        """Milliseconds a step takes to look things up, and how many edges it finds."""
        match step:
            case Follow(expand=expand) | Meet(expand=expand) | Trace(expand=expand):
                looks = float(min(expand.max_hops or 4, 4)) * self._hop(expand)
                return looks, rows * self._estimates.fanout(expand)
            case Weigh(branch=branch):
                return self._branch(branch, rows)
            case _:
                return 0.0, 0.0

    def _hop(self, expand: ir.Expand) -> float:
        """Milliseconds to find the edges of nodes."""
        ends = {"out": ("src",), "in": ("dst",)}.get(expand.direction.value, ("src", "dst"))
        return sum(self._look(f"edge:{expand.edge}", end) for end in ends)

    def _look(self, key: str, column: str) -> float:
        """Milliseconds to find rows by a value: what no index covers is sifted."""
        return _PROBE + self._request.snapshot.table(key).unindexed_rows(column) * _SIFTED_ROW

    def _branch(self, branch: Branch, rows: float) -> tuple[float, float]:
        found = rows * self._estimates.fanout(branch.expand)
        looks, total = self._hop(branch.expand), found
        for inner in branch.branches:
            more, edges = self._branch(inner, found)
            looks, total = looks + more, total + edges
        return looks, total

    def locations(self) -> list[str]:
        """The tables the query reads."""
        edges = {f"edge:{edge}" for edge, _ in self._followed_edges}
        keys = edges | {key for key, _ in self._tested}
        return sorted(self._request.snapshot.state.table(key).location for key in keys)

    def bytes(self) -> int:
        """About what all that is read would take in memory."""
        return sum(self.rows(key) * max(1, len(names)) * _VALUE_BYTES for key, names in self._tested)

    # -- in memory -------------------------------------------------------------------------------------

    def reading(self, saved_bytes: Callable[[str, ir.Direction], int | None]) -> float:
        """Milliseconds in memory: what is not there is read. Given how many bytes of a saved adjacency are fetched."""
        return sum(self._columns(key, names) for key, names in self._tested) + sum(
            self._edges(edge, direction, saved_bytes) for edge, direction in self._followed_edges
        )

    @cached_property
    def columns_read(self) -> dict[str, frozenset[str]]:
        """By table, the columns that are read once the rows are found."""
        return columns_read(self._request.plan, self._request.catalog)

    @cached_property
    def _followed_edges(self) -> frozenset[tuple[str, ir.Direction]]:
        return frozenset(_adjacencies(self._request.plan.pattern))

    @cached_property
    def _tested(self) -> list[tuple[str, list[str]]]:
        """Tables, and columns that conditions on their rows or what is returned of these read."""
        found: list[tuple[str, list[str]]] = []
        for step in steps_of(self._request.plan.pattern):
            if isinstance(step, Bind):
                names = [] if step.condition is None else used_columns(step.condition)
                found += [(f"node:{name}", names) for name in step.types]
        return found + [(key, sorted(names)) for key, names in self.columns_read.items()]

    def _columns(self, key: str, names: list[str]) -> float:
        lacking = [name for name in names if not self._memory.has_column(key, name)]
        fixed = _PROBE if lacking else 0.0
        return fixed + self.rows(key) * (len(names) * _TESTED_ROW + len(lacking) * _READ_VALUE)

    def _edges(
        self, edge: str, direction: ir.Direction, saved_bytes: Callable[[str, ir.Direction], int | None]
    ) -> float:
        if self._memory.has_adjacency(edge, direction):
            return 0.0
        saved = saved_bytes(edge, direction)
        if saved is not None:
            return _PROBE + self.rows(f"edge:{edge}") * _CHECKED_EDGE + saved * _FETCHED_BYTE
        nodes = sum(self.rows(key) for key in self._memory.ends(edge))
        return 2 * _PROBE + nodes * _READ_VALUE + self.rows(f"edge:{edge}") * _READ_EDGE


def _adjacencies(plan: PatternPlan) -> Iterator[tuple[str, ir.Direction]]:
    for step in steps_of(plan):
        if isinstance(step, Follow | Meet | Trace):
            yield step.expand.edge, step.expand.direction
        elif isinstance(step, Weigh):
            yield from _of_branch(step.branch)


def _of_branch(branch: Branch) -> Iterator[tuple[str, ir.Direction]]:
    yield branch.expand.edge, branch.expand.direction
    for inner in branch.branches:
        yield from _of_branch(inner)
