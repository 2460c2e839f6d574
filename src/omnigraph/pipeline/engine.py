"""What the graph below calls by name: see `graph/spark.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import OmniGraphError
from omnigraph.pipeline.java import java_home
from omnigraph.pipeline.session import spark_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from omnigraph.embed import Embedder
    from omnigraph.execute.engines import ReadRequest
    from omnigraph.export import FilePlan, Selection
    from omnigraph.export.export import ExportResult, Progress
    from omnigraph.graph.spark import Assign
    from omnigraph.manifest import Commit, Repository, Snapshot
    from omnigraph.pipeline.analytics.analyze import Analysis
    from omnigraph.search.optimize import OptimizedTable
    from omnigraph.write.assign import AssignOptions
    from omnigraph.write.embed_graph import EmbedScope
    from omnigraph.write.inputs import Input
    from omnigraph.write.load import LoadResult
    from omnigraph.write.progress import Progress as WriteProgress


def export(
    repository: Repository,
    selection: Selection,
    plan: FilePlan,
    progress: Progress | None,
    session: SparkSession | None,
) -> ExportResult:
    """Write files in tasks."""
    from omnigraph.pipeline.export import export_in_tasks

    return export_in_tasks(spark_session(session), repository, selection, plan, progress)


def analyze(
    repository: Repository,
    snapshot: Snapshot,
    algorithm: str,
    scope: Mapping[str, Any],
    parameters: Mapping[str, Any],
    assign: Assign,
    session: SparkSession | None,
) -> Analysis:
    """Run an analysis."""
    from omnigraph.pipeline.analytics.analyze import AnalysisInput
    from omnigraph.pipeline.analytics.analyze import analyze as run

    given = AnalysisInput(**scope)
    return run(spark_session(session), repository, snapshot, algorithm, given, parameters, assign)


def is_available() -> bool:
    """Whether a session could be started here."""
    from omnigraph.pipeline.config import spark_config

    config = spark_config()
    if config.remote is not None:
        return True
    try:
        java_home()
    except OmniGraphError:
        return False
    return True


def input_bytes(given: Input) -> int | None:
    """The size of an input that Spark could load; None for what it cannot, or where nobody knows."""
    from omnigraph.pipeline.splits import input_size

    is_named = isinstance(given.source, str) or hasattr(given.source, "__fspath__")
    return input_size(given) if is_named and given.source != "-" else None


def load(**asked: Any) -> LoadResult:
    """Load on Spark."""
    from omnigraph.pipeline.load import SparkLoad, load_on_spark

    return load_on_spark(SparkLoad(**asked))


def resume(**asked: Any) -> LoadResult | None:
    """Publish a load whose driver died after everything was staged, or drop it."""
    from omnigraph.pipeline.resume import resume

    return resume(**asked)


def frame(request: ReadRequest, session: SparkSession | None) -> DataFrame:
    """Run a query to a frame."""
    from omnigraph.pipeline.queries.engine import run_as_frame

    return run_as_frame(request, session)


def optimize(
    repository: Repository, branch: str, progress: WriteProgress | None, session: SparkSession | None
) -> tuple[OptimizedTable, ...]:
    """Compact and index tables in tasks."""
    from omnigraph.pipeline.optimize import optimize_in_tasks

    return optimize_in_tasks(spark_session(session), repository, branch, progress)


def embed(
    repository: Repository,
    snapshot: Snapshot,
    embedder: Embedder,
    scope: EmbedScope,
    options: AssignOptions,
    progress: WriteProgress | None,
    session: SparkSession | None,
) -> Commit | None:
    """Make vectors in tasks, and store them as one commit."""
    from omnigraph.pipeline.embed import embed_in_tasks

    return embed_in_tasks(spark_session(session), repository, snapshot, embedder, scope, options, progress)
