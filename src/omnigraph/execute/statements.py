"""Statements over the rows of a pattern. Columns are gathered when an expression asks for them, and only then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from sqlglot import exp

from omnigraph.execute.bindings import Bindings, Entities, Scores, Trails
from omnigraph.execute.rows import type_of
from omnigraph.execute.searching import search_values
from omnigraph.plan import Bindings as BoundValues
from omnigraph.plan import PathColumns, Scope, lower, render
from omnigraph.plan.sql import case, is_null
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.execute.execution import Execution

SOURCE = "rows_of_pattern"
ROW = "row"
"""The column that numbers the rows."""
WEIGHT = "weight"


@dataclass
class RowSource:
    """The rows of a pattern as a table for SQL. It has the columns that were asked for while SQL was written."""

    execution: Execution
    bindings: Bindings
    extra: Mapping[str, pa.Array] = field(default_factory=dict[str, pa.Array])
    """Columns that were computed before, by the name a ColumnRef has for them."""
    prefix: str = "c"
    """What the names of columns begin with, if several such tables meet."""
    _columns: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    _codes: dict[str, str] = field(default_factory=dict[str, str])
    _paths: dict[str, PathColumns] = field(default_factory=dict[str, PathColumns])
    _searches: dict[ir.Expression, str] = field(default_factory=dict[ir.Expression, str])
    _scores: dict[str, str] = field(default_factory=dict[str, str])
    _count: int = 0

    # -- what plan.Columns asks for --------------------------------------------------------------------

    def property(self, variable: str | None, name: str) -> exp.Expr:
        """Give the column of a property."""
        assert variable is not None
        known = self._columns.setdefault(variable, {})
        if name not in known:
            known[name] = self._alias()
        return exp.column(known[name])

    def identity(self, variable: str | None, field: ir.IdentityField) -> exp.Expr:
        """Give the column of `@id`, `@src` or `@dst`."""
        return self.property(variable, field.value)

    def node(self, variable: str) -> tuple[exp.Expr, ...]:
        """Give the number of a node, null where there is none."""
        if variable not in self._codes:
            self._codes[variable] = self._alias()
        return (exp.column(self._codes[variable]),)

    def path(self, variable: str) -> PathColumns:
        """Give the lists of a path."""
        if variable not in self._paths:
            self._paths[variable] = PathColumns(exp.column(self._alias()), exp.column(self._alias()))
        return self._paths[variable]

    def scope(self) -> Scope:
        """The scope in which expressions over these rows are lowered."""
        searches = dict.fromkeys((ir.TextMatch, ir.Nearest, ir.TextScore, ir.Fusion), self._search)
        return Scope(self, BoundValues(), {ir.Entity: self._entity, ir.ColumnRef: self._known, **searches})

    def _entity(self, value: ir.Expression, _: Scope) -> exp.Expr:
        assert isinstance(value, ir.Entity)
        if isinstance(value.type, ir.NodeValue):
            return self.node(value.variable)[0]
        path = self.path(value.variable)
        parts = [exp.PropertyEQ(this=exp.to_identifier("nodes"), expression=path.nodes.copy())]
        parts.append(exp.PropertyEQ(this=exp.to_identifier("edges"), expression=path.edges.copy()))
        found = exp.Struct(expressions=parts)
        return case((is_null(path.nodes), exp.Null()), otherwise=found) if value.type.nullable else found

    def _search(self, value: ir.Expression, _: Scope) -> exp.Expr:
        if value not in self._searches:
            self._searches[value] = self._alias()
        return exp.column(self._searches[value])

    def _known(self, value: ir.Expression, _: Scope) -> exp.Expr:
        name = cast("ir.ColumnRef", value).name
        if name in self.extra:
            return exp.column(name)
        return exp.column(self._scores.setdefault(name, self._alias()))

    def _alias(self) -> str:
        self._count += 1
        return f"{self.prefix}{self._count}"

    # -- the table -------------------------------------------------------------------------------------

    def table(self, *, weights: bool = False) -> pa.Table:
        """Gather the columns that were asked for, the number of each row, and how often it counts."""
        columns: dict[str, Any] = {ROW: pa.array(np.arange(self.bindings.count)), **self.extra}
        if weights and self.bindings.weights is not None:
            columns[WEIGHT] = pa.array(self.bindings.weights)
        for variable, names in self._columns.items():
            entities = self.bindings.columns[variable]
            assert isinstance(entities, Entities)
            found = self.execution.gather(entities, list(names))
            columns.update({alias: found.column(name) for name, alias in names.items()})
        for variable, alias in self._codes.items():
            codes = self.execution.codes(cast("Entities", self.bindings.columns[variable]))
            columns[alias] = pa.array(codes, mask=codes < 0)
        for variable, path in self._paths.items():
            trails = cast("Trails", self.bindings.columns[variable])
            columns[path.nodes.name], columns[path.edges.name] = trails.nodes, trails.edges
        for name, alias in self._scores.items():
            columns[alias] = cast("Scores", self.bindings.columns[name]).values
        for value, alias in self._searches.items():
            columns[alias] = search_values(self.execution, self.bindings, value)
        return pa.table(columns)


def run_statement(source: RowSource, scope: Scope, statement: exp.Expr, *, weights: bool = False) -> pa.Table:
    """Run a statement over the rows."""
    from omnigraph.execute.engine import run

    execution = source.execution
    values = scope.bindings.values(execution.params, execution.now)
    return run(render(statement), values, {SOURCE: source.table(weights=weights)}, execution.watch)


def compute_columns(
    execution: Execution, bindings: Bindings, expressions: Sequence[ir.Expression], extra: Mapping[str, pa.Array]
) -> list[pa.ChunkedArray]:
    """Compute a column for each expression."""
    source = RowSource(execution, bindings, extra)
    scope = source.scope()
    selected = [exp.alias_(lower(each, scope), f"r{n}") for n, each in enumerate(expressions)]
    result = run_statement(source, scope, exp.select(*selected).from_(SOURCE))
    return [result.column(n).cast(type_of(each)) for n, each in enumerate(expressions)]
