"""The vectors of a graph, made in process or on Spark and stored as one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.embed import embedder_from_environment
from omnigraph.graph.spark import spark_pipeline, wants_spark
from omnigraph.manifest import pinned
from omnigraph.policy.action import Action
from omnigraph.schema import table_key
from omnigraph.write.assign import AssignOptions, assign
from omnigraph.write.embed_graph import embed_locally, embedded_tables, source_columns

if TYPE_CHECKING:
    from omnigraph.graph.holder import Holder
    from omnigraph.manifest import Commit
    from omnigraph.write.embed_graph import EmbedScope
    from omnigraph.write.progress import Progress


def embed(
    holder: Holder, branch: str, scope: EmbedScope, engine: str, session: object, progress: Progress | None
) -> Commit | None:
    """Make vectors on a branch; None if none was wanted."""
    on_spark, embedder = wants_spark(engine, session), embedder_from_environment()
    repository = holder.repository
    snapshot = repository.snapshot(branch)
    tables = embedded_tables(repository.catalogs.get(snapshot.schema_hash).catalog, scope)
    holder.gate.require(Action.CHANGE, branch=branch, types=[table_key(table) for table in tables])
    guards = frozenset(name for table in tables for name in source_columns(table))
    options = AssignOptions(branch, "embed", holder.actor, holder.permit_change(branch), guards)
    if on_spark:
        return spark_pipeline().embed(repository, snapshot, embedder, scope, options, progress, session)
    with pinned(repository, snapshot.state):
        values = embed_locally(repository, snapshot, embedder, scope)
    return assign(repository, values, options) if values else None
