"""The rows a pattern has found so far: for every variable a column of ordinals, and how often each row counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.errors import ResourceLimit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.execute.access import Numbers

ROWS_MAX = 200_000_000
"""Rows of an intermediate result. Beyond, a query is refused before it eats the machine's memory."""
NO_ROW = -1

Kinds = np.ndarray[tuple[int], np.dtype[np.int8]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Entities:
    """Nodes or edges, by ordinal; -1 is none. `kinds` says of which table each is, if there are several."""

    keys: tuple[str, ...]
    ordinals: Numbers
    kinds: Kinds | None = None

    def __len__(self) -> int:
        return len(self.ordinals)

    def take(self, rows: Numbers | Mask) -> Entities:
        """Some of them, or some repeated."""
        return replace(self, ordinals=self.ordinals[rows], kinds=None if self.kinds is None else self.kinds[rows])

    def of(self, key: str) -> Numbers:
        """Their ordinals in one table, -1 for those of another."""
        if self.kinds is None:
            return self.ordinals if key == self.keys[0] else np.full(len(self), NO_ROW)
        if key not in self.keys:
            return np.full(len(self), NO_ROW)
        return np.where(self.kinds == self.keys.index(key), self.ordinals, NO_ROW)

    def with_nulls(self, rows: Numbers) -> Entities:
        """As `take`, but a position of -1 gives none."""
        if not len(self):
            kinds = None if self.kinds is None else np.zeros(len(rows), np.int8)
            return replace(self, ordinals=np.full(len(rows), NO_ROW), kinds=kinds)
        found = self.take(np.maximum(rows, 0))
        return replace(found, ordinals=np.where(rows < 0, NO_ROW, found.ordinals))


@dataclass(frozen=True, slots=True)
class Trails:
    """Paths: the ids of their nodes and of their edges; null where there is none."""

    nodes: pa.ListArray
    edges: pa.ListArray

    def __len__(self) -> int:
        return len(self.nodes)

    def take(self, rows: Numbers | Mask) -> Trails:
        """Some of them, or some repeated."""
        if rows.dtype == np.bool_:
            mask = pa.array(rows)
            return replace(self, nodes=self.nodes.filter(mask), edges=self.edges.filter(mask))
        return replace(self, nodes=self.nodes.take(pa.array(rows)), edges=self.edges.take(pa.array(rows)))

    def with_nulls(self, rows: Numbers) -> Trails:
        """As `take`, but a position of -1 gives null."""
        indices = pa.array(rows, mask=rows < 0)
        return replace(self, nodes=self.nodes.take(indices), edges=self.edges.take(indices))


@dataclass(frozen=True, slots=True)
class Scores:
    """A value for each row that has to be computed while all rows are there."""

    values: pa.Array

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Numbers | Mask) -> Scores:
        """Some of them, or some repeated."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return replace(self, values=self.values.take(pa.array(chosen)))

    def with_nulls(self, rows: Numbers) -> Scores:
        """As `take`, but a position of -1 gives null."""
        return replace(self, values=self.values.take(pa.array(rows, mask=rows < 0)))


Values = Entities | Trails | Scores


@dataclass(frozen=True, slots=True)
class Bindings:
    """Rows of a pattern."""

    count: int
    columns: Mapping[str, Values] = field(default_factory=dict[str, Values])
    weights: Numbers | None = None
    """How many rows each stands for; None: one."""
    seeds: Numbers | None = None
    """In a block: the number of the outer row each row belongs to."""

    def take(self, rows: Numbers | Mask) -> Bindings:
        """Some of the rows, or some repeated."""
        count = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        _check_size(count)
        return Bindings(
            count,
            {name: column.take(rows) for name, column in self.columns.items()},
            None if self.weights is None else self.weights[rows],
            None if self.seeds is None else self.seeds[rows],
        )

    def with_columns(self, columns: Mapping[str, Values]) -> Bindings:
        """The rows with more columns, or others."""
        return replace(self, columns={**self.columns, **columns})

    def only(self, names: frozenset[str]) -> Bindings:
        """The rows without the columns nobody needs."""
        return replace(self, columns={name: column for name, column in self.columns.items() if name in names})

    def weighed(self, factors: Numbers) -> Bindings:
        """The rows, each as often as its factor says; those with 0 are gone."""
        weights = factors if self.weights is None else self.weights * factors
        found = replace(self, weights=weights)
        present = weights > 0
        return found if present.all() else found.take(present)

    def single(self) -> Bindings:
        """The rows, each repeated as often as it counts."""
        if self.weights is None:
            return self
        _check_size(int(self.weights.sum()))
        repeated = replace(self, weights=None).take(np.repeat(np.arange(self.count), self.weights))
        return replace(repeated, weights=None)

    def total(self) -> int:
        """How many rows there are when each is repeated as often as it counts."""
        return self.count if self.weights is None else int(self.weights.sum())

    def beside(self, other: Mapping[str, Values], count: int) -> Bindings:
        """Every row beside each of `count` others."""
        _check_size(self.count * count)
        mine = self if count == 1 else self.take(np.repeat(np.arange(self.count), count))
        if self.count == 1:
            return mine.with_columns(other)
        again = np.tile(np.arange(count), self.count)
        return mine.with_columns({name: column.take(again) for name, column in other.items()})


def _check_size(count: int) -> None:
    if count > ROWS_MAX:
        raise ResourceLimit("rows of an intermediate result", limit=ROWS_MAX, actual=count)


ONE_ROW = Bindings(1)
