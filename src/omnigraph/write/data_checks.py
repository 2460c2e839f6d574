"""Holds what a migration asks of stored rows against them: the rules of every write, over whole tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.schema import derive_ids
from omnigraph.schema.constraints import Cardinality, Range
from omnigraph.schema.evolve import (
    DataCheck,
    EdgesPerSource,
    EndsExist,
    IdsFromKey,
    NoNulls,
    NoValues,
    UniqueRows,
    ValuesInRange,
    ValuesListed,
    ValuesMatch,
)
from omnigraph.write.compute import pc
from omnigraph.write.delta import column, distinct, without
from omnigraph.write.rules import not_listed, not_matching, out_of_range, range_text, rows_where
from omnigraph.write.uniqueness import comparable, held_twice, tuples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from omnigraph.schema import Catalog

Found = tuple[ViolationKind, str, str | None]
"""What is wrong, in words, and with which row."""


class StoredRows:
    """The tables as a migration leaves them."""

    def __init__(self, catalog: Catalog, read: Callable[[str, tuple[str, ...]], pa.Table]) -> None:
        self.catalog = catalog
        self._read = read

    def read(self, table: str, *columns: str) -> pa.Table:
        """Some columns of a table."""
        return self._read(table, tuple(dict.fromkeys(columns)))


def run_check(check: DataCheck, stored: StoredRows, violations: Violations) -> None:
    """Report every stored row that keeps a step from being taken."""
    name = check.table.partition(":")[2]
    for count, (kind, text, entity_id) in enumerate(_RULES[type(check)](check, stored)):
        if count < violations.kept_max:
            violations.add(Violation(kind, text, name, getattr(check, "column", None), entity_id))
        else:
            violations.add_more(kind, 1)


def _each(rows: pa.Table, mask: pa.Array, kind: ViolationKind, text: Callable[[int], str]) -> Iterator[Found]:
    ids = column(rows, "id")
    for row in rows_where(mask):
        yield kind, text(int(row)), ids[int(row)].as_py()


def _no_nulls(check: NoNulls, stored: StoredRows) -> Iterator[Found]:
    rows = stored.read(check.table, "id", check.column)
    what = f"{_name(check)}.{check.column} is null"
    yield from _each(rows, pc.is_null(column(rows, check.column)), ViolationKind.REQUIRED, lambda _: what)


def _no_values(check: NoValues, stored: StoredRows) -> Iterator[Found]:
    rows = stored.read(check.table, "id", check.column)
    what = f"{_name(check)}.{check.column} has a value, made in another way"
    yield from _each(rows, pc.is_valid(column(rows, check.column)), ViolationKind.TYPE, lambda _: what)


def _values_listed(check: ValuesListed, stored: StoredRows) -> Iterator[Found]:
    rows = stored.read(check.table, "id", check.column)
    values = column(rows, check.column)
    stem, expected = f"for {_name(check)}.{check.column}", ", ".join(check.values)
    yield from _each(
        rows,
        not_listed(values, check.values),
        ViolationKind.ENUM,
        lambda row: f"invalid enum value '{values[row].as_py()}' {stem} (expected: {expected})",
    )


def _values_in_range(check: ValuesInRange, stored: StoredRows) -> Iterator[Found]:
    rows = stored.read(check.table, "id", check.column)
    values = column(rows, check.column)
    rule = Range(check.column, check.minimum, check.maximum)
    stem = f"@range violation on {_name(check)}.{check.column}: value"
    mask = out_of_range(values, check.minimum, check.maximum)
    yield from _each(rows, mask, ViolationKind.RANGE, lambda row: f"{stem} {range_text(rule, values[row].as_py())}")


def _values_match(check: ValuesMatch, stored: StoredRows) -> Iterator[Found]:
    rows = stored.read(check.table, "id", check.column)
    values = column(rows, check.column)
    stem = f"@check violation on {_name(check)}.{check.column}: value"
    yield from _each(
        rows,
        not_matching(values, check.pattern),
        ViolationKind.CHECK,
        lambda row: f"{stem} {values[row].as_py()!r} does not match {check.pattern!r}",
    )


def _unique_rows(check: UniqueRows, stored: StoredRows) -> Iterator[Found]:
    rows = stored.read(check.table, "id", *check.columns)
    if comparable(rows, check.columns).num_rows == 0:
        return
    first: dict[tuple[object, ...], object] = {}
    ids = column(rows, "id").to_pylist()
    for value, entity_id in zip(tuples(rows, check.columns), ids, strict=True):
        if None in value:
            continue
        if value in first:
            text = held_twice(_name(check), check.columns, value, first[value], entity_id)
            yield ViolationKind.UNIQUE, text, entity_id
        else:
            first[value] = entity_id


def _ids_from_key(check: IdsFromKey, stored: StoredRows) -> Iterator[Found]:
    node = stored.catalog.node_types[_name(check)]
    rows = stored.read(check.table, "id", *check.columns)
    derived = derive_ids(node, rows)
    if derived is None or not rows.num_rows:
        return
    ids = column(rows, "id")
    yield from _each(
        rows,
        pc.not_equal(ids, derived),
        ViolationKind.KEY,
        lambda row: (
            f"the id of {node.name} '{ids[row].as_py()}' does not follow from the key: '{derived[row].as_py()}'"
        ),
    )


def _edges_per_source(check: EdgesPerSource, stored: StoredRows) -> Iterator[Found]:
    bounds = Cardinality(check.minimum, check.maximum)
    counted = pc.value_counts(column(stored.read(check.table, "src"), "src"))
    for entry in counted.to_pylist():
        count = entry["counts"]
        if not bounds.allows(count):
            bound = f"min {bounds.minimum}" if count < bounds.minimum else f"max {bounds.maximum}"
            what = f"@card violation on edge {_name(check)}: source '{entry['values']}' has {count} edges ({bound})"
            yield ViolationKind.CARDINALITY, what, entry["values"]


def _ends_exist(check: EndsExist, stored: StoredRows) -> Iterator[Found]:
    ends = distinct(column(stored.read(check.table, check.column), check.column))
    nodes = column(stored.read(check.node_table, "id"), "id")
    name = check.node_table.partition(":")[2]
    for missing in without(ends, nodes).to_pylist():
        yield ViolationKind.ENDPOINT, f"edge {_name(check)}: {check.column} '{missing}' not found in {name}", missing


def _name(check: DataCheck) -> str:
    return check.table.partition(":")[2]


_RULES: dict[type[DataCheck], Callable[[Any, StoredRows], Iterator[Found]]] = {
    NoNulls: _no_nulls,
    NoValues: _no_values,
    ValuesListed: _values_listed,
    ValuesInRange: _values_in_range,
    ValuesMatch: _values_match,
    UniqueRows: _unique_rows,
    IdsFromKey: _ids_from_key,
    EdgesPerSource: _edges_per_source,
    EndsExist: _ends_exist,
}
