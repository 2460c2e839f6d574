"""One table of a merge: what their side did since the base, put on top of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.history.cells import Mask, whole
from omnigraph.history.combine import Aligned, Combined, combine, rows_of
from omnigraph.history.conflicts import ConflictKind, MergeConflict
from omnigraph.history.images import Image, images
from omnigraph.history.tablediff import DELETE, INSERT, TableDiff
from omnigraph.history.views import Side, View, columns_of, pair_properties
from omnigraph.model.compute import pc
from omnigraph.schema import table_schema
from omnigraph.write.columns import build_column
from omnigraph.write.delta import NO_IDS, RowMode, TableDelta, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.history.resolve import Resolution
    from omnigraph.history.views import Table


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

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """What is merged as one: each property, and each end of an edge."""
        ends = {end: (end,) for end in self.table.fields[1:]}
        return {**ends, **{each.name: columns_of(each) for each in self.table.properties}}


@dataclass
class TableMerge:
    """The outcome for one table: rows to write and ids to remove on our side, and what could not be decided."""

    versions: Versions
    rows: pa.Table
    removed: pa.StringArray = field(default_factory=lambda: NO_IDS)
    conflicts: list[MergeConflict] = field(default_factory=list[MergeConflict])
    open_conflicts: list[MergeConflict] = field(default_factory=list[MergeConflict])
    """Those nobody has chosen a side for."""
    is_all_new: bool = False
    """Whether neither the base nor our side has any of these entities."""

    def delta(self) -> TableDelta:
        """As the validator takes it."""
        return TableDelta(self.versions.table, self.rows, RowMode.UPSERT, self.removed)


def merge_table(
    versions: Versions,
    theirs: TableDiff,
    ours: TableDiff | None,
    resolution: Resolution,
    corrected: CorrectedBase | None = None,
) -> TableMerge:
    """Put their changes on top of ours. `ours` is None if our side has the table as the base does."""
    if corrected is not None:
        return _merge_overlap(versions, corrected.ids_with(theirs.ids), resolution, corrected)
    if versions.ours.side is None:
        alone = np.ones(len(theirs), bool)
    elif versions.same_layout:
        alone = _untouched(theirs.ids, ours)
    else:  # their rows lack what our side added: only rows that we do not have can be taken as they are
        alone = _untouched(theirs.ids, ours) & np.isin(theirs.ops, (DELETE,))
    plain = _plain(versions, theirs.only(np.flatnonzero(alone)))
    rest = np.flatnonzero(~alone)
    if not len(rest):
        plain.is_all_new = theirs.count(INSERT) == len(theirs)
        return plain
    overlap = _merge_overlap(versions, theirs.ids.take(pa.array(rest)), resolution, None)
    overlap.rows = pa.concat_tables([plain.rows, overlap.rows])
    overlap.removed = joined([plain.removed, overlap.removed])
    return overlap


def _untouched(ids: pa.StringArray, ours: TableDiff | None) -> Mask:
    """Which entities our side has as the base has them."""
    if ours is None or not len(ours):
        return np.ones(len(ids), bool)
    return ~pc.is_in(ids, value_set=ours.ids).to_numpy(zero_copy_only=False).astype(bool)


def _plain(versions: Versions, theirs: TableDiff) -> TableMerge:
    """Changes of entities that our side did not touch, as they are."""
    gone = theirs.where(DELETE)
    written = np.flatnonzero(theirs.ops != DELETE)
    rows = theirs.news(written) if len(written) else versions.schema.empty_table()
    removed = cast("pa.StringArray", theirs.ids.take(pa.array(gone)))
    return TableMerge(versions, rows.select(versions.schema.names).cast(versions.schema), removed)


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


def align(versions: Versions, version: Version, ids: pa.StringArray) -> Aligned:
    """Rows of one side for these ids, in the columns of the outcome; what a side does not have is null."""
    found = version.find(ids)
    loose = pa.schema([field.with_nullable(True) for field in versions.schema])
    if found is None or not found.num_rows:
        return Aligned(np.zeros(len(ids), bool), pa.table([pa.nulls(len(ids), f.type) for f in loose], schema=loose))
    place = pc.index_in(ids, value_set=whole(found.column("id")))
    assert version.side is not None
    names = {end: end for end in versions.table.fields}
    pairs = pair_properties(
        version.side.table.properties_by_name, versions.table.properties_by_name, versions.shared_below
    )
    for pair in pairs:
        if pair.old is not None and pair.new is not None:
            names |= dict(zip(columns_of(pair.new), columns_of(pair.old), strict=True))
    columns = [
        _cast(whole(found.column(names[each.name])), each.type).take(place)
        if each.name in names
        else pa.nulls(len(ids), each.type)
        for each in loose
    ]
    return Aligned(place.is_valid().to_numpy(zero_copy_only=False).astype(bool), pa.table(columns, schema=loose))


def _cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    return values if values.type == kind else values.cast(kind)


def _merge_overlap(
    versions: Versions, ids: pa.StringArray, resolution: Resolution, corrected: CorrectedBase | None
) -> TableMerge:
    base = align(versions, versions.base, ids)
    unknown = None
    if corrected is not None:
        base, unknown = corrected.apply(ids, base)
    ours, theirs = align(versions, versions.ours, ids), align(versions, versions.theirs, ids)
    base, theirs = _with_absent_properties(versions, base, ours, theirs)
    found = combine(versions.groups, base, ours, theirs, unknown)
    merge = TableMerge(versions, versions.schema.empty_table())
    _resolve(merge, found, ids, (base, ours, theirs), resolution)
    rows = rows_of(versions.groups, ours, theirs, found.theirs)
    rows = _with_defaults(versions, rows, ours.there)
    changed = found.there & (~ours.there | _any(found.theirs.values(), len(ids)))
    merge.rows = rows.filter(pa.array(changed)).cast(versions.schema)
    merge.removed = cast("pa.StringArray", ids.filter(pa.array(ours.there & ~found.there)))
    return merge


def _any(masks: object, size: int) -> Mask:
    given = list(cast("list[Mask]", masks))
    return np.logical_or.reduce(given) if given else np.zeros(size, bool)


def _with_absent_properties(
    versions: Versions, base: Aligned, ours: Aligned, theirs: Aligned
) -> tuple[Aligned, Aligned]:
    """A property that a side's schema does not have was not changed there: it reads as in the base, else as null."""
    side = versions.theirs.side
    if side is None:
        return base, theirs
    known = {
        pair.new.name
        for pair in pair_properties(
            side.table.properties_by_name, versions.table.properties_by_name, versions.shared_below
        )
        if pair.old is not None and pair.new is not None
    }
    rows = theirs.rows
    for each in versions.table.properties:
        if each.name not in known:
            for column in columns_of(each):
                rows = rows.set_column(rows.schema.get_field_index(column), column, base.rows.column(column))
    del ours
    return base, Aligned(theirs.there, rows)


