"""The engine `spark`: frames for patterns, Spark SQL for what is made of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from omnigraph.execute.engines import register_engine
from omnigraph.execute.read import run_locally
from omnigraph.pipeline.frames import SnapshotFrames
from omnigraph.pipeline.queries.names import has_search
from omnigraph.pipeline.queries.result import result_frame, temporary, to_table
from omnigraph.pipeline.queries.run import ONE, Rows, SparkRun
from omnigraph.pipeline.queries.steps import run_pattern
from omnigraph.pipeline.session import spark_session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from omnigraph.execute.engines import ReadRequest


def run_on_spark(request: ReadRequest) -> pa.Table:
    """Run a read; a search runs where its index is, and that is not in tasks."""
    if has_search(request.plan):
        return run_locally(request)
    run = _run(request, spark_session())
    with temporary(run, _view(request)) as view:
        table = to_table(run, _result(run, view))
    run.check()
    return table


def run_as_frame(request: ReadRequest, session: SparkSession | None = None) -> DataFrame:
    """Run a read, and leave the rows where they are: a frame with the columns of the query."""
    session = spark_session(session)
    names = [column.name for column in request.plan.read.columns]
    if has_search(request.plan):
        return session.createDataFrame(run_locally(request))
    run = _run(request, session)
    return _result(run, _view(request)).toDF(*names)


def _run(request: ReadRequest, session: SparkSession) -> SparkRun:
    return SparkRun(request, SnapshotFrames(session, request.repository, request.snapshot))


def _result(run: SparkRun, view: str) -> DataFrame:
    one_row = run.frames.session.range(1).select(f.lit(1).alias(ONE))
    return result_frame(run, run_pattern(run, run.request.plan.pattern, Rows(one_row)), view)


def _view(request: ReadRequest) -> str:
    return f"omnigraph_{request.repository.parts.runtime.ids.ulid().lower()}"


register_engine("spark", run_on_spark)
