"""Frames: rows of one type in columns. Arrow, and whatever gives its columns as Arrow: pandas, polars, DuckDB."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from omnigraph.model.errors import BadRequest
from omnigraph.model.types import ScalarType
from omnigraph.model.violations import ViolationKind
from omnigraph.schema.catalog import EdgeType, NodeType
from omnigraph.write.blobs import BlobColumns, build_blob
from omnigraph.write.casts import cast_column, plain_array, types
from omnigraph.write.columns import Column, build_column
from omnigraph.write.identity import Cells
from omnigraph.write.report import Report
from omnigraph.write.rows import RowBatch, assemble
from omnigraph.write.scalars import build_scalars
from omnigraph.write.texts import read_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omnigraph.schema.catalog import Property
    from omnigraph.write.ids import NewIds

BATCH_ROWS = 65_536

_ENDS = {"from": "src", "to": "dst", "src": "src", "dst": "dst"}
_ENDS_SAID = {"src": "from", "dst": "to"}


def is_frame(source: object) -> bool:
    """Tell whether a source has columns."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__") or _is_lazy(source)


def frame_batches(frame: Any, batch_rows: int = BATCH_ROWS) -> Iterator[pa.Table]:
    """Give the rows of a frame in Arrow tables of bounded size."""
    try:
        for table in _tables(frame):
            for start in range(0, table.num_rows, batch_rows):
                yield table.slice(start, batch_rows)
    except pa.ArrowException as error:
        raise BadRequest(f"the {type(frame).__name__} cannot be read as Arrow: {error}") from None


def _tables(frame: Any) -> Iterator[pa.Table]:
    if _is_lazy(frame):
        frame = frame.collect()
    if isinstance(frame, pa.Table):
        yield frame
    elif isinstance(frame, pa.RecordBatch) or hasattr(frame, "__arrow_c_array__"):
        yield pa.Table.from_batches([frame if isinstance(frame, pa.RecordBatch) else pa.record_batch(frame)])
    elif type(frame).__module__.partition(".")[0] == "pandas":
        # An index without a name only numbers the rows.
        has_index = any(name is not None for name in frame.index.names)
        yield pa.Table.from_pandas(frame, preserve_index=has_index)
    elif hasattr(frame, "__arrow_c_stream__"):
        for batch in pa.RecordBatchReader.from_stream(frame):
            yield pa.Table.from_batches([batch])
    else:
        raise BadRequest(f"a {type(frame).__name__} is no frame: give Arrow, pandas or polars")


def _is_lazy(frame: object) -> bool:
    return type(frame).__module__.partition(".")[0] == "polars" and type(frame).__name__ == "LazyFrame"


def frame_rows(
    table: NodeType | EdgeType,
    frame: pa.Table | pa.RecordBatch,
    mapping: Mapping[str, str] | None = None,
    *,
    new_ids: NewIds,
    first_row: int = 1,
    text: bool = False,
    word: str = "row",
) -> RowBatch:
    """Type the rows of a frame. `mapping` says which column is which property, `id`, `from` or `to`.

    A column that is mapped to "" is left out. `text`: all columns are text, as those of CSV.
    """
    cells = Cells(table, np.arange(first_row, first_row + frame.num_rows, dtype=np.int64), Report(word))
    named = _name_columns(cells, frame.column_names, mapping or {})
    given = {target: frame.column(index) for target, index in named.items()}
    ids = {name: _ids(cells, name, given.pop(name)) for name in table.fields if name in given}
    cells, ids, given = _with_ends(cells, ids, given)
    count = len(cells.positions)
    columns: dict[str, Column | BlobColumns] = {
        each.name: _column(each, given.get(each.name), count, text) for each in table.properties
    }
    columns |= {end: Column(ids[end]) for end in table.fields[1:]}
    return assemble(cells, columns, ids.get("id"), new_ids)


def _column(declared: Property, column: Any, count: int, text: bool) -> Column | BlobColumns:
    if column is not None:
        return read_texts(column, declared.type) if text else cast_column(column, declared.type)
    values: list[object] = [declared.default] * count
    return build_blob(values) if declared.type.is_blob else build_column(values, declared.type)


# -- names ---------------------------------------------------------------------------------------------


