"""Loads, in process or on Spark, and what either is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.embed import embedder_from_environment
from omnigraph.graph.spark import pipeline_for
from omnigraph.model.errors import BadRequest
from omnigraph.policy.action import Action
from omnigraph.write.inputs import read_input
from omnigraph.write.load import Permits, load

if TYPE_CHECKING:
    from omnigraph.graph.holder import Holder
    from omnigraph.graph.spark import SparkPipeline
    from omnigraph.write.inputs import Input
    from omnigraph.write.load import LoadOptions, LoadResult
    from omnigraph.write.progress import Progress


@dataclass(frozen=True)
class Means:
    """What a load is done with."""

    engine: str = "auto"
    session: Any = None
    """Of Spark; None: the one there is, or a new one."""
    embed: bool = False
    """Whether vectors that are left out are made."""
    progress: Progress | None = None


def load_input(holder: Holder, given: Input, options: LoadOptions, means: Means) -> LoadResult:
    """Load an input as one commit."""
    repository, permits = holder.repository, permits_of(holder, options.branch)
    pipeline = _pipeline(given, means)
    if pipeline is not None:
        return pipeline.load(
            repository=repository,
            given=given,
            options=options,
            permits=permits,
            allowed_blobs=holder.external_blobs,
            progress=means.progress,
            session=means.session,
        )
    return load(
        repository,
        read_input(given, repository.parts.runtime.ids, means.progress),
        options,
        blobs=holder.blob_policy(),
        progress=means.progress,
        permits=permits,
        embedder=embedder_from_environment() if means.embed else None,
    )


def permits_of(holder: Holder, branch: str) -> Permits:
    """What a load onto a branch asks."""

    def make(source: str) -> None:
        holder.gate.require(Action.BRANCH_CREATE, branch=source, target=branch)

    return Permits(holder.permit_change(branch), make)


def _pipeline(given: Input, means: Means) -> SparkPipeline | None:
    """The pipeline, if it is to load this; None for a load in process."""
    engine = "spark" if given.source.__class__.__module__.startswith("pyspark.") else means.engine
    if means.embed and engine == "spark":
        raise BadRequest("vectors are made in process: leave out embed, and run 'omnigraph embed' on the files first")
    return pipeline_for("local" if means.embed else engine, given)