def _with_defaults(versions: Versions, rows: pa.Table, ours_there: Mask) -> pa.Table:
    """Rows that only their side has get the default of a property that only our side declares."""
    side = versions.theirs.side
    known = side.table.properties_by_name if side is not None else {}
    for each in versions.table.properties:
        if each.name in known or each.default is None or ours_there.all():
            continue
        column = whole(rows.column(each.name))
        filled = build_column([each.default], each.type).array
        fresh = ~ours_there & column.is_null().to_numpy(zero_copy_only=False)
        places = np.where(fresh, len(column), np.arange(len(column)))
        values = pa.concat_arrays([column, filled.cast(column.type)]).take(pa.array(places))
        rows = rows.set_column(rows.schema.get_field_index(each.name), each.name, values)
    return rows


# -- conflicts -------------------------------------------------------------------------------------------


def _resolve(
    merge: TableMerge,
    found: Combined,
    ids: pa.StringArray,
    sides: tuple[Aligned, Aligned, Aligned],
    resolution: Resolution,
) -> None:
    places = np.flatnonzero(found.in_conflict)
    if not len(places):
        return
    shown = [_images(merge.versions.table, side, places) for side in sides]
    for number, place in enumerate(places.tolist()):
        conflict = _conflict(merge.versions, found, ids[place].as_py(), place, [one[number] for one in shown])
        merge.conflicts.append(conflict)
        if not _settle(found, place, conflict, resolution):
            merge.open_conflicts.append(conflict)


def _images(table: Table, side: Aligned, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Image | None]:
    rows = side.rows.take(pa.array(places))
    found = images(table, rows)
    return [image if there else None for image, there in zip(found, side.there[places].tolist(), strict=True)]


def _conflict(
    versions: Versions, found: Combined, entity_id: str, place: int, shown: list[Image | None]
) -> MergeConflict:
    table = versions.table
    what = f"{table.kind} {table.name} {entity_id!r}"
    names = tuple(name for name, mask in found.divergent.items() if mask[place])
    base, ours, theirs = shown
    if found.deleted_by_us[place]:
        kind, text = ConflictKind.DELETE_VS_UPDATE, f"{what} was deleted on our side and changed on theirs"
    elif found.deleted_by_them[place]:
        kind, text = ConflictKind.DELETE_VS_UPDATE, f"{what} was changed on our side and deleted on theirs"
    else:
        kind = ConflictKind.DIVERGENT_UPDATE if base is not None else ConflictKind.DIVERGENT_INSERT
        verb = "changed" if base is not None else "added"
        told = "; ".join(f"{name}: {_value(ours, name)} on ours, {_value(theirs, name)} on theirs" for name in names)
        text = f"{what} was {verb} on both sides ({told})"
    return MergeConflict(table.kind, table.name, entity_id, kind, text, names, base, ours, theirs)


def _value(image: Image | None, name: str) -> str:
    if image is None:
        return "gone"
    if image.endpoints is not None and name in ("src", "dst"):
        return repr(image.endpoints[name == "dst"])
    text = repr(image.properties.get(name))
    return text if len(text) <= 60 else f"{text[:57]}…"


def _settle(found: Combined, place: int, conflict: MergeConflict, resolution: Resolution) -> bool:
    """Do as was chosen; False if nothing was."""
    choice = resolution.choice(conflict)
    if found.deleted_by_us[place] or found.deleted_by_them[place]:
        if choice.take is None:
            return False
        theirs = choice.take == "theirs"
        found.there[place] = theirs if found.deleted_by_us[place] else not theirs
        if theirs and found.deleted_by_us[place]:
            for mask in found.theirs.values():
                mask[place] = True
        return True
    takes = {name: choice.of(name) for name in conflict.properties}
    for name, take in takes.items():
        found.theirs[name][place] = take == "theirs"
    return None not in takes.values()
