"""A table of a merge as each side has it: rows by id, aligned in the columns of the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.history.cells import Mask, mask_of
from omnigraph.history.combine import Aligned
from omnigraph.history.views import Side, View, pair_properties
from omnigraph.model.compute import pc, whole
from omnigraph.schema import table_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.history.views import PropertyPair, Table


@dataclass(frozen=True)
class Version:
    """A table as one side has it; `side` is None where that side has no such table."""

    view: View
    side: Side | None

    def find(self, ids: pa.Array) -> pa.Table | None:
        """Rows by id, with all columns."""
        if self.side is None or not len(ids):
            return None
        return self.view.tables.find(self.view.open(self.side), "id", ids, self.side.columns)


@dataclass(frozen=True)
class Versions:
    """A table of the outcome, and as the three sides have it."""

    table: Table
    base: Version
    ours: Version
    theirs: Version
    shared_below: int

    @property
    def schema(self) -> pa.Schema:
        """The columns of the outcome."""
        return table_schema(self.table)

    @property
    def same_layout(self) -> bool:
        """Whether all three store rows as the outcome does."""
        sides = (self.base.side, self.ours.side, self.theirs.side)
        return all(side is not None and side.table.properties == self.table.properties for side in sides)

    def pairs(self, side: Side) -> list[PropertyPair]:
        """The properties of a side beside those of the outcome."""
        return pair_properties(side.table.properties_by_name, self.table.properties_by_name, self.shared_below)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """What is merged as one: each property, and each end of an edge."""
        ends = {end: (end,) for end in self.table.fields[1:]}
        return {**ends, **{each.name: each.columns for each in self.table.properties}}


def align(versions: Versions, version: Version, ids: pa.StringArray) -> Aligned:
    """Rows of one side for these ids, in the columns of the outcome; what a side does not have is null."""
    found = version.find(ids)
    loose = pa.schema([field.with_nullable(True) for field in versions.schema])
    if found is None or not found.num_rows:
        return Aligned(np.zeros(len(ids), bool), pa.table([pa.nulls(len(ids), f.type) for f in loose], schema=loose))
    place = pc.index_in(ids, value_set=whole(found.column("id")))
    assert version.side is not None
    names = {end: end for end in versions.table.fields}
    for pair in versions.pairs(version.side):
        if pair.old is not None and pair.new is not None:
            names |= dict(zip(pair.new.columns, pair.old.columns, strict=True))
    columns = [
        _cast(whole(found.column(names[each.name])), each.type).take(place)
        if each.name in names
        else pa.nulls(len(ids), each.type)
        for each in loose
    ]
    return Aligned(mask_of(place.is_valid()), pa.table(columns, schema=loose))


def _cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    return values if values.type == kind else values.cast(kind)


@dataclass(frozen=True)
class CorrectedBase:
    """After a criss-cross there are several bases: rows of one, corrected by what the others know."""

    ids: pa.StringArray
    rows: Aligned
    unknown: Mapping[str, Mask]

    def ids_with(self, more: pa.StringArray) -> pa.StringArray:
        """These entities, and others."""
        return cast("pa.StringArray", pc.unique(pa.concat_arrays([self.ids, more])))

    def apply(self, ids: pa.StringArray, base: Aligned) -> tuple[Aligned, dict[str, Mask]]:
        """A base with the corrected rows in their places, and which of its cells nobody can tell."""
        place = pc.index_in(ids, value_set=self.ids).fill_null(-1).cast(pa.int64()).to_numpy(zero_copy_only=False)
        known = place >= 0
        picks = pa.array(np.where(known, place + len(ids), np.arange(len(ids))))
        there = np.where(known, self.rows.there[place], base.there)
        rows = pa.concat_tables([base.rows, self.rows.rows]).combine_chunks().take(picks)
        unknown = {name: known & mask[place] for name, mask in self.unknown.items()}
        return Aligned(there, rows), unknown
