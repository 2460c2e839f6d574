"""Finding the rows of a pattern with frames: its steps, one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f
from sqlglot import exp

from omnigraph.pipeline.analytics.topology import kept
from omnigraph.pipeline.queries.hops import paths, reach, single_paths
from omnigraph.pipeline.queries.names import ID, TYPE
from omnigraph.pipeline.queries.run import WEIGHT, Rows, SparkRun
from omnigraph.plan.aggregates import lower_aggregate
from omnigraph.plan.reads import ROW
from omnigraph.plan.steps import Bind, Branch, Filter, Follow, Meet, Narrow, PatternPlan, Test, Trace, Try, Weigh
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

_BLOCK = "block"


def run_pattern(run: SparkRun, plan: PatternPlan, rows: Rows) -> Rows:
    """Find the rows of a pattern for rows that have the variables from outside."""
    for step in plan.steps:
        run.check()
        rows = _STEPS[type(step)](run, rows, step)
    return rows


# -- nodes ---------------------------------------------------------------------------------------------


def _bind(run: SparkRun, rows: Rows, step: Bind) -> Rows:
    return rows.on(rows.frame.crossJoin(run.nodes(step.variable, step.types, step.condition)))


def _narrow(run: SparkRun, rows: Rows, step: Narrow) -> Rows:
    column = run.names.column(step.variable)
    frame = rows.frame.where(f.col(f"{column}.{TYPE}").isin(list(step.types)))
    return rows.on(run.keep(frame, step.condition))


def _filter(run: SparkRun, rows: Rows, step: Filter) -> Rows:
    return rows.on(run.keep(rows.frame, step.condition))


# -- traversals ----------------------------------------------------------------------------------------


def _follow(run: SparkRun, rows: Rows, step: Follow) -> Rows:
    return rows.on(_with_target(run, _hits(run, rows, step.expand), step.expand, step.condition))


def _meet(run: SparkRun, rows: Rows, step: Meet) -> Rows:
    expand = step.expand
    target = run.names.column(expand.target)
    ends = rows.frame.where(f.col(f"{target}.{TYPE}") == expand.target_type)
    found = _hits(run, rows.on(ends), expand)
    return rows.on(found.where(f.col("far") == f.col(f"{target}.{ID}")).drop("far"))


def _trace(run: SparkRun, rows: Rows, step: Trace) -> Rows:
    expand = step.expand
    sources = _sources(run, rows, expand)
    found = paths(run, expand, sources) if expand.chains else single_paths(run, expand, sources)
    trail = f.struct("nodes", "edges").alias(run.names.column(expand.path_variable or ""))
    joined = _from_source(run, rows, expand).join(found.select("source", "far", trail), "source").drop("source")
    if step.binds_target:
        return rows.on(_with_target(run, joined, expand, step.condition))
    target = run.names.column(expand.target)
    same = (f.col("far") == f.col(f"{target}.{ID}")) & (f.col(f"{target}.{TYPE}") == expand.target_type)
    return rows.on(run.keep(joined.where(same).drop("far"), step.condition))


def _hits(run: SparkRun, rows: Rows, expand: ir.Expand) -> DataFrame:
    """Rows beside the ids (`far`) of what they lead to, and the edge if somebody reads it."""
    near = _from_source(run, rows, expand)
    if not expand.chains or (expand.min_hops, expand.max_hops) == (1, 1):
        found = run.pairs(expand) if expand.edge_variable is None else run.edges(expand).drop("edge_id")
        if expand.min_hops > 1:
            found = found.limit(0)  # such edges cannot follow each other
        found = found.withColumnRenamed("near", "source")
    else:
        found = reach(run, expand, _sources(run, rows, expand))
    return near.join(found, "source").drop("source")


def _from_source(run: SparkRun, rows: Rows, expand: ir.Expand) -> DataFrame:
    column = run.names.column(expand.source)
    mine = rows.frame.where(f.col(f"{column}.{TYPE}") == expand.source_type)
    return mine.withColumn("source", f.col(f"{column}.{ID}"))


def _sources(run: SparkRun, rows: Rows, expand: ir.Expand) -> DataFrame:
    return kept(_from_source(run, rows, expand).select("source").distinct())


def _with_target(run: SparkRun, frame: DataFrame, expand: ir.Expand, condition: ir.Expression | None) -> DataFrame:
    """Bind the target by its id; its table is read only if somebody wants more of it than that."""
    column = run.names.column(expand.target)
    if condition is None and not run.names.wanted(expand.target):
        node = f.struct(f.lit(expand.target_type).alias(TYPE), f.col("far").alias(ID)).alias(column)
        return frame.withColumn(column, node).drop("far")
    nodes = run.nodes(expand.target, (expand.target_type,), condition).withColumn("far", f.col(f"{column}.{ID}"))
    return frame.join(nodes, "far").drop("far")


# -- counting ------------------------------------------------------------------------------------------


def _weigh(run: SparkRun, rows: Rows, step: Weigh) -> Rows:
    expand = step.branch.expand
    near = _from_source(run, rows, replace(expand, source=step.variable))
    joined = near.join(_matches(run, step.branch).withColumnRenamed("near", "source"), "source").drop("source")
    return _weighed(Rows(joined, rows.weighted), "matches")


def _weighed(rows: Rows, factor: str) -> Rows:
    weight = f.col(WEIGHT) * f.col(factor) if rows.weighted else f.col(factor)
    return Rows(rows.frame.withColumn(WEIGHT, weight).drop(factor), weighted=True)


def _matches(run: SparkRun, branch: Branch) -> DataFrame:
    """Columns `near` and `matches`: how often a branch matches from each node, where it does."""
    expand = branch.expand
    found = run.pairs(expand) if expand.edge_variable is None else run.edges(expand).select("near", "far")
    found = found.withColumn("matches", f.lit(1).cast("bigint"))
    if branch.condition is not None:
        column = run.names.column(expand.target)
        nodes = run.nodes(expand.target, (expand.target_type,), branch.condition)
        found = found.join(nodes.select(f.col(f"{column}.{ID}").alias("far")), "far")
    for inner in branch.branches:
        more = _matches(run, inner).select(f.col("near").alias("far"), f.col("matches").alias("more"))
        found = found.join(more, "far").withColumn("matches", f.col("matches") * f.col("more")).drop("more")
    return found.groupBy("near").agg(f.sum("matches").alias("matches"))


# -- blocks --------------------------------------------------------------------------------------------


def _try(run: SparkRun, rows: Rows, step: Try) -> Rows:
    """Put every match beside its row, or nulls where there is none."""
    seeded, seed, found = _inside(run, rows, step.plan, step.outer)
    known = [run.names.column(each.name) for each in step.plan.variables if each.name not in step.outer]
    new = [name for name in known if name in found.frame.columns]
    matches = found.frame.select(seed, *new, *([f.col(WEIGHT).alias("times")] if found.weighted else []))
    joined = seeded.join(matches, seed, "left").drop(seed)
    if not found.weighted:
        return rows.on(joined)
    return _weighed(rows.on(joined.withColumn("times", f.coalesce("times", f.lit(1)))), "times")


def _test(run: SparkRun, rows: Rows, step: Test) -> Rows:
    """Keep the rows that pass."""
    seeded, seed, found = _inside(run, rows, step.plan, step.outer)
    if step.test is None:
        how = "left_semi" if step.kind is ir.BlockKind.EXISTS else "left_anti"
        return rows.on(seeded.join(found.frame.select(seed), seed, how).drop(seed))
    values = _aggregated(run, found, seed, step.test)
    joined = seeded.join(values, seed, "left").drop(seed)
    if step.test.function == "count":
        joined = joined.withColumn(_BLOCK, f.coalesce(_BLOCK, f.lit(0)))
    condition = ir.Compare(step.test.operator, ir.ColumnRef(_BLOCK, step.test.type), step.test.value, ir.BOOL.optional)
    return rows.on(run.keep(joined, condition).drop(_BLOCK))


def _inside(run: SparkRun, rows: Rows, plan: PatternPlan, outer: tuple[str, ...]) -> tuple[DataFrame, str, Rows]:
    """The rows with a number, its column, and what a pattern finds for each number."""
    seed = run.fresh_seed()
    seeded = kept(rows.frame.withColumn(seed, f.monotonically_increasing_id()))
    return seeded, seed, run_pattern(run, plan, Rows(seeded.select(seed, *map(run.names.column, outer))))


def _aggregated(run: SparkRun, found: Rows, seed: str, test: ir.BlockTest) -> DataFrame:
    """Columns of the seed and of the value that a block computes for it."""
    scope = run.scope()
    weight = exp.column(WEIGHT) if found.weighted else None
    function, argument = test.function, test.argument
    if argument is None or (function == "count" and not test.distinct and not argument.type.nullable):
        aggregate = ir.Aggregate("count", ROW, distinct=False, type=test.type)
    else:
        aggregate = ir.Aggregate(function, argument, test.distinct, test.type)
    value = run.sql(lower_aggregate(aggregate, scope, weight), scope)
    return found.frame.groupBy(seed).agg(f.expr(value).alias(_BLOCK))


_STEPS: dict[type, Callable[[SparkRun, Rows, Any], Rows]] = {
    Bind: _bind,
    Narrow: _narrow,
    Follow: _follow,
    Meet: _meet,
    Trace: _trace,
    Weigh: _weigh,
    Filter: _filter,
    Try: _try,
    Test: _test,
}
