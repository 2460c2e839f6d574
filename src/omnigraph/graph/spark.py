"""What Spark adds to a graph. The pipeline stands above the graph, so it is found by its name when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, cast

from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.embed import Embedder
    from omnigraph.execute.engines import ReadRequest
    from omnigraph.export import FilePlan, Selection
    from omnigraph.export.export import ExportResult, Progress
    from omnigraph.manifest import Commit, Repository, Snapshot
    from omnigraph.search.optimize import OptimizedTable
    from omnigraph.write.assign import AssignOptions
    from omnigraph.write.embed_graph import EmbedScope
    from omnigraph.write.inputs import Input
    from omnigraph.write.load import LoadResult


Assign = Callable[[Mapping[str, "pa.Table"], str, str], "Commit | None"]
"""Stores values, by table key, on a branch, as what the commit says it was."""


class Analysis(Protocol):
    """What an analysis found: one row for each node, with `type`, `id` and values."""

    @property
    def frame(self) -> Any:
        """A Spark DataFrame."""
        ...

    @property
    def values(self) -> list[str]:
        """The columns that were found."""
        ...

    def to_arrow(self) -> pa.Table:
        """All rows, by type and id."""
        ...

    def write(self, properties: Mapping[str, str], branch: str) -> Commit | None:
        """Store columns as properties of the nodes, as one commit: `{"rank": "importance"}`."""
        ...


class SparkPipeline(Protocol):
    """What `omnigraph.pipeline.engine` offers."""

    def export(
        self, repository: Repository, selection: Selection, plan: FilePlan, progress: Progress | None, session: Any
    ) -> ExportResult:
        """Write files in tasks."""
        ...

    def is_available(self) -> bool:
        """Whether a session could be started here."""
        ...

    def input_bytes(self, given: Input) -> int | None:
        """The size of an input that Spark could load; None for what it cannot, or where nobody knows."""
        ...

    def load(self, **asked: Any) -> LoadResult:
        """Load in tasks."""
        ...

    def resume(self, **asked: Any) -> LoadResult | None:
        """Publish a load whose driver died after everything was staged, or drop it."""
        ...

    def analyze(
        self,
        repository: Repository,
        snapshot: Snapshot,
        algorithm: str,
        scope: Mapping[str, Any],
        parameters: Mapping[str, Any],
        assign: Assign,
        session: Any,
    ) -> Analysis:
        """Run an analysis."""
        ...

    def embed(
        self,
        repository: Repository,
        snapshot: Snapshot,
        embedder: Embedder,
        scope: EmbedScope,
        options: AssignOptions,
        progress: Progress | None,
        session: Any,
    ) -> Commit | None:
        """Make vectors in tasks, and store them as one commit."""
        ...

    def optimize(
        self, repository: Repository, branch: str, progress: Progress | None, session: Any
    ) -> tuple[OptimizedTable, ...]:
        """Compact and index tables in tasks."""
        ...

    def frame(self, request: ReadRequest, session: Any) -> Any:
        """Run a query to a frame."""
        ...


LOCAL_BYTES_MAX = 8 << 20
"""Inputs below this are loaded in process with `auto`: starting Spark takes longer than they do."""


def pipeline_for(engine: str, given: Input) -> SparkPipeline | None:
    """The pipeline, if it is to load this; None for a load in process.

    With `auto` it is Spark for what is large, if this machine can run Spark.
    """
    check_engine(engine)
    if engine == "local" or (engine == "auto" and find_spec("pyspark") is None):
        return None
    pipeline = spark_pipeline()
    if engine == "spark":
        return pipeline
    size = pipeline.input_bytes(given)
    return pipeline if size is not None and size >= LOCAL_BYTES_MAX and pipeline.is_available() else None


def check_engine(engine: str) -> None:
    """Refuse a word that names none of the engines."""
    if engine not in ("auto", "local", "spark"):
        raise BadRequest(f"unknown engine {engine!r}: use auto, local or spark")


def wants_spark(engine: str, session: object) -> bool:
    """Whether work is to be done in tasks: where nobody asks for it, or gives a session, it is not."""
    check_engine(engine)
    return engine == "spark" or session is not None


def spark_pipeline() -> SparkPipeline:
    """The pipeline; imported now, because most processes never need it."""
    return cast("SparkPipeline", import_module("omnigraph.pipeline.engine"))
