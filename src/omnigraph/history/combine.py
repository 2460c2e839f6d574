"""Three versions of some rows into one, cell by cell: what only one side changed is taken, what both did is a conflict.

Rows are aligned: row i of the base, of ours and of theirs is the same entity, or null where it is not there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.history.cells import Mask, differ, either
from omnigraph.model.compute import whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Aligned:
    """One version of the rows: which are there, and their columns."""

    there: Mask
    rows: pa.Table

    def column(self, name: str) -> pa.Array:
        """A column in one piece."""
        return whole(self.rows.column(name))


@dataclass
class Combined:
    """The outcome. `theirs` says of every group of columns in which rows their cells were taken."""

    there: Mask
    """Which rows are there afterwards; rows in conflict as ours has them."""
    theirs: dict[str, Mask] = field(default_factory=dict[str, Mask])
    divergent: dict[str, Mask] = field(default_factory=dict[str, Mask])
    """Cells that both sides changed, to different values."""
    deleted_by_us: Mask = field(default_factory=lambda: np.empty(0, bool))
    """We deleted what they changed."""
    deleted_by_them: Mask = field(default_factory=lambda: np.empty(0, bool))
    """They deleted what we changed."""

    @property
    def is_divergent(self) -> Mask:
        """Rows with a cell in conflict."""
        return self._any(self.divergent)

    @property
    def takes_theirs(self) -> Mask:
        """Rows with a cell that was taken from them."""
        return self._any(self.theirs)

    def _any(self, masks: Mapping[str, Mask]) -> Mask:
        return np.logical_or.reduce(list(masks.values())) if masks else np.zeros(len(self.there), bool)

    @property
    def in_conflict(self) -> Mask:
        """Rows in conflict in any way."""
        return self.is_divergent | self.deleted_by_us | self.deleted_by_them


def combine(
    groups: Mapping[str, Sequence[str]],
    base: Aligned,
    ours: Aligned,
    theirs: Aligned,
    unknown: Mapping[str, Mask] | None = None,
) -> Combined:
    """Combine rows. A group is a property with the columns that store it; `unknown` are base cells nobody can tell."""
    both = ours.there & theirs.there
    found = Combined(np.where(both, True, False))
    changed_by_us = np.zeros(len(both), bool)
    changed_by_them = np.zeros(len(both), bool)
    for name, columns in groups.items():
        open_cells = unknown.get(name) if unknown is not None else None
        we, they = _differs(columns, base, ours), _differs(columns, base, theirs)
        if open_cells is not None:
            we, they = we | open_cells, they | open_cells
        apart = _differs(columns, ours, theirs)
        changed_by_us |= we
        changed_by_them |= they
        found.divergent[name] = both & we & they & apart
        found.theirs[name] = both & they & ~we
    found.deleted_by_us = base.there & ~ours.there & theirs.there & changed_by_them
    found.deleted_by_them = base.there & ours.there & ~theirs.there & changed_by_us
    only_ours = ours.there & ~theirs.there & (~base.there | found.deleted_by_them)
    only_theirs = theirs.there & ~ours.there & ~base.there
    found.there = both | only_ours | only_theirs
    for mask in found.theirs.values():
        mask |= only_theirs
    return found


def _differs(columns: Sequence[str], left: Aligned, right: Aligned) -> Mask:
    return np.logical_or.reduce([differ(left.column(name), right.column(name)) for name in columns])


def rows_of(groups: Mapping[str, Sequence[str]], ours: Aligned, theirs: Aligned, taken: Mapping[str, Mask]) -> pa.Table:
    """The rows with their cells where they were taken."""
    columns = {"id": either(ours.column("id"), theirs.column("id"), ~ours.there)}
    for name, members in groups.items():
        for column in members:
            columns[column] = either(ours.column(column), theirs.column(column), taken[name])
    return pa.table({name: columns[name] for name in ours.rows.schema.names})
