"""Analytics by name: read a part of a snapshot, compute, and give or write back what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.model.compute import pc
from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.analytics.components import connected_components
from omnigraph.pipeline.analytics.degrees import degrees
from omnigraph.pipeline.analytics.labels import label_propagation
from omnigraph.pipeline.analytics.pagerank import pagerank
from omnigraph.pipeline.analytics.paths import shortest_paths
from omnigraph.pipeline.analytics.topology import topology
from omnigraph.pipeline.analytics.triangles import triangles
from omnigraph.pipeline.frames import SnapshotFrames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from omnigraph.graph.spark import Assign
    from omnigraph.manifest import Commit, Repository, Snapshot


@dataclass(frozen=True)
class Algorithm:
    """An analysis, and the parameters it takes."""

    run: Callable[..., DataFrame]
    parameters: frozenset[str] = frozenset()


ALGORITHMS: dict[str, Algorithm] = {
    "components": Algorithm(connected_components),
    "degrees": Algorithm(degrees),
    "labels": Algorithm(label_propagation, frozenset({"iterations"})),
    "pagerank": Algorithm(pagerank, frozenset({"damping", "tolerance", "iterations"})),
    "paths": Algorithm(shortest_paths, frozenset({"sources", "direction", "hops"})),
    "triangles": Algorithm(triangles),
}


@dataclass(frozen=True)
class AnalysisInput:
    """What is analysed."""

    nodes: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    weight: str | None = None


@dataclass(frozen=True)
class Analysis:
    """One row for each node: `type`, `id` and what was found."""

    algorithm: str
    frame: DataFrame
    snapshot: Snapshot
    assign: Assign

    @property
    def values(self) -> list[str]:
        """The columns that were found."""
        return self.frame.columns[2:]

    def to_arrow(self) -> pa.Table:
        """All rows, by type and id."""
        return self.frame.orderBy("type", "id").toArrow()

    def write(self, properties: Mapping[str, str], branch: str) -> Commit | None:
        """Store columns as properties of the nodes, as one commit: `{"rank": "importance"}`."""
        for column in properties:
            if column not in self.values:
                hint = suggest(column, self.values)
                raise BadRequest(f"{self.algorithm} gives no {column!r}{f'; {hint}' if hint else ''}", column=column)
        rows = self.frame.select("type", "id", *properties).toArrow()
        named = rows.rename_columns(["type", "id", *properties.values()])
        return self.assign(_by_type(named), branch, f"analyze {self.algorithm}")


def _by_type(rows: pa.Table) -> dict[str, pa.Table]:
    kinds = rows.column("type").unique().to_pylist()
    return {f"node:{kind}": rows.filter(pc.equal(rows.column("type"), kind)).drop_columns(["type"]) for kind in kinds}


def analyze(
    session: SparkSession,
    repository: Repository,
    snapshot: Snapshot,
    algorithm: str,
    given: AnalysisInput,
    parameters: Mapping[str, Any],
    assign: Assign,
) -> Analysis:
    """Run an analysis of a snapshot."""
    found = ALGORITHMS.get(algorithm)
    if found is None:
        hint = suggest(algorithm, ALGORITHMS) or f"there are {', '.join(ALGORITHMS)}"
        raise BadRequest(f"there is no analysis {algorithm!r}; {hint}", algorithm=algorithm)
    _check(algorithm, parameters, found.parameters)
    graph = topology(SnapshotFrames(session, repository, snapshot), given.edges, given.nodes, given.weight)
    result = found.run(graph, **parameters)
    columns = [name for name in result.columns if name != "v"]
    frame = graph.vertices.join(result, "v").select("type", "id", *columns)
    return Analysis(algorithm, frame, snapshot, assign)


def _check(algorithm: str, parameters: Iterable[str], known: frozenset[str]) -> None:
    for name in parameters:
        if name not in known:
            takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise BadRequest(f"{algorithm} has no parameter {name!r}: {takes}", parameter=name)
