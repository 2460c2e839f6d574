"""Ids of rows: derived from the key, taken from the input, or new."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.violations import ViolationKind
from omnigraph.schema.catalog import EdgeType, NodeType
from omnigraph.schema.keys import canonical_id, derive_ids
from omnigraph.write.compute import pc

if TYPE_CHECKING:
    from omnigraph.write.ids import NewIds
    from omnigraph.write.report import Report


@dataclass
class Cells:
    """The columns of a batch while its ids are worked out, with the cells that were reported already."""

    table: NodeType | EdgeType
    positions: np.ndarray
    report: Report
    columns: dict[str, pa.Array] = field(default_factory=dict[str, pa.Array])
    bad: dict[str, set[int]] = field(default_factory=dict[str, set[int]])

    def fault(self, kind: ViolationKind, message: str, row: int, name: str, entity_id: str | None = None) -> None:
        """Report a cell, unless it was."""
        reported = self.bad.setdefault(name, set())
        if row not in reported:
            reported.add(row)
            position = int(self.positions[row])
            self.report.add(kind, message, position, type_name=self.table.name, property=name, entity_id=entity_id)


@dataclass(frozen=True)
class Identified:
    """The ids, whether each was given rather than new, and which given spellings stand for which canonical ids."""

    ids: pa.Array
    given: pa.Array
    remap: dict[str, str] = field(default_factory=dict[str, str])


def identify(cells: Cells, supplied: pa.Array | None, new_ids: NewIds, *, strict: bool) -> Identified:
    """Work out the id of every row. A row without one is reported, and gets a new one so that work goes on."""
    count = len(cells.positions)
    node = cells.table
    if isinstance(node, EdgeType) or not node.key:
        return _as_supplied(supplied, count, new_ids)
    derived = _derive(cells, node)
    remap = {} if supplied is None else _compare(cells, node, supplied, derived, strict=strict)
    if not derived.null_count:
        return Identified(derived, pa.array(np.ones(count, np.bool_)), remap)
    # Edges of the same input point to the supplied id: with it they are not reported as well.
    known = derived if supplied is None else pc.coalesce(derived, supplied)
    return Identified(_as_supplied(known, count, new_ids).ids, derived.is_valid(), remap)


def _as_supplied(supplied: pa.Array | None, count: int, new_ids: NewIds) -> Identified:
    if supplied is None:
        return Identified(new_ids(count), pa.array(np.zeros(count, np.bool_)))
    given = supplied.is_valid()
    if supplied.null_count:
        supplied = pc.replace_with_mask(supplied, pc.is_null(supplied), new_ids(supplied.null_count))
    return Identified(supplied, given)


def _derive(cells: Cells, node: NodeType) -> pa.Array:
    """Derive ids; null where the key is not complete, which is reported."""
    usable = np.ones(len(cells.positions), np.bool_)
    for name in node.key:
        usable &= _usable(cells, node, name)
    keys = pa.table({name: cells.columns[name] for name in node.key})
    if usable.all():
        return _texts(derive_ids(node, keys))
    spread = np.full(len(usable), None, object)
    spread[usable] = _texts(derive_ids(node, keys.filter(pa.array(usable)))).to_pylist()
    return pa.array(spread, pa.string())


def _texts(ids: pa.Array | pa.ChunkedArray | None) -> pa.Array:
    assert ids is not None
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids


def _usable(cells: Cells, node: NodeType, name: str) -> np.ndarray:
    column = cells.columns[name]
    usable = column.is_valid().to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(~usable):
        message = f"{node.name}.{name} is missing; the id is derived from it"
        cells.fault(ViolationKind.REQUIRED, message, int(row), name)
    if node.properties_by_name[name].type.scalar.is_float:
        finite = pc.is_finite(column).fill_null(False).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(usable & ~finite):
            message = f"{node.name}.{name} is {column[int(row)]}; no id can be derived from it"
            cells.fault(ViolationKind.KEY, message, int(row), name)
        usable = usable & finite
    return usable


def _compare(cells: Cells, node: NodeType, supplied: pa.Array, derived: pa.Array, *, strict: bool) -> dict[str, str]:
    """Report ids that do not follow from the key; permissive: another spelling of the key will do."""
    remap: dict[str, str] = {}
    differ = pc.not_equal(supplied, derived).fill_null(False).to_numpy(zero_copy_only=False)
    for row in map(int, np.flatnonzero(differ)):
        given, canonical = supplied[row].as_py(), derived[row].as_py()
        if not strict and canonical_id(node, given) == canonical:
            # A spelling reads as one value, so it never stands for two ids.
            remap[given] = canonical
            continue
        message = f"the id of a {node.name} follows from its key: it is {canonical!r}, not {given!r}; or leave 'id' out"
        cells.fault(ViolationKind.KEY, message, row, "id", canonical)
    return remap
