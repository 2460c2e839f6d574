"""What a query returns of the rows a pattern found, as a frame, and that frame in the columns of the plan."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from pyspark.sql import functions as f
from sqlglot import exp

from omnigraph.execute.rows import type_of
from omnigraph.model.errors import BadRequest, ResourceLimit
from omnigraph.pipeline.queries.names import ID, shown_properties
from omnigraph.pipeline.queries.run import WEIGHT, Rows, SparkRun
from omnigraph.plan import lower
from omnigraph.plan.cut import Cut
from omnigraph.plan.tail import group_statement, needs_single_rows, order_statement
from omnigraph.query import ir
from omnigraph.schema.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyspark.sql import DataFrame


def result_frame(run: SparkRun, rows: Rows, view: str) -> DataFrame:
    """Groups, order, pages and columns: r0, r1, …; `view` is the name the statement knows the rows by."""
    read = run.request.plan.read
    cut = Cut(_amount(run, "limit", read.limit), _amount(run, "offset", read.offset) or 0)
    is_grouped = read.grouped or read.distinct
    if not is_grouped or (read.grouped and needs_single_rows(read)):
        rows = _single(rows)
    rows.frame.createOrReplaceTempView(view)
    scope = run.scope()
    if is_grouped:
        weight = exp.column(WEIGHT) if rows.weighted else None
        statement = group_statement(read, scope, view, cut, weight=weight)
    else:
        selected = [exp.alias_(lower(column.value, scope), f"r{n}") for n, column in enumerate(read.columns)]
        statement = (
            order_statement(read, scope, view, selected, cut)
            if read.order
            else cut.apply(exp.select(*selected).from_(view))
        )
    return run.frames.session.sql(run.sql(statement, scope))


@contextmanager
def temporary(run: SparkRun, view: str) -> Generator[str]:
    """A view's name, which is forgotten afterwards."""
    try:
        yield view
    finally:
        run.frames.session.catalog.dropTempView(view)


def _single(rows: Rows) -> Rows:
    """The rows, each repeated as often as it counts."""
    if not rows.weighted:
        return rows
    times = f.explode(f.expr(f"sequence(1, {WEIGHT})"))
    return Rows(rows.frame.withColumn("time", times).drop("time", WEIGHT))


def _amount(run: SparkRun, word: str, amount: ir.Literal | ir.Parameter | None) -> int | None:
    if amount is None:
        return None
    value = amount.value if isinstance(amount, ir.Literal) else run.request.params[amount.name]
    if cast("int", value) < 0:
        raise BadRequest(f"{word} is {value}: it cannot be negative")
    return cast("int", value)


# -- as Arrow ------------------------------------------------------------------------------------------


def to_table(run: SparkRun, frame: DataFrame) -> pa.Table:
    """Collect the result in the types of the plan."""
    most = run.request.rows_max
    found = (frame if most is None else frame.limit(most + 1)).toArrow()
    if most is not None and found.num_rows > most:
        raise ResourceLimit("rows of the result", limit=most, actual=frame.count())
    columns = run.request.plan.read.columns
    arrays = [_typed(run, column, found.column(n)) for n, column in enumerate(columns)]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def _typed(run: SparkRun, column: ir.Column, found: pa.ChunkedArray) -> pa.ChunkedArray:
    match column.type:
        case ir.NodeValue() as kind:
            return _nodes(run, cast("ir.Entity", column.value).variable, kind, _one(found))
        case ir.PathValue():
            ids = pa.list_(pa.string())
            return found.cast(pa.struct([("nodes", ids), ("edges", ids)]))
        case _:
            return found.cast(type_of(column.value))


def _nodes(run: SparkRun, variable: str, kind: ir.NodeValue, found: pa.Array) -> pa.ChunkedArray:
    """Nodes as objects: `@id`, then their properties."""
    structs = cast("pa.StructArray", found)
    catalog, wanted = run.request.catalog, run.names.wanted(variable)
    names = shown_properties(catalog, kind)
    declared = catalog.node_types[kind.types[0]].properties_by_name
    fields = [pa.field("@id", pa.string()), *(pa.field(name, arrow_type(declared[name].type)) for name in names)]
    children = [structs.field(ID), *(structs.field(wanted[name]) for name in names)]
    arrays = [child.cast(field.type) for child, field in zip(children, fields, strict=True)]
    whole = pa.StructArray.from_arrays(arrays, fields=fields, mask=structs.is_null())
    return pa.chunked_array([whole])


def _one(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
