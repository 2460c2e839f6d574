"""How a query reaches the rows of one snapshot: every node and edge is a number, and rows are found by following these.

There are two ways with one meaning. `dense` numbers the rows of whole tables in scan order and keeps columns and
adjacency in memory: for patterns over much of a graph. `probe` asks Lance's indexes for what a small frontier needs
and numbers what it found: for questions about a few nodes, which should not build a cache first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from omnigraph.query import ir

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
"""Ordinals of rows, positions in a list, or counts."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What was reached: from the source at `positions[i]` of those asked for, the node `targets[i]`.

    Hits come in the order of the positions.
    """

    positions: Numbers
    targets: Numbers
    edges: Numbers
    """The edge that was followed, if every edge is a hit; else empty."""


@dataclass(frozen=True, slots=True)
class Paths:
    """One shortest path for each position it was asked for and found: ordinals of its nodes and edges, flattened."""

    positions: Numbers
    targets: Numbers
    nodes: pa.ListArray
    edges: pa.ListArray


class Outgrown(Exception):
    """A few rows have become many: this access would take longer than one that reads whole tables."""


class Access(Protocol):
    """Rows of a snapshot by their ordinals. A table is named by its key, `node:Person` or `edge:Knows`."""

    def count(self, key: str) -> int:
        """How many rows the table has."""
        ...

    def scan(self, key: str, condition: ir.Expression | None, *, must_exist: bool = True) -> Numbers:
        """Ordinals of the rows that meet a condition, which reads only this table (`Property.variable` is ignored).

        If they need not exist, ids that the condition gives may be numbered without looking them up.
        """
        ...

    def gather(self, key: str, names: Sequence[str], ordinals: Numbers) -> pa.Table:
        """Columns of rows, one row for each ordinal in the order asked for. -1 is no row: all null."""
        ...

    def keep(self, key: str, condition: ir.Expression, ordinals: Numbers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """For each ordinal, whether its row meets a condition, which reads only this table. -1 meets none."""
        ...

    def expand(self, edge: str, direction: ir.Direction, sources: Numbers, *, parallel: bool) -> Hits:
        """Follow edges of a type once. With `parallel` every edge is a hit, else every pair of nodes is one.

        In direction BOTH an edge from a node to itself is followed once. A source of -1 reaches nothing.
        """
        ...

    def reach(self, edge: str, direction: ir.Direction, sources: Numbers, min_hops: int, max_hops: int | None) -> Hits:
        """Follow edges between nodes of one type several times: a node is hit once, if its distance is within bounds.

        The source itself is hit only if it has an edge to itself and `min_hops` is 1.
        """
        ...

    def shortest(
        self,
        edge: str,
        direction: ir.Direction,
        sources: Numbers,
        targets: Numbers | None,
        min_hops: int,
        max_hops: int | None,
    ) -> Paths:
        """As `reach`, with a path to each node, or to `targets[i]` alone from `sources[i]`.

        Of several shortest paths the one whose node ids are least, compared from the target backwards, then whose
        edge ids are.
        """
        ...
