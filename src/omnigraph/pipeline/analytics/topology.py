"""The part of a graph that an analysis is about, as vertices and edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from omnigraph.pipeline.frames import SnapshotFrames
    from omnigraph.schema import Catalog, EdgeType


@dataclass(frozen=True)
class Topology:
    """`vertices` have `v` (what tells a vertex from all others), `type` and `id`; `edges` have `src`, `dst`, `weight`.

    Every end of an edge is a vertex. Frames are computed once.
    """

    vertices: DataFrame
    edges: DataFrame

    def both_ways(self) -> DataFrame:
        """Every edge in both directions."""
        turned = self.edges.select(f.col("dst").alias("src"), f.col("src").alias("dst"), "weight")
        return self.edges.unionByName(turned)

    def simple(self) -> DataFrame:
        """Pairs of different vertices that are connected, each in both directions and once."""
        return self.both_ways().where("src != dst").select("src", "dst").distinct()


def kept(frame: DataFrame) -> DataFrame:
    """The same rows, computed now, without the plan that led to them: iterations do not pile up."""
    return frame.localCheckpoint(eager=True)


def topology(
    frames: SnapshotFrames, edges: Iterable[str] = (), nodes: Iterable[str] = (), weight: str | None = None
) -> Topology:
    """Read edge types and the node types at their ends; none named means all. `weight` is a property of the edges."""
    chosen = _edge_types(frames.catalog, list(edges), list(nodes))
    types = list(nodes) or sorted({end for edge in chosen for end in (edge.source, edge.target)})
    if not types:
        types = sorted(frames.catalog.node_types)
    one = len(types) == 1
    vertices = [
        frames.table(f"node:{name}", ["id"]).select(_key(name, "id", one).alias("v"), f.lit(name).alias("type"), "id")
        for name in types
    ]
    parts = [_edges(frames, edge, weight, one) for edge in chosen]
    if not parts:
        parts = [frames.session.createDataFrame([], "src string, dst string, weight double")]
    return Topology(kept(reduce(_union, vertices)), kept(reduce(_union, parts)))


def _edges(frames: SnapshotFrames, edge: EdgeType, weight: str | None, one: bool) -> DataFrame:
    columns = ["src", "dst"] if weight is None else ["src", "dst", weight]
    value = f.lit(1.0) if weight is None else f.coalesce(f.col(f"`{weight}`").cast("double"), f.lit(1.0))
    return frames.table(f"edge:{edge.name}", columns).select(
        _key(edge.source, "src", one).alias("src"), _key(edge.target, "dst", one).alias("dst"), value.alias("weight")
    )


def _key(type_name: str, column: str, one: bool):
    """Ids are unique within a type: among several types the type belongs to the name of a vertex."""
    return f.col(column) if one else f.concat(f.lit(f"{type_name}/"), f.col(column))


def _union(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.unionByName(right)


def _edge_types(catalog: Catalog, edges: list[str], nodes: list[str]) -> list[EdgeType]:
    for name in nodes:
        if name not in catalog.node_types:
            hint = suggest(name, catalog.node_types)
            raise BadRequest(f"there is no node type {name!r}{f'; {hint}' if hint else ''}", type=name)
    for name in edges:
        if name not in catalog.edge_types:
            hint = suggest(name, catalog.edge_types)
            raise BadRequest(f"there is no edge type {name!r}{f'; {hint}' if hint else ''}", type=name)
    inside = [edge for edge in catalog.edges if not nodes or {edge.source, edge.target} <= set(nodes)]
    for name in edges:
        if name not in {edge.name for edge in inside}:
            raise BadRequest(f"edges {name} lead to nodes of other types than {', '.join(nodes)}", type=name)
    return [edge for edge in inside if not edges or edge.name in edges]
