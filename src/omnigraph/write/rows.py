"""Rows of one table from its records: typed columns, defaults, ids. No I/O, and rules of single rows only."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from omnigraph.model.types import ScalarType
from omnigraph.model.violations import ViolationKind, Violations
from omnigraph.schema.arrow import table_schema
from omnigraph.write.blobs import BlobColumns, build_blob
from omnigraph.write.columns import Column, build_column
from omnigraph.write.identity import Cells, identify
from omnigraph.write.report import Report
from omnigraph.write.scalars import build_scalars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.schema.catalog import EdgeType, NodeType, Property
    from omnigraph.write.grouping import Records
    from omnigraph.write.ids import NewIds


@dataclass(frozen=True)
class RowBatch:
    """Typed rows in the columns of their table, with what is wrong with them.

    `positions` says where in the input each row was. `given_id` is false where the id is new. `bad_cells` has the
    rows of each column that were reported and are null. `remap` gives the canonical id for other spellings.
    """

    table: pa.Table
    positions: np.ndarray
    given_id: pa.Array
    violations: Violations
    bad_cells: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    remap: dict[str, str] = field(default_factory=dict[str, str])

    def __len__(self) -> int:
        return self.table.num_rows


def build_rows(
    table: NodeType | EdgeType,
    records: Records,
    *,
    new_ids: NewIds,
    strict: bool = True,
    word: str = "line",
) -> RowBatch:
    """Type the records of a table. Required, enum, range and whatever concerns several rows is checked later."""
    cells = Cells(table, records.positions, Report(word))
    columns = {each.name: _column(each, records.data, strict) for each in table.properties}
    ends = {"src": records.sources, "dst": records.targets} if "src" in table.fields else {}
    for name, values in ends.items():
        columns[name] = build_scalars(values, ScalarType.STRING)
    supplied = _supplied_ids(cells, records.data, strict)
    return assemble(cells, columns, supplied, new_ids, strict=strict)


def assemble(
    cells: Cells,
    columns: dict[str, Column | BlobColumns],
    supplied: pa.Array | None,
    new_ids: NewIds,
    *,
    strict: bool = True,
) -> RowBatch:
    """Put typed columns together in the order of the table, report what did not fit, and add the ids."""
    schema = table_schema(cells.table)
    for name, column in columns.items():
        _report(cells, name, column.bad)
        if isinstance(column, Column):
            cells.columns[name] = column.array
        else:
            _add_blob(cells, name, column, schema)
    for end in cells.table.fields[1:]:
        cells.columns[end] = cells.columns[end].fill_null("")  # reported; a null would break what comes next
    identified = identify(cells, supplied, new_ids, strict=strict)
    cells.columns["id"] = identified.ids
    rows = pa.Table.from_arrays([cells.columns[name] for name in schema.names], schema=schema)
    return RowBatch(rows, cells.positions, identified.given, cells.report.violations, cells.bad, identified.remap)


def values_of(data: Sequence[dict[str, Any]], name: str, default: object = None) -> list[Any]:
    """Give the values of one key; the default where the key is absent, not where it is null."""
    try:
        return list(map(itemgetter(name), data))
    except KeyError:
        return [row.get(name, default) for row in data]


def _column(declared: Property, data: Sequence[dict[str, Any]], strict: bool) -> Column | BlobColumns:
    values = values_of(data, declared.name, declared.default)
    if declared.type.is_blob:
        return build_blob(values, strict=strict)
    return build_column(values, declared.type, strict=strict)


def _supplied_ids(cells: Cells, data: Sequence[dict[str, Any]], strict: bool) -> pa.Array | None:
    """Give the ids of the input, null where there is none; None if no record has one."""
    if not any("id" in row for row in data):
        return None
    column = build_scalars(values_of(data, "id"), ScalarType.STRING)
    for row, reason in column.bad:
        cells.fault(ViolationKind.TYPE, f"'id' is a string: {reason}", row, "id")
    if strict and column.array.null_count:
        for row in map(int, np.flatnonzero(column.array.is_null().to_numpy(zero_copy_only=False))):
            if "id" in data[row]:
                cells.fault(ViolationKind.TYPE, "'id' is a string: it cannot be null; leave it out", row, "id")
    return column.array


def _report(cells: Cells, name: str, bad: list[tuple[int, str]]) -> None:
    if not bad:
        return
    declared = cells.table.property(name)
    what = name if declared is None else f"{cells.table.name}.{name} is {declared.type.required}"
    kind = ViolationKind.BLOB if declared is not None and declared.type.is_blob else ViolationKind.TYPE
    for row, reason in bad:
        cells.fault(kind, f"{what}: {reason}", row, name)


def _add_blob(cells: Cells, name: str, blob: BlobColumns, schema: pa.Schema) -> None:
    """Fill the columns a table has for a Blob: the bytes, and beside them `name@uri` and `name@size`."""
    cells.columns[name] = blob.data
    parts = {f"{name}@uri": blob.uri, f"{name}@size": blob.size}
    for column, values in parts.items():
        if column in schema.names:
            cells.columns[column] = values.cast(schema.field(column).type)
    if f"{name}@uri" not in schema.names:
        for row in np.flatnonzero(blob.uri.is_valid().to_numpy(zero_copy_only=False)):
            cells.fault(ViolationKind.BLOB, f"{cells.table.name}.{name} cannot hold a URI", int(row), name)


def concat_rows(batches: Sequence[RowBatch]) -> RowBatch:
    """Put batches of one table one after the other."""
    if len(batches) == 1:
        return batches[0]
    violations = Violations()
    bad_cells: dict[str, set[int]] = {}
    remap: dict[str, str] = {}
    start = 0
    for batch in batches:
        violations.merge(batch.violations)
        remap.update(batch.remap)
        for name, rows in batch.bad_cells.items():
            bad_cells.setdefault(name, set()).update(row + start for row in rows)
        start += len(batch)
    table = pa.concat_tables([batch.table for batch in batches]).combine_chunks()
    positions = np.concatenate([batch.positions for batch in batches])
    given_id = pa.concat_arrays([batch.given_id for batch in batches])
    return RowBatch(table, positions, given_id, violations, bad_cells, remap)
