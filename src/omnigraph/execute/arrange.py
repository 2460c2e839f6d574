"""Order and groups by an engine, where nothing simpler does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from omnigraph.execute.execution import node_keys
from omnigraph.execute.rows import type_of
from omnigraph.execute.statements import ROW, SOURCE, WEIGHT, RowSource, run_statement
from omnigraph.execute.values import node_objects, path_objects, trails_of
from omnigraph.plan.tail import group_statement, needs_single_rows, order_statement
from omnigraph.query import ir

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.execute.bindings import Bindings
    from omnigraph.execute.execution import Execution
    from omnigraph.plan.cut import Cut


def ordered_rows(execution: Execution, read: ir.CheckedRead, bindings: Bindings, cut: Cut) -> Bindings:
    """Put rows in order."""
    source = RowSource(execution, bindings)
    scope = source.scope()
    statement = order_statement(read, scope, SOURCE, [exp.column(ROW)], cut)
    return bindings.take(np.asarray(run_statement(source, scope, statement).column(0), np.int64))


def grouped_rows(execution: Execution, read: ir.CheckedRead, bindings: Bindings, cut: Cut) -> list[pa.ChunkedArray]:
    """Make groups of rows, or distinct rows, in order."""
    rows = bindings.single() if needs_single_rows(read) and read.grouped else bindings
    source = RowSource(execution, rows)
    scope = source.scope()
    weight = None if rows.weights is None else exp.column(WEIGHT)
    statement = group_statement(read, scope, SOURCE, cut, weight=weight, position=exp.column(ROW))
    found = run_statement(source, scope, statement, weights=True)
    return [_returned(execution, column, found.column(n)) for n, column in enumerate(read.columns)]


def _returned(execution: Execution, column: ir.Column, found: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as it is declared: a node was carried as its number, a path as its lists."""
    match column.type:
        case ir.NodeValue() as kind:
            codes = np.asarray(found.fill_null(-1), np.int64)
            return node_objects(execution, execution.decode(codes, node_keys(kind)), kind)
        case ir.PathValue():
            return path_objects(trails_of(found))
        case _:
            return found.cast(type_of(column.value))