@dataclass
class _Names:
    """Which column is what, while it is worked out."""

    cells: Cells
    found: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, column: str, said: str, index: int) -> None:
        """Note one column, or what is wrong with its name."""
        table = self.cells.table
        target = _ENDS.get(said, said) if isinstance(table, EdgeType) else said
        if target not in table.fields and table.property(target) is None:
            self._unknown(column, said)
        elif target in self.found:
            self.fault(ViolationKind.SYNTAX, f"two columns are {said!r} of {table.name}", said)
        else:
            self.found[target] = index

    def _unknown(self, column: str, said: str) -> None:
        table = self.cells.table
        known = [*table.properties_by_name, *(_ENDS_SAID.get(name, name) for name in table.fields)]
        hint = self.cells.report.hint(table.name, said, known)
        meant = next(iter(get_close_matches(said[:100], known, n=1)), "PROPERTY")
        example = f'{_mapped(column, meant)} says which property a column is, "" leaves it out'
        message = f"{table.name} has no property {said!r} for column {column!r}{hint}; {example}"
        self.fault(ViolationKind.UNKNOWN_PROPERTY, message, said)

    def fault(self, kind: ViolationKind, message: str, name: str, count: int = 1) -> None:
        """Report what is wrong with the whole frame."""
        self.cells.report.add(kind, message, None, type_name=self.cells.table.name, property=name, count=count)


def _name_columns(cells: Cells, columns: list[str], mapping: Mapping[str, str]) -> dict[str, int]:
    names = _Names(cells)
    for index, column in enumerate(columns):
        said = mapping.get(column, column)
        if said:
            names.add(column, said, index)
    among = f"; columns here: {', '.join(columns[:10])}{' …' if len(columns) > 10 else ''}"
    for column in mapping:
        if column not in columns:
            hint = cells.report.hint("columns", column, columns)
            names.fault(ViolationKind.UNKNOWN_PROPERTY, f"there is no column {column!r}{hint or among}", column)
    for end in cells.table.fields[1:]:
        if end not in names.found:
            said = _ENDS_SAID[end]
            message = f"there is no column {said!r}: {_mapped('column', said)} says which one has the ids"
            names.fault(ViolationKind.SYNTAX, message, said)
    return names.found


def _mapped(column: str, target: str) -> str:
    """How a column is given a property, in Python and on the command line."""
    return f'mapping={{"{column}": "{target}"}} or --map {column}={target}'


# -- ids -----------------------------------------------------------------------------------------------


def _ids(cells: Cells, name: str, column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Read ids: text, or whole numbers, which are ids in their usual spelling."""
    array = plain_array(column)
    if types.is_integer(array.type) or types.is_null(array.type):
        return array.cast(pa.string())
    if array.type == pa.string():
        return array
    found = build_scalars(array.to_pylist(), ScalarType.STRING)
    for row, reason in found.bad:
        cells.fault(ViolationKind.TYPE, f"{_ENDS_SAID.get(name, name)!r} is an id: {reason}", row, name)
    return found.array


def _with_ends(
    cells: Cells, ids: dict[str, pa.Array], given: dict[str, Any]
) -> tuple[Cells, dict[str, pa.Array], dict[str, Any]]:
    """Leave out the edges without both ends, after reporting them: nothing else can be checked of them."""
    kept = np.ones(len(cells.positions), np.bool_)
    for end in cells.table.fields[1:]:
        if end not in ids:
            kept[:] = False  # the column is missing, which is reported
            ids[end] = pa.nulls(len(kept), pa.string())
            continue
        missing = ids[end].is_null().to_numpy(zero_copy_only=False)
        for row in map(int, np.flatnonzero(missing)):
            cells.fault(ViolationKind.REQUIRED, f"an edge needs {_ENDS_SAID[end]!r}: the id of a node", row, end)
        kept &= ~missing
    if kept.all():
        return cells, ids, given
    mask = pa.array(kept)
    # The rows that stay have no faults yet: only ids and ends were looked at, and an id at fault is null.
    numbers = np.cumsum(kept) - 1
    bad = {name: {int(numbers[row]) for row in rows if kept[row]} for name, rows in cells.bad.items()}
    fewer = Cells(cells.table, cells.positions[kept], cells.report, {}, {k: v for k, v in bad.items() if v})
    return (
        fewer,
        {name: array.filter(mask) for name, array in ids.items()},
        {name: column.filter(mask) for name, column in given.items()},
    )
