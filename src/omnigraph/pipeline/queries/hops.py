"""Distances and paths on Spark: a frontier that is joined with the edges, level by level, each node reached once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from omnigraph.pipeline.analytics.topology import kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from omnigraph.pipeline.queries.run import SparkRun
    from omnigraph.query import ir


def reach(run: SparkRun, expand: ir.Expand, sources: DataFrame) -> DataFrame:
    """Columns `source` and `far`: the nodes whose distance is within bounds. `sources` are distinct, in `source`."""
    edges = kept(run.pairs(expand))
    frontier = sources.select("source", f.col("source").alias("far"))
    visited = frontier
    found = [_own_loops(edges, sources).select("source", f.col("source").alias("far"))] if expand.min_hops == 1 else []
    hop = 0
    while expand.max_hops is None or hop < expand.max_hops:
        run.check()
        hop += 1
        steps = frontier.select("source", f.col("far").alias("near")).join(edges, "near").select("source", "far")
        frontier = kept(steps.distinct().join(visited, ["source", "far"], "left_anti"))
        if frontier.isEmpty():
            break
        visited = kept(visited.unionByName(frontier))
        if hop >= expand.min_hops:
            found.append(frontier)
    return _union(found, frontier)


def paths(run: SparkRun, expand: ir.Expand, sources: DataFrame) -> DataFrame:
    """Columns `source`, `far`, `nodes` and `edges`: to each node one shortest path.

    Of several the one whose node ids are least, compared from the target backwards, then whose edge ids are: so each
    node is reached from the least node of the level before it, and along the least edge between the two.
    """
    edges = kept(run.edges(expand).groupBy("near", "far").agg(f.min("edge_id").alias("edge_id")))
    frontier = sources.select(
        "source",
        f.col("source").alias("far"),
        f.array("source").alias("nodes"),
        f.lit([]).cast("array<string>").alias("edges"),
    )
    visited = frontier.select("source", "far")
    found = [_loops_as_paths(edges, sources)] if expand.min_hops == 1 else []
    hop = 0
    while expand.max_hops is None or hop < expand.max_hops:
        run.check()
        hop += 1
        frontier = kept(_next_paths(frontier, edges).join(visited, ["source", "far"], "left_anti"))
        if frontier.isEmpty():
            break
        visited = kept(visited.unionByName(frontier.select("source", "far")))
        if hop >= expand.min_hops:
            found.append(frontier)
    return _union(found, frontier)


def single_paths(run: SparkRun, expand: ir.Expand, sources: DataFrame) -> DataFrame:
    """Paths of one edge between nodes of two types; of parallel edges the one with the least id."""
    edges = run.edges(expand).groupBy("near", "far").agg(f.min("edge_id").alias("edge_id"))
    found = sources.join(edges, f.col("source") == f.col("near")).select(
        "source", "far", f.array("source", "far").alias("nodes"), f.array("edge_id").alias("edges")
    )
    return found if expand.min_hops == 1 else found.limit(0)


def _next_paths(frontier: DataFrame, edges: DataFrame) -> DataFrame:
    before = frontier.withColumnRenamed("far", "near")
    steps = before.join(edges, "near")
    best = f.min_by(f.struct("nodes", "edges", "edge_id"), f.struct("near", "edge_id")).alias("best")
    return (
        steps.groupBy("source", "far")
        .agg(best)
        .select(
            "source",
            "far",
            f.concat("best.nodes", f.array("far")).alias("nodes"),
            f.concat("best.edges", f.array("best.edge_id")).alias("edges"),
        )
    )


def _own_loops(edges: DataFrame, sources: DataFrame) -> DataFrame:
    """The sources with an edge to themselves."""
    return sources.join(edges.where("near = far").withColumnRenamed("near", "source").drop("far"), "source")


def _loops_as_paths(edges: DataFrame, sources: DataFrame) -> DataFrame:
    return _own_loops(edges, sources).select(
        "source",
        f.col("source").alias("far"),
        f.array("source", "source").alias("nodes"),
        f.array("edge_id").alias("edges"),
    )


def _union(found: list[DataFrame], like: DataFrame) -> DataFrame:
    if not found:
        return like.limit(0)
    whole = found[0]
    for more in found[1:]:
        whole = whole.unionByName(more)
    return whole
