"""Triangles, and how closely the neighbours of a vertex are connected among each other.

Each pair of neighbours points from the vertex of the smaller degree to the other, so that a vertex with very many
neighbours is the start of few pairs and the work stays near the number of edges to the power of 1.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from omnigraph.pipeline.analytics.topology import Topology, kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def triangles(graph: Topology) -> DataFrame:
    """Columns `v`, `triangles` and `clustering`; directions, parallel edges and edges to itself do not count."""
    links = kept(graph.simple())
    sizes = links.groupBy(f.col("src").alias("v")).agg(f.count("*").alias("neighbours"))
    pointed = (
        links.join(sizes.select(f.col("v").alias("src"), f.col("neighbours").alias("mine")), "src")
        .join(sizes.select(f.col("v").alias("dst"), f.col("neighbours").alias("theirs")), "dst")
        .where("mine < theirs or (mine = theirs and src < dst)")
        .select("src", "dst")
    )
    pointed = kept(pointed)
    first = pointed.select(f.col("src").alias("a"), f.col("dst").alias("b"))
    second = pointed.select(f.col("src").alias("a"), f.col("dst").alias("c"))
    closing = pointed.select(f.col("src").alias("b"), f.col("dst").alias("c"))
    found = first.join(second, "a").join(closing, ["b", "c"])
    corners = found.select(f.explode(f.array("a", "b", "c")).alias("v"))
    counts = corners.groupBy("v").agg(f.count("*").alias("triangles"))
    whole = graph.vertices.select("v").join(counts, "v", "left").join(sizes, "v", "left").na.fill(0)
    pairs = f.col("neighbours") * (f.col("neighbours") - 1) / 2
    share = f.when(f.col("neighbours") > 1, f.col("triangles") / pairs).otherwise(f.lit(0.0))
    return whole.select("v", "triangles", share.alias("clustering"))
