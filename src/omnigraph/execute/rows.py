"""Expressions over the rows of one table: conditions and new values."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.compute as pc

from omnigraph.model.types import PropType
from omnigraph.query import ir
from omnigraph.query.constants import Constant, value_of
from omnigraph.query.walk import walk
from omnigraph.schema.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from omnigraph.query.params import Value

_ROWS = "rows_of_table"


def filter_rows(rows: pa.Table, condition: ir.Expression, params: Mapping[str, Value], now: datetime) -> pa.Table:
    """Keep the rows for which the condition is true: neither false nor null."""
    return rows.filter(select_mask(rows, condition, params, now))


def select_mask(
    rows: pa.Table, condition: ir.Expression, params: Mapping[str, Value], now: datetime
) -> pa.BooleanArray:
    """Tell for every row whether the condition is true. Never null."""
    found = compute(rows, {"mask": condition}, params, now).column("mask").combine_chunks()
    return cast("pa.BooleanArray", pc.fill_null(found, fill_value=False))


def compute(
    rows: pa.Table, expressions: Mapping[str, ir.Expression], params: Mapping[str, Value], now: datetime
) -> pa.Table:
    """Compute one column per expression, each in the Arrow type of the expression's declared type."""
    computed = {name: each for name, each in expressions.items() if _given(rows, each, params, now) is None}
    found = _by_engine(rows, computed, params, now) if computed else {}
    columns = {
        name: found[name] if name in found else _given(rows, each, params, now) for name, each in expressions.items()
    }
    return pa.table(columns) if columns else rows.select([])


def constant(expression: ir.Expression, params: Mapping[str, Value], now: datetime) -> object:
    """Give the value of an expression without a row. A plain value is answered without an engine."""
    if isinstance(expression, Constant):
        return value_of(expression, params, now)
    one_row = pa.table({"row": pa.nulls(1)})
    value = compute(one_row, {"value": expression}, params, now).column("value")[0].as_py()
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


# -- without an engine ---------------------------------------------------------------------------------


def _given(
    rows: pa.Table, expression: ir.Expression, params: Mapping[str, Value], now: datetime
) -> pa.ChunkedArray | None:
    """Give a column that needs no computing: one of the rows', or one value repeated. This also carries vectors."""
    if isinstance(expression, ir.Property | ir.Identity):
        declared = arrow_type(expression.type)
        column = rows.column(_column(expression))
        return column if column.type == declared else column.cast(declared)
    if isinstance(expression, Constant):
        value = value_of(expression, params, now)
        one = pa.array([list(value) if isinstance(value, tuple) else value], type_of(expression))
        return pa.chunked_array([one.take(pa.array([0] * rows.num_rows, pa.int64()))])
    return None


def type_of(expression: ir.Expression) -> pa.DataType:
    """Give the Arrow type of an expression's values; the literal null has one of its own."""
    return arrow_type(expression.type) if isinstance(expression.type, PropType) else pa.null()


def used_columns(*expressions: ir.Expression) -> list[str]:
    """Give the columns that expressions read, sorted."""
    columns = (part for each in expressions for part in walk(each) if isinstance(part, ir.Property | ir.Identity))
    return sorted({_column(part) for part in columns})


def _column(expression: ir.Property | ir.Identity) -> str:
    return expression.name if isinstance(expression, ir.Property) else expression.field.value


# -- by DuckDB -----------------------------------------------------------------------------------------


def _by_engine(
    rows: pa.Table, expressions: Mapping[str, ir.Expression], params: Mapping[str, Value], now: datetime
) -> dict[str, pa.ChunkedArray]:
    from omnigraph.execute.engine import run
    from omnigraph.plan import RowColumns, Scope, lower, render

    needed = used_columns(*expressions.values())
    # DuckDB's names ignore case, ours do not: columns go by their positions.
    aliases = {name: f"c{position}" for position, name in enumerate(needed)}
    scope = Scope(RowColumns(aliases))
    selected = [f"{render(lower(each, scope))} AS r{n}" for n, each in enumerate(expressions.values())]
    statement = f"SELECT {', '.join(selected)} FROM {_ROWS}"  # noqa: S608 - rendered from a tree, values are bound
    table = rows.select(needed).rename_columns([aliases[name] for name in needed]) if needed else _bare(rows)
    found = run(statement, scope.bindings.values(params, now), {_ROWS: table})
    return {
        name: found.column(position).cast(type_of(each)) for position, (name, each) in enumerate(expressions.items())
    }


def _bare(rows: pa.Table) -> pa.Table:
    """Rows without columns: an engine cannot count those."""
    return pa.table({"row": pa.nulls(rows.num_rows, pa.bool_())})
