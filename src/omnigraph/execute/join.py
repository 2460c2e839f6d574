"""Nodes beside rows where conditions say which belong together: no row is made that a condition would drop again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from omnigraph.execute.bindings import Bindings
from omnigraph.execute.engine import run
from omnigraph.execute.statements import ROW, SOURCE, RowSource
from omnigraph.plan import Bindings as BoundValues
from omnigraph.plan import PathColumns, Scope, lower, render
from omnigraph.query import ir
from omnigraph.query.conditions import conjoin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.execute.bindings import Entities
    from omnigraph.execute.execution import Execution

_NODES = "nodes_found"


def join(
    execution: Execution, bindings: Bindings, variable: str, nodes: Entities, conditions: Sequence[ir.Expression]
) -> Bindings:
    """Give every row beside every node for which all conditions are true."""
    sides = _Sides(
        variable,
        RowSource(execution, bindings),
        RowSource(execution, Bindings(len(nodes), {variable: nodes}), prefix="n"),
    )
    condition = conjoin(conditions)
    assert condition is not None
    scope = sides.scope()
    statement = _statement(lower(condition, scope))
    tables = {SOURCE: sides.rows.table(), _NODES: sides.nodes.table()}
    found = run(render(statement), scope.bindings.values(execution.params, execution.now), tables, execution.watch)
    rows, chosen = (np.asarray(found.column(n), np.int64) for n in range(2))
    return bindings.take(rows).with_columns({variable: nodes.take(chosen)})


def _statement(condition: exp.Expr) -> exp.Select:
    """Both tables are taken in first: conditions of a join must not be pushed into Arrow, which refuses many types."""
    left, right = exp.column(ROW, table="r"), exp.column(ROW, table="s")
    return (
        exp.select(exp.alias_(left, "row_at"), exp.alias_(right, "node_at"))
        .with_("r", as_=exp.select("*").from_(SOURCE), materialized=True)
        .with_("s", as_=exp.select("*").from_(_NODES), materialized=True)
        .from_("r")
        .join(exp.to_table("s"), on=condition)
        .order_by(left.copy(), right.copy())
    )


@dataclass
class _Sides:
    """The columns of rows found before, and of the nodes that come beside them."""

    variable: str
    rows: RowSource
    nodes: RowSource

    def _side(self, variable: str | None) -> RowSource:
        return self.nodes if variable == self.variable else self.rows

    def property(self, variable: str | None, name: str) -> exp.Expr:
        """Give the column of a property."""
        return self._side(variable).property(variable, name)

    def identity(self, variable: str | None, field: ir.IdentityField) -> exp.Expr:
        """Give the column of `@id`, `@src` or `@dst`."""
        return self._side(variable).identity(variable, field)

    def node(self, variable: str) -> tuple[exp.Expr, ...]:
        """Give the number of a node."""
        return self._side(variable).node(variable)

    def path(self, variable: str) -> PathColumns:
        """Give the lists of a path."""
        return self._side(variable).path(variable)

    def scope(self) -> Scope:
        """The scope in which conditions on both are lowered."""
        inside = {id(side): side.scope() for side in (self.rows, self.nodes)}

        def lowered(value: ir.Expression, scope: Scope) -> exp.Expr:
            del scope
            own = inside[id(self._side(getattr(value, "variable", None)))]
            return own.others[type(value)](value, own)

        kinds = (ir.Entity, ir.TextMatch, ir.Nearest, ir.TextScore)
        return Scope(self, BoundValues(), dict.fromkeys(kinds, lowered))
