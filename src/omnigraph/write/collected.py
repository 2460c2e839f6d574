"""Rows of a load, batch by batch, until all of them are there; then they become a delta."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.model.hashes import are_distinct
from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.schema import NodeType, table_key
from omnigraph.write.compute import pc
from omnigraph.write.delta import RowMode, TableDelta, among, column
from omnigraph.write.embedding import embed_missing, embedded_properties
from omnigraph.write.modes import LoadMode
from omnigraph.write.places import Places, file_of
from omnigraph.write.rules import check_values

if TYPE_CHECKING:
    from omnigraph.embed import Embedder
    from omnigraph.schema import Catalog, EdgeType
    from omnigraph.write.batches import Batches
    from omnigraph.write.rows import RowBatch


@dataclass
class _Table:
    table: NodeType | EdgeType
    rows: list[pa.Table] = field(default_factory=list[pa.Table])
    positions: list[np.ndarray] = field(default_factory=list[np.ndarray])
    given: list[pa.Array] = field(default_factory=list[pa.Array])
    bad: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    remap: dict[str, str] = field(default_factory=dict[str, str])
    count: int = 0


class CollectedRows:
    """All rows of a load by table, and everything that is wrong with them by themselves."""

    def __init__(self, *, is_checked: bool = False) -> None:
        """`is_checked`: the rules of single rows have been, where the rows were read."""
        self._is_checked = is_checked
        self.violations = Violations()
        self._tables: dict[str, _Table] = {}
        self._words: dict[int, str] = {}
        """What the places of each file are counted in."""

    def add(self, batches: Batches, catalog: Catalog, word: str) -> None:
        """Take in what became of a chunk of the input."""
        self.violations.merge(batches.violations)
        for key, batch in batches.tables.items():
            kind, _, name = key.partition(":")
            table = catalog.node_types[name] if kind == "node" else catalog.edge_types[name]
            self._add(table, batch)
            if len(batch):
                self._words[file_of(int(batch.positions[0]))] = word

    def _add(self, table: NodeType | EdgeType, batch: RowBatch) -> None:
        into = self._tables.setdefault(table_key(table), _Table(table))
        for name, rows in batch.bad_cells.items():
            into.bad.setdefault(name, set()).update(row + into.count for row in rows)
        into.rows.append(batch.table)
        into.positions.append(batch.positions)
        into.given.append(batch.given_id)
        into.remap.update(batch.remap)
        into.count += len(batch)

    def embed(self, embedder: Embedder, *, skip: bool) -> None:
        """Make the vectors that were left out. Nobody is asked for them if something wrong refuses the load anyway."""
        for table in self._tables.values():
            start = 0
            for number, rows in enumerate(table.rows):
                if self.violations.total and not skip:
                    for declared in embedded_properties(table.table):
                        lacking = np.flatnonzero(np.asarray(rows.column(declared.name).is_null()))
                        table.bad.setdefault(declared.name, set()).update((lacking + start).tolist())
                else:
                    table.rows[number] = embed_missing(table.table, rows, embedder, table.bad, start)
                start += rows.num_rows

    @property
    def total(self) -> int:
        """How many rows there are."""
        return sum(table.count for table in self._tables.values())

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        return sum(rows.nbytes for table in self._tables.values() for rows in table.rows)

    def deltas(self, mode: LoadMode) -> dict[str, TableDelta]:
        """Everything as one delta; rules of single rows and of keys are checked on the way."""
        remaps = {key: table.remap for key, table in self._tables.items() if table.remap}
        return {key: self._delta(table, mode, remaps) for key, table in self._tables.items()}

    def _delta(self, table: _Table, mode: LoadMode, remaps: dict[str, dict[str, str]]) -> TableDelta:
        rows = respelt(table.table, pa.concat_tables(table.rows), remaps)
        given = cast("pa.BooleanArray", pa.concat_arrays(table.given))
        places = Places(self._words, np.concatenate(table.positions))
        whole = TableDelta(table.table, rows, row_mode(mode, given), places=places)
        if not self._is_checked:
            check_values(whole, self.violations, table.bad)
        return self._distinct(whole, mode)

    def _distinct(self, delta: TableDelta, mode: LoadMode) -> TableDelta:
        """One row for each id: for a key, and when appending, a second one is an error; else the last one stays."""
        keep = distinct_rows(delta, mode, self.violations)
        if keep is None:
            return delta
        places = delta.places
        kept = Places(places.words, places.numbers[keep]) if places is not None else None
        return TableDelta(delta.table, delta.rows.take(keep), delta.mode, delta.removed, kept)


def distinct_rows(
    delta: TableDelta, mode: LoadMode, violations: Violations
) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
    """The rows that stay so that each id is there once; None if all do. Where a second one is an error, it is reported.

    It is one for a key, and when appending; else the last row stays.
    """
    if delta.mode is RowMode.FRESH or are_distinct(delta.ids):
        return None
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    is_error = mode is LoadMode.APPEND or (isinstance(delta.table, NodeType) and bool(delta.table.key))
    for row, entity_id in enumerate(delta.ids.to_pylist()):
        if is_error and entity_id in first:
            _report_twice(delta, entity_id, first[entity_id], row, violations)
        first.setdefault(entity_id, row)
        last[entity_id] = row
    return np.array(sorted((first if is_error else last).values()), np.int64)


def _report_twice(delta: TableDelta, entity_id: str, first: int, row: int, violations: Violations) -> None:
    assert delta.places is not None
    what = "key" if delta.table.key else "id"
    text = f"the {what} '{entity_id}' of {delta.table.name} appears twice: first in {delta.places.text(first)}"
    place, position = delta.places.text(row), int(delta.places.numbers[row])
    violations.add(Violation(ViolationKind.KEY, text, delta.table.name, None, entity_id, place, position))


def row_mode(mode: LoadMode, given: pa.Array) -> RowMode:
    """What rows do to rows of the same id, given for each whether its id was in the input."""
    if mode is LoadMode.OVERWRITE:
        return RowMode.REPLACE
    if not pc.any(given, min_count=0).as_py():
        return RowMode.FRESH
    return RowMode.INSERT if mode is LoadMode.APPEND else RowMode.UPSERT


def respelt(table: NodeType | EdgeType, rows: pa.Table, remaps: dict[str, dict[str, str]]) -> pa.Table:
    """Edges that name their ends by another spelling of the key get the ids those nodes have."""
    if isinstance(table, NodeType) or not remaps:
        return rows
    for end, node in (("src", table.source), ("dst", table.target)):
        remap = remaps.get(f"node:{node}")
        if remap:
            ends = column(rows, end)
            if pc.any(among(ends, pa.array(remap.keys(), pa.string()))).as_py():
                canonical = pa.array([remap.get(one, one) for one in ends.to_pylist()], pa.string())
                rows = rows.set_column(rows.schema.get_field_index(end), rows.schema.field(end), canonical)
    return rows
