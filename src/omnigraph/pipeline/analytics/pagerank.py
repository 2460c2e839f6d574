"""PageRank: where a walker who now and then jumps anywhere spends its time. The sum of all ranks is 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.analytics.topology import Topology, kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def pagerank(graph: Topology, *, damping: float = 0.85, tolerance: float = 1e-6, iterations: int = 100) -> DataFrame:
    """Columns `v` and `rank`. Parallel edges add up; a vertex without an edge out gives its rank to all.

    Stops when ranks change by less than `tolerance` for each vertex on average, or after so many iterations.
    """
    if not 0 <= damping < 1:
        raise BadRequest(f"damping is at least 0 and less than 1, not {damping:g}")
    if iterations < 1 or tolerance <= 0:
        raise BadRequest("iterations and tolerance are greater than 0")
    count = graph.vertices.count()
    if count == 0:
        return graph.vertices.select("v", f.lit(0.0).alias("rank"))
    out = graph.edges.groupBy("src").agg(f.sum("weight").alias("total")).where("total > 0")
    shares = kept(graph.edges.join(out, "src").select("src", "dst", (f.col("weight") / f.col("total")).alias("share")))
    senders = kept(graph.vertices.select("v").join(out.select(f.col("src").alias("v"), "total"), "v", "left"))
    ranks = senders.select("v", "total", f.lit(1.0 / count).alias("rank"))
    for _ in range(iterations):
        dangling = ranks.where("total is null").agg(f.coalesce(f.sum("rank"), f.lit(0.0))).first()
        assert dangling is not None
        base = (1 - damping) / count + damping * dangling[0] / count
        received = (
            shares.join(ranks.select(f.col("v").alias("src"), "rank"), "src")
            .groupBy(f.col("dst").alias("v"))
            .agg(f.sum(f.col("rank") * f.col("share")).alias("received"))
        )
        after = kept(
            ranks.join(received, "v", "left").select(
                "v",
                "total",
                (f.lit(base) + f.lit(damping) * f.coalesce("received", f.lit(0.0))).alias("rank"),
                f.col("rank").alias("before"),
            )
        )
        moved = after.agg(f.sum(f.abs(f.col("rank") - f.col("before")))).first()
        assert moved is not None
        ranks = after.drop("before")
        if moved[0] < tolerance * count:
            break
    return ranks.select("v", "rank")
