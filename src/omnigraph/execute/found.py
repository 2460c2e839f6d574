"""Rows that were found so far: each has a number, in the order of their finding, and the columns read of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from omnigraph.execute.adjacency import both_ways, build_adjacency
from omnigraph.query.ir import Direction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.adjacency import Adjacency

_ABSENT = -1


@dataclass
class _Cells:
    """Values of one column, for the rows it was read of."""

    type: pa.DataType
    values: pa.Array
    places: Numbers
    """By row number: where its value stands."""

    def add(self, numbers: Numbers, values: pa.Array) -> None:
        """Keep values of rows that had none."""
        if len(self.places) <= int(numbers.max(initial=-1)):
            more = np.full(int(numbers.max()) + 1, _ABSENT)
            more[: len(self.places)] = self.places
            self.places = more
        self.places[numbers] = len(self.values) + np.arange(len(numbers))
        self.values = pa.concat_arrays([self.values, values])

    def known(self, numbers: Numbers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which rows have a value here."""
        inside = numbers < len(self.places)
        inside[inside] = self.places[numbers[inside]] != _ABSENT
        return inside

    def take(self, numbers: Numbers) -> pa.Array:
        """Values of rows, all of them known; -1 is null."""
        places = np.where(numbers < 0, 0, self.places[np.maximum(numbers, 0)] if len(self.places) else 0)
        return self.values.take(pa.array(places, mask=numbers < 0))


class FoundRows:
    """Rows of one table, numbered by their ids. Its schema is asked for with the first column beside the id."""

    def __init__(self, schema: Callable[[], pa.Schema]) -> None:
        self._schema = schema
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._cells: dict[str, _Cells] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def number(self, ids: Iterable[str]) -> Numbers:
        """The numbers of ids; new ones are numbered."""
        numbers = self._numbers
        found: list[int] = []
        for name in ids:
            number = numbers.setdefault(name, len(numbers))
            if number == len(self._ids):
                self._ids.append(name)
            found.append(number)
        return np.array(found, np.int64)

    def ids(self, numbers: Numbers) -> pa.Array:
        """The ids of rows; -1 is null."""
        return pa.array([None if n < 0 else self._ids[n] for n in numbers.tolist()], pa.string())

    def keep(self, rows: pa.Table) -> Numbers:
        """Number rows that were read, and keep what was read of them."""
        numbers = self.number(cast("list[str]", rows.column("id").to_pylist()))
        for name in rows.column_names:
            if name != "id":
                cells = self._of(name)
                fresh = ~cells.known(numbers)
                cells.add(numbers[fresh], _one(rows.column(name).filter(pa.array(fresh))))
        return numbers

    def lacking(self, names: Iterable[str], numbers: Numbers) -> tuple[list[str], Numbers]:
        """Which of these columns are not known of all these rows, and of which rows."""
        some = np.unique(numbers[numbers >= 0])
        names_lacking: list[str] = []
        lacks = np.zeros(len(some), np.bool_)
        for name in names:
            if name != "id":
                unknown = ~self._of(name).known(some)
                if unknown.any():
                    names_lacking.append(name)
                    lacks |= unknown
        return names_lacking, some[lacks]

    def take(self, name: str, numbers: Numbers) -> pa.Array:
        """A column of rows, all of them known; -1 is null."""
        return self.ids(numbers) if name == "id" else self._of(name).take(numbers)

    def _of(self, name: str) -> _Cells:
        if name not in self._cells:
            kind = self._schema().field(name).type
            self._cells[name] = _Cells(kind, pa.array([], kind), np.empty(0, np.int64))
        return self._cells[name]


@dataclass
class FoundEdges:
    """Edges of one type by their numbers, and of which nodes all edges are known."""

    sources: list[int] = field(default_factory=list[int])
    targets: list[int] = field(default_factory=list[int])
    complete: dict[Direction, set[int]] = field(
        default_factory=lambda: {Direction.OUT: set[int](), Direction.IN: set[int]()}
    )
    _built: dict[tuple[Direction, int, int], Adjacency] = field(
        default_factory=dict[tuple[Direction, int, int], "Adjacency"]
    )

    def unknown(self, direction: Direction, nodes: Numbers) -> Numbers:
        """Of which of these nodes the edges of a direction are not known yet."""
        done = self.complete[direction]
        return np.array([node for node in np.unique(nodes[nodes >= 0]).tolist() if node not in done], np.int64)

    def add(self, numbers: Numbers, sources: Numbers, targets: Numbers) -> None:
        """Keep edges; those that are known may come again."""
        fresh = numbers >= len(self.sources)  # numbers are given in the order of finding
        self.sources.extend(cast("list[int]", sources[fresh].tolist()))
        self.targets.extend(cast("list[int]", targets[fresh].tolist()))

    def adjacency(self, direction: Direction, nodes: int) -> Adjacency:
        """Who is known to be whose neighbour."""
        key = direction, nodes, len(self.sources)
        if key not in self._built:
            self._built.clear()
            sources, targets = np.array(self.sources, np.int32), np.array(self.targets, np.int32)
            edges = np.arange(len(sources), dtype=np.int32)
            if direction is Direction.IN:
                sources, targets = targets, sources
            if direction is Direction.BOTH:
                sources, targets, edges = both_ways(sources, targets)
            self._built[key] = build_adjacency(sources, targets, edges, nodes)
        return self._built[key]


def _one(column: pa.ChunkedArray) -> pa.Array:
    found = cast("Any", column.combine_chunks())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
