"""Connected components: every vertex gets the least vertex it is connected with, whatever the direction of edges.

Each round takes the least label among neighbours and then the label of that label, so that a label travels twice as
far in each round: a path of a million vertices takes about twenty rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from omnigraph.pipeline.analytics.topology import Topology, kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROUNDS_MAX = 200


def connected_components(graph: Topology) -> DataFrame:
    """Columns `v` and `component`."""
    links = kept(graph.simple())
    labels = graph.vertices.select("v", f.col("v").alias("component"))
    for _ in range(ROUNDS_MAX):
        known = labels.select(f.col("v").alias("dst"), f.col("component").alias("found"))
        offers = links.join(known, "dst").select(f.col("src").alias("v"), f.col("found").alias("component"))
        # A neighbour's label is also an offer to the vertex my own label names: chains collapse from both ends.
        mine = labels.select("v", f.col("component").alias("mine"))
        hooks = offers.join(mine, "v").select(f.col("mine").alias("v"), "component")
        least = labels.unionByName(offers).unionByName(hooks).groupBy("v").agg(f.min("component").alias("component"))
        jump = least.select(f.col("v").alias("component"), f.col("component").alias("next"))
        after = kept(
            least.join(jump, "component", "left").select(
                "v", f.least("component", f.coalesce("next", "component")).alias("component")
            )
        )
        changed = after.join(mine, "v").where("component != mine").limit(1).count()
        labels = after
        if not changed:
            break
    return labels
