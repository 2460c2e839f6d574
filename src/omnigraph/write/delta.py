"""A write as data: for each table, the rows it has afterwards and the ids it has no longer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from omnigraph.model.compute import pc, whole
from omnigraph.schema import table_key, table_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.schema import EdgeType, NodeType
    from omnigraph.write.places import Places

JOINED_MIN = 4096
"""From so many values on they are looked up by a join, which uses every core."""
NO_IDS = cast("pa.StringArray", pa.array([], pa.string()))


class RowMode(StrEnum):
    """What the rows of a delta do to rows of the same id that are there."""

    FRESH = "fresh"
    """Their ids are new: nothing can be there."""
    INSERT = "insert"
    """Nothing may be there."""
    UPSERT = "upsert"
    """They replace what is there."""
    REPLACE = "replace"
    """They are all there is afterwards: every other row of the table goes."""


@dataclass(frozen=True)
class TableDelta:
    """What a write does to one table. Ids are unique among the rows, and no id is both written and removed."""

    table: NodeType | EdgeType
    rows: pa.Table
    mode: RowMode
    removed: pa.StringArray = field(default_factory=lambda: NO_IDS)
    places: Places | None = None

    @property
    def key(self) -> str:
        """The table, as `node:Person`."""
        return table_key(self.table)

    @property
    def replaces(self) -> bool:
        """Whether every other row goes."""
        return self.mode is RowMode.REPLACE

    @property
    def count(self) -> int:
        """How many rows are written."""
        return self.rows.num_rows

    @cached_property
    def ids(self) -> pa.StringArray:
        """The ids of the rows."""
        return column(self.rows, "id")

    @cached_property
    def touched(self) -> pa.StringArray:
        """The ids whose stored rows no longer count: replaced or removed."""
        return cast("pa.StringArray", pa.concat_arrays([self.ids, self.removed]))

    @cached_property
    def stored_ids(self) -> pa.StringArray:
        """Those of them that the graph may hold a row of."""
        return self.removed if self.mode is RowMode.FRESH else self.touched


Deltas = dict[str, TableDelta]


def empty_rows(table: NodeType | EdgeType) -> pa.Table:
    """No rows of a type."""
    return table_schema(table).empty_table()


def column(rows: pa.Table, name: str) -> pa.StringArray:
    """A column in one piece."""
    return cast("pa.StringArray", whole(rows.column(name)))


def among(values: pa.Array, of: pa.Array) -> pa.Array:
    """For each value whether it is one of others; null is none."""
    return pc.is_in(values, value_set=of, skip_nulls=True)


def without(values: pa.Array, others: pa.Array) -> pa.Array:
    """The values that are none of the others."""
    return values if len(others) == 0 or len(values) == 0 else values.filter(pc.invert(among(values, others)))


def distinct_without(columns: Sequence[pa.ChunkedArray], others: pa.Array) -> pa.StringArray:
    """Each value of some columns once, null left out, and those that are among others."""
    values = pa.chunked_array([chunk for values in columns for chunk in values.chunks], pa.string())
    if min(len(values), len(others)) < JOINED_MIN:
        return cast("pa.StringArray", without(distinct(values), others))
    rows = pa.table({"value": values}).join(pa.table({"other": others}), "value", "other", "left anti")
    return cast("pa.StringArray", distinct(rows.column("value")))


def distinct(values: pa.Array) -> pa.Array:
    """Each value once, null left out."""
    return pc.drop_null(pc.unique(values))


def joined(parts: Sequence[pa.Array]) -> pa.StringArray:
    """Ids of several arrays in one."""
    return cast("pa.StringArray", pa.concat_arrays(list(parts)) if parts else NO_IDS)


def by_key(deltas: Sequence[TableDelta]) -> Deltas:
    """Deltas by their table."""
    return {delta.key: delta for delta in deltas}
