"""How many edges each vertex has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from omnigraph.pipeline.analytics.topology import Topology


def degrees(graph: Topology) -> DataFrame:
    """Columns `v`, `in_degree`, `out_degree` and `degree`; an edge from a vertex to itself counts both ways."""
    out = graph.edges.groupBy(f.col("src").alias("v")).agg(f.count("*").alias("out_degree"))
    into = graph.edges.groupBy(f.col("dst").alias("v")).agg(f.count("*").alias("in_degree"))
    both = graph.vertices.select("v").join(into, "v", "left").join(out, "v", "left").na.fill(0)
    return both.select("v", "in_degree", "out_degree", (f.col("in_degree") + f.col("out_degree")).alias("degree"))
