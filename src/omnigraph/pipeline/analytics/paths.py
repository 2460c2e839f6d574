"""Distances from a set of vertices, by the number of edges or by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as f

from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.analytics.topology import Topology, kept

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

Direction = Literal["out", "in", "both"]


def shortest_paths(
    graph: Topology, sources: Iterable[str], *, direction: Direction = "out", hops: int | None = None
) -> DataFrame:
    """Columns `v`, `distance` and `previous`, the vertex before it on a shortest path (the least of several).

    Only what is reached is there. Sources are vertices, at distance 0.
    """
    starts = _sources(graph, list(sources))
    edges = kept(_edges(graph, direction).groupBy("src", "dst").agg(f.min("weight").alias("weight")))
    if edges.where("weight < 0").limit(1).count():
        raise BadRequest("a weight is negative: distances need weights of 0 or more")
    reached = starts.select("v", f.lit(0.0).alias("distance"), f.lit(None).cast("string").alias("previous"))
    frontier = reached
    round_number = 0
    while hops is None or round_number < hops:
        round_number += 1
        steps = frontier.select(f.col("v").alias("src"), f.col("distance").alias("so_far")).join(edges, "src")
        offers = steps.select(
            f.col("dst").alias("v"),
            (f.col("so_far") + f.col("weight")).alias("distance"),
            f.col("src").alias("previous"),
        )
        best = offers.groupBy("v").agg(f.min(f.struct("distance", "previous")).alias("best"))
        known = reached.select("v", f.struct("distance", "previous").alias("known"))
        merged = kept(
            known.join(best, "v", "full").select(
                "v",
                f.when(_is_better(), f.col("best")).otherwise(f.col("known")).alias("now"),
                f.coalesce(_is_shorter(), f.lit(False)).alias("moved"),
            )
        )
        reached = merged.select("v", "now.distance", "now.previous")
        frontier = kept(merged.where("moved").select("v", "now.distance", "now.previous"))
        if not frontier.limit(1).count():
            break
    return reached


def _is_shorter():
    return f.col("known").isNull() | (f.col("best.distance") < f.col("known.distance"))


def _is_better():
    """Shorter, or as short by a lesser vertex; a source has none before it."""
    is_less = (f.col("best.distance") == f.col("known.distance")) & (f.col("best.previous") < f.col("known.previous"))
    return f.coalesce(_is_shorter() | is_less, f.lit(False))


def _sources(graph: Topology, names: list[str]) -> DataFrame:
    if not names:
        raise BadRequest("name at least one source")
    starts = kept(graph.vertices.where(f.col("v").isin(names)).select("v"))
    found = {row[0] for row in starts.collect()}
    missing = [name for name in names if name not in found]
    if missing:
        raise BadRequest(f"there is no node {missing[0]!r}; among several types it is written Type/id", id=missing[0])
    return starts


def _edges(graph: Topology, direction: str) -> DataFrame:
    if direction == "both":
        return graph.both_ways()
    turned = graph.edges.select(f.col("dst").alias("src"), f.col("src").alias("dst"), "weight")
    if direction not in ("out", "in"):
        raise BadRequest(f"direction is out, in or both, not {direction!r}")
    return graph.edges if direction == "out" else turned
