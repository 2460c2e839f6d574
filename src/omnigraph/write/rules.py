"""Rules that one row follows or breaks by itself: required, enum, range, check. Plain Arrow; no graph is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.types import blob_uri_column
from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.schema.constraints import Check, Range
from omnigraph.schema.patterns import matches
from omnigraph.write.compute import pc
from omnigraph.write.delta import among, column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnigraph.schema import Property
    from omnigraph.schema.constraints import Number
    from omnigraph.write.delta import TableDelta


def check_values(delta: TableDelta, violations: Violations, known: Mapping[str, set[int]] | None = None) -> None:
    """Check every row of a delta by itself. `known` are cells that have been reported already, by property."""
    finder = _Finder(delta, violations, known or {})
    for declared in delta.table.properties:
        finder.check_property(declared)
    for constraint in delta.table.constraints:
        if isinstance(constraint, Range):
            values = column(delta.rows, constraint.property)
            finder.report_range(constraint, out_of_range(values, constraint.minimum, constraint.maximum))
        elif isinstance(constraint, Check):
            values = column(delta.rows, constraint.property)
            finder.report_check(constraint, not_matching(values, constraint.pattern))


class _Finder:
    """Turns masks into violations."""

    def __init__(self, delta: TableDelta, violations: Violations, known: Mapping[str, set[int]]) -> None:
        self._delta = delta
        self._name = delta.table.name
        self._violations = violations
        self._known = known

    def check_property(self, declared: Property) -> None:
        """Check one property's type: required, enum."""
        name = declared.name
        if not declared.nullable and self._delta.rows.column(name).null_count:
            self._report(
                nulls(self._delta.rows, declared),
                ViolationKind.REQUIRED,
                name,
                lambda _: f"non-nullable property '{name}' has null or invalid values in {self._name}",
            )
        if declared.type.enum_values is not None:
            values = column(self._delta.rows, name)
            allowed = declared.type.enum_values
            expected = ", ".join(allowed)
            self._report(
                not_listed(values, allowed),
                ViolationKind.ENUM,
                name,
                lambda row: (
                    f"invalid enum value '{values[row].as_py()}' for {self._name}.{name} (expected: {expected})"
                ),
            )

    def report_range(self, rule: Range, mask: pa.Array) -> None:
        """Report numbers outside of a range."""
        values = column(self._delta.rows, rule.property)
        stem = f"@range violation on {self._name}.{rule.property}: value"
        self._report(
            mask, ViolationKind.RANGE, rule.property, lambda row: f"{stem} {range_text(rule, values[row].as_py())}"
        )

    def report_check(self, rule: Check, mask: pa.Array) -> None:
        """Report strings that a pattern does not match."""
        values = column(self._delta.rows, rule.property)
        stem = f"@check violation on {self._name}.{rule.property}: value"
        self._report(
            mask,
            ViolationKind.CHECK,
            rule.property,
            lambda row: f"{stem} {values[row].as_py()!r} does not match {rule.pattern!r}",
        )

    def _report(self, mask: pa.Array, kind: ViolationKind, name: str, text: Callable[[int], str]) -> None:
        known = self._known.get(name, set())
        broken = [int(row) for row in rows_where(mask) if int(row) not in known]
        ids, places = self._delta.ids, self._delta.places
        for row in broken[: self._violations.kept_max]:
            position = int(places.numbers[row]) if places is not None else row
            place = places.text(row) if places is not None else None
            found = Violation(kind, text(row), self._name, name, ids[row].as_py(), place, position)
            self._violations.add(found)
        self._violations.add_more(kind, len(broken) - self._violations.kept_max)


# -- the rules themselves: for each value whether it breaks one ------------------------------------------


def rows_where(mask: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rows a mask is true for."""
    return np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False))


def nulls(rows: pa.Table, declared: Property) -> pa.Array:
    """Rows that have no value. A blob's value is bytes or a reference."""
    found = pc.is_null(column(rows, declared.name))
    reference = blob_uri_column(declared.name)
    if declared.type.is_blob and reference in rows.schema.names:
        return pc.and_(found, pc.is_null(column(rows, reference)))
    return found


def not_listed(values: pa.Array, allowed: tuple[str, ...]) -> pa.Array:
    """Strings that an enum does not list; null is exempt."""
    return pc.and_(pc.invert(among(values, pa.array(allowed, pa.string()))), pc.is_valid(values))


def out_of_range(values: pa.Array, minimum: Number | None, maximum: Number | None) -> pa.Array:
    """Numbers below or above the bounds, and NaN; null is exempt."""
    broken = pc.is_nan(values) if pa.types.is_floating(values.type) else pa.repeat(False, len(values))
    if minimum is not None:
        broken = pc.or_(broken, _beyond(values, minimum, below=True))
    if maximum is not None:
        broken = pc.or_(broken, _beyond(values, maximum, below=False))
    return pc.and_(broken, pc.is_valid(values))


def not_matching(values: pa.Array, pattern: str) -> pa.Array:
    """Strings in which a pattern does not occur; null is exempt."""
    found = matches(values, pattern)
    return pc.invert(found if isinstance(found, pa.Array) else found.combine_chunks())


def _beyond(values: pa.Array, bound: Number, *, below: bool) -> pa.Array:
    """Compare exactly: a bound that the column's type cannot hold lies beyond all of its values or between two."""
    if pa.types.is_integer(values.type) and isinstance(bound, float):
        bound = -(-bound // 1) if below else bound // 1
        bound = int(bound)
    if pa.types.is_integer(values.type):
        limits = np.iinfo(values.type.to_pandas_dtype())
        if not limits.min <= bound <= limits.max:
            beyond = bound > limits.max if below else bound < limits.min
            return pa.repeat(beyond, len(values))
    # F32 is compared as the F64 it is, so that 0.1 in the schema is not rounded to what is stored.
    wide = pc.cast(values, pa.float64()) if pa.types.is_floating(values.type) else values
    return (pc.less if below else pc.greater)(wide, pa.scalar(bound, wide.type))


def range_text(rule: Range, value: Number) -> str:
    """How a value breaks a range."""
    if value != value:
        return "NaN is no number"
    if rule.minimum is not None and value < rule.minimum:
        return f"{value} < min {rule.minimum}"
    return f"{value} > max {rule.maximum}"
