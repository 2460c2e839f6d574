"""Label propagation: communities as labels that most neighbours agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.analytics.topology import Topology, kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def label_propagation(graph: Topology, *, iterations: int = 10) -> DataFrame:
    """Columns `v` and `label`. All vertices choose at once what most neighbours had; of equally many the least.

    Labels are vertices. A vertex without neighbours keeps its own.
    """
    if iterations < 1:
        raise BadRequest(f"iterations is greater than 0, not {iterations}")
    links = kept(graph.both_ways().where("src != dst").groupBy("src", "dst").agg(f.sum("weight").alias("weight")))
    labels = graph.vertices.select("v", f.col("v").alias("label"))
    for _ in range(iterations):
        votes = links.join(labels.select(f.col("v").alias("dst"), "label"), "dst")
        counted = votes.groupBy(f.col("src").alias("v"), "label").agg(f.sum("weight").alias("votes"))
        # The greatest of (votes, …) with the least label: negative votes, least pair.
        best = counted.groupBy("v").agg(f.min(f.struct(-f.col("votes"), "label")).alias("best"))
        chosen = best.select("v", f.col("best.label").alias("chosen"))
        after = kept(
            labels.join(chosen, "v", "left").select(
                "v", f.coalesce("chosen", "label").alias("label"), f.col("label").alias("before")
            )
        )
        changed = after.where("label != before").limit(1).count()
        labels = after.drop("before")
        if not changed:
            break
    return labels
