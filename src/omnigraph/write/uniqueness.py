"""No two rows have the same tuple: among what is written, and against what is there. A null member exempts a row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.violations import ViolationKind
from omnigraph.write.compute import pc
from omnigraph.write.delta import column, distinct
from omnigraph.write.references import without_mask
from omnigraph.write.rules import rows_where

if TYPE_CHECKING:
    from omnigraph.write.context import GraphCheck
    from omnigraph.write.delta import TableDelta

Tuple = tuple[object, ...]


def check_unique(check: GraphCheck) -> None:
    """Hold every `@unique` of the tables a write adds rows to."""
    for delta in check.deltas.values():
        if not delta.rows.num_rows:
            continue
        for names in delta.table.uniques:
            if is_comparable(check, delta, names):
                check_tuples(check, delta, names)


def check_tuples(check: GraphCheck, delta: TableDelta, names: tuple[str, ...]) -> None:
    """Hold one `@unique`: among the rows that are written, and against those that are there."""
    _check_among(check, delta, names)
    if not delta.replaces:
        _check_stored(check, delta, names)


def duplicates(rows: pa.Table, names: tuple[str, ...]) -> set[Tuple]:
    """Tuples that more than one row has."""
    complete = comparable(rows, names)
    if complete.num_rows == len(pc.unique(column(complete, names[0]))):
        return set()
    counted = complete.group_by(list(names)).aggregate([([], "count_all")])
    several = counted.filter(pc.greater(counted.column("count_all"), 1))
    return set(tuples(several, names))


def comparable(rows: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """The members of the tuples that count: none is null, and zero has no sign."""
    members = pa.table({name: _plain(column(rows, name)) for name in names})
    return members.drop_null()


def tuples(rows: pa.Table, names: tuple[str, ...]) -> list[Tuple]:
    """Rows as Python's tuples. Every NaN is the same object, and so equal to itself."""
    columns = (rows.column(name).to_pylist() for name in names)
    return list(zip(*([math.nan if value != value else value for value in column] for column in columns), strict=True))


def held_twice(type_name: str, names: tuple[str, ...], value: Tuple, one: object, other: object) -> str:
    """Say which rows have the same tuple."""
    member, shown = f"({', '.join(names)})", f"({', '.join(map(str, value))})"
    if len(names) == 1:
        member, shown = names[0], str(value[0])
    return f"@unique violation on {type_name}.{member}: value '{shown}' held by '{one}' and '{other}'"


def _plain(values: pa.Array) -> pa.Array:
    return pc.add(values, 0.0) if pa.types.is_floating(values.type) else values


def _spelt(values: pa.Array) -> pa.Array:
    """The values as rows may have stored them: a zero has either sign."""
    if not pa.types.is_floating(values.type) or not pc.any(pc.equal(values, 0.0)).as_py():
        return values
    return pa.concat_arrays([values, pa.array([0.0, -0.0], values.type)])


def is_comparable(check: GraphCheck, delta: TableDelta, names: tuple[str, ...]) -> bool:
    """Whether the members of a `@unique` can be compared; reported if not."""
    for name in names:
        declared = delta.table.property(name)
        if declared is not None and (declared.type.is_list or declared.type.is_vector):
            text = f"@unique violation on {delta.table.name}.{name}: a {declared.type.required} cannot be unique"
            check.report(delta, None, ViolationKind.UNIQUE, f"{text}; take the constraint out of the schema")
            return False
    return True


def _check_among(check: GraphCheck, delta: TableDelta, names: tuple[str, ...]) -> None:
    several = duplicates(delta.rows, names)
    if not several:
        return
    first: dict[Tuple, object] = {}
    members = pa.table({name: _plain(column(delta.rows, name)) for name in names})
    for row, value in enumerate(tuples(members, names)):
        if value not in several:
            continue
        if value in first:
            text = held_twice(delta.table.name, names, value, first[value], delta.ids[row].as_py())
            check.report(delta, row, ViolationKind.UNIQUE, text)
        else:
            first[value] = delta.ids[row].as_py()


def _check_stored(check: GraphCheck, delta: TableDelta, names: tuple[str, ...]) -> None:
    values = _spelt(distinct(column(delta.rows, names[0])))
    if not len(values):
        return
    check.txn.depends_on(delta.key, "added", "changed")
    wanted = ["id", *(name for name in names if name != "id")]
    stored = check.txn.find(delta.key, names[0], values, wanted)
    if stored.num_rows and len(delta.stored_ids):
        stored = stored.filter(without_mask(stored, delta.stored_ids))
    if not stored.num_rows:
        return
    members = pa.table({name: _plain(column(stored, name)) for name in names})
    holders = dict(zip(tuples(members, names), column(stored, "id").to_pylist(), strict=True))
    mine = pa.table({name: _plain(column(delta.rows, name)) for name in names})
    candidates = rows_where(
        pc.is_in(mine.column(names[0]).combine_chunks(), value_set=_plain(column(stored, names[0])))
    )
    for row, value in zip(candidates, tuples(mine.take(candidates), names), strict=True):
        if value in holders and None not in value:
            text = held_twice(delta.table.name, names, value, holders[value], delta.ids[int(row)].as_py())
            check.report(delta, int(row), ViolationKind.UNIQUE, text)
