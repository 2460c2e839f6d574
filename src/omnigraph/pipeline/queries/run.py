"""What the steps of one query on Spark share: tables, names, expressions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, cast

from pyspark.sql import functions as f
from sqlglot import exp

from omnigraph.pipeline.queries.literals import spark_sql
from omnigraph.pipeline.queries.names import ID, TYPE, Names
from omnigraph.plan import Bindings, Scope, lower
from omnigraph.plan.lance import to_lance_filter
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from omnigraph.execute.engines import ReadRequest
    from omnigraph.pipeline.frames import SnapshotFrames

WEIGHT = "weight"
ONE = "one"


@dataclass(frozen=True)
class Rows:
    """Rows of a pattern: a struct for each variable, and (`weight`) how often each row counts."""

    frame: DataFrame
    weighted: bool = False

    def on(self, frame: DataFrame) -> Rows:
        """The same columns, other rows."""
        return replace(self, frame=frame)


class SparkRun:
    """One query."""

    def __init__(self, request: ReadRequest, frames: SnapshotFrames) -> None:
        self.request = request
        self.frames = frames
        self.names = Names.of(request.catalog, request.plan)
        self._seeds = 0

    def check(self) -> None:
        """Stop if the time is up or somebody cancelled."""
        self.request.watch.check()

    def fresh_seed(self) -> str:
        """A column to number rows with."""
        self._seeds += 1
        return f"seed{self._seeds}"

    # -- expressions -----------------------------------------------------------------------------------

    def scope(self) -> Scope:
        """Where expressions over rows of a pattern find their columns."""
        return Scope(self.names, Bindings(), {ir.Entity: self._entity, ir.ColumnRef: _named})

    def _entity(self, value: ir.Expression, _: Scope) -> exp.Expr:
        return exp.column(self.names.column(cast("ir.Entity", value).variable))

    def sql(self, statement: exp.Expr, scope: Scope) -> str:
        """A statement with its values."""
        return spark_sql(statement, scope.bindings.values(self.request.params, self.request.now))

    def expression(self, value: ir.Expression) -> str:
        """An expression over rows of a pattern, as text."""
        scope = self.scope()
        return self.sql(lower(value, scope), scope)

    def keep(self, frame: DataFrame, condition: ir.Expression | None) -> DataFrame:
        """Rows for which a condition is true."""
        return frame if condition is None else frame.where(self.expression(condition))

    # -- tables ----------------------------------------------------------------------------------------

    def nodes(self, variable: str, types: Sequence[str], condition: ir.Expression | None) -> DataFrame:
        """Nodes that meet a condition, as the column of a variable."""
        where, rest = None, condition
        if condition is not None:
            pushed = to_lance_filter(condition, self.request.params)
            where, rest = pushed.text, pushed.residual
        each = [self._nodes(variable, name, where) for name in types]
        return self.keep(reduce(lambda left, right: left.unionByName(right), each), rest)

    def _nodes(self, variable: str, type_name: str, where: str | None) -> DataFrame:
        wanted = self.names.wanted(variable)
        table = self.frames.table(f"node:{type_name}", [ID, *wanted], where)
        fields = [f.lit(type_name).alias(TYPE), f.col(ID), *_fields(wanted)]
        return table.select(f.struct(*fields).alias(self.names.column(variable)))

    def edges(self, expand: ir.Expand) -> DataFrame:
        """Edges as they are followed: `near`, `far`, `edge_id` and the column of the edge variable."""
        variable = expand.edge_variable
        wanted = self.names.wanted(variable) if variable is not None else {}
        extra = [name for name in wanted if name not in ("src", "dst")]
        table = self.frames.table(f"edge:{expand.edge}", ["id", "src", "dst", *extra])
        columns = [f.col("src").alias("near"), f.col("dst").alias("far"), f.col("id").alias("edge_id")]
        if variable is not None:
            kind = [f.lit(expand.edge).alias(TYPE), f.col(ID), *_fields(wanted)]
            columns.append(f.struct(*kind).alias(self.names.column(variable)))
        out = table.select(*columns)
        if expand.direction is ir.Direction.OUT:
            return out
        others = [name for name in out.columns if name not in ("near", "far")]
        back = out.select(f.col("far").alias("near"), f.col("near").alias("far"), *others)
        if expand.direction is ir.Direction.IN:
            return back
        return out.unionByName(back.where("near != far"))

    def pairs(self, expand: ir.Expand) -> DataFrame:
        """Nodes that an edge connects, each pair once."""
        return self.edges(replace(expand, edge_variable=None)).select("near", "far").distinct()


def _fields(wanted: dict[str, str]) -> list[Column]:
    return [f.col(f"`{name}`").alias(alias) for name, alias in wanted.items()]


def _named(value: ir.Expression, _: Scope) -> exp.Expr:
    return exp.column(cast("ir.ColumnRef", value).name)
