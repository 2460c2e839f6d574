"""One table of a merge: what their side did since the base, put on top of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.history.cells import Mask, mask_of
from omnigraph.history.combine import Aligned, Combined, combine, rows_of
from omnigraph.history.conflicts import ConflictKind, MergeConflict
from omnigraph.history.images import Image, images
from omnigraph.history.tablediff import DELETE, INSERT, TableDiff
from omnigraph.history.versions import CorrectedBase, Versions, align
from omnigraph.model.compute import pc, whole
from omnigraph.write.columns import build_column
from omnigraph.write.delta import NO_IDS, RowMode, TableDelta, joined

if TYPE_CHECKING:
    from omnigraph.history.resolve import Resolution
    from omnigraph.history.views import Table


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
    return ~mask_of(pc.is_in(ids, value_set=ours.ids))


def _plain(versions: Versions, theirs: TableDiff) -> TableMerge:
    """Changes of entities that our side did not touch, as they are."""
    gone = theirs.where(DELETE)
    written = np.flatnonzero(theirs.ops != DELETE)
    rows = theirs.news(written) if len(written) else versions.schema.empty_table()
    removed = cast("pa.StringArray", theirs.ids.take(pa.array(gone)))
    return TableMerge(versions, rows.select(versions.schema.names).cast(versions.schema), removed)


def _merge_overlap(
    versions: Versions, ids: pa.StringArray, resolution: Resolution, corrected: CorrectedBase | None
) -> TableMerge:
    base = align(versions, versions.base, ids)
    unknown = None
    if corrected is not None:
        base, unknown = corrected.apply(ids, base)
    ours, theirs = align(versions, versions.ours, ids), align(versions, versions.theirs, ids)
    theirs = _with_absent_properties(versions, base, theirs)
    found = combine(versions.groups, base, ours, theirs, unknown)
    merge = TableMerge(versions, versions.schema.empty_table())
    _resolve(merge, found, ids, (base, ours, theirs), resolution)
    rows = rows_of(versions.groups, ours, theirs, found.theirs)
    rows = _with_defaults(versions, rows, ours.there)
    changed = found.there & (~ours.there | found.takes_theirs)
    merge.rows = rows.filter(pa.array(changed)).cast(versions.schema)
    merge.removed = cast("pa.StringArray", ids.filter(pa.array(ours.there & ~found.there)))
    return merge


def _with_absent_properties(versions: Versions, base: Aligned, theirs: Aligned) -> Aligned:
    """A property that a side's schema does not have was not changed there: it reads as in the base, else as null."""
    side = versions.theirs.side
    if side is None:
        return theirs
    known = {pair.name for pair in versions.pairs(side) if pair.old is not None and pair.new is not None}
    rows = theirs.rows
    for each in versions.table.properties:
        if each.name not in known:
            for column in each.columns:
                rows = rows.set_column(rows.schema.get_field_index(column), column, base.rows.column(column))
    return Aligned(theirs.there, rows)


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
    text = repr(image.value(name))
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
