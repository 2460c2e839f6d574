"""Graph: the one object users hold. Thin: it names things and hands on."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omnigraph.graph.blobs import Blobs
from omnigraph.graph.changes import Changes, entity_blame, entity_log
from omnigraph.graph.history import Branches, Commits, Tags
from omnigraph.graph.indexes import Indexes
from omnigraph.graph.schema import Schema
from omnigraph.graph.spark import spark_pipeline, wants_spark
from omnigraph.manifest import Retention, collect
from omnigraph.model.errors import BadRequest
from omnigraph.policy.action import Action
from omnigraph.policy.gate import OPEN, Gate
from omnigraph.query.sources import read_source
from omnigraph.storage.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from omnigraph.execute.explain import Explanation
    from omnigraph.execute.query import QueryText, Target
    from omnigraph.execute.result import Result
    from omnigraph.execute.watch import Canceller
    from omnigraph.export.export import ExportResult
    from omnigraph.graph.holder import Holder
    from omnigraph.graph.spark import Analysis
    from omnigraph.history.diff import GraphDiff
    from omnigraph.history.entity import Blame, EntityEvent
    from omnigraph.manifest import Collected, Commit, Published, PublishPlan, Snapshot, WriteTxn
    from omnigraph.search.optimize import OptimizedTable
    from omnigraph.write.load import LoadLimits, LoadResult
    from omnigraph.write.mutate import MutationResult
    from omnigraph.write.progress import Progress


class Graph:
    """A graph on a disk or in an object store."""

    def __init__(self, holder: Holder) -> None:
        self._holder = holder
        self.repository = holder.repository
        self.branch = holder.branch
        self.branches = Branches(holder)
        self.tags = Tags(holder)
        self.commits = Commits(holder)
        self.changes = Changes(holder)
        self.schema = Schema(holder)
        self.blobs = Blobs(holder)
        self.indexes = Indexes(holder)

    @property
    def uri(self) -> str:
        """Where it lives."""
        return self.repository.parts.uri

    def as_actor(self, actor: str | None, gate: Gate = OPEN) -> Graph:
        """The same graph in somebody's hands: writes carry their name, and `gate` says what they may do."""
        return Graph(replace(self._holder, actor=actor, gate=gate))

    def with_gate(self, gate: Gate) -> Graph:
        """The same graph in the same hands, through another gate."""
        return self.as_actor(self._holder.actor, gate)

    def snapshot(self, branch: str | None = None, *, commit: str | None = None) -> Snapshot:
        """The graph as a branch has it now, or as it was right after a commit."""
        return self.repository.snapshot(branch or self.branch, commit)

    def diff(
        self,
        old: str,
        new: str | None = None,
        *,
        kinds: Collection[str] = (),
        types: Collection[str] = (),
        ops: Collection[str] = (),
    ) -> GraphDiff:
        """What changed from one branch, tag or commit to another (this branch). Iterating gives entity by entity."""
        from omnigraph.history.diff import differ_of, selection_of

        refs = self.repository.registry.head()
        states = [self.repository.resolve(name, refs) for name in (old, new or self.branch)]
        return differ_of(self.repository).diff(states[0], states[1], selection_of(kinds, types, ops))

    def log(
        self,
        type: str,  # noqa: A002 - the word users know
        id: str,  # noqa: A002
        *,
        kind: str | None = None,
        branch: str | None = None,
        limit: int | None = None,
    ) -> list[EntityEvent]:
        """What commits did to one node or edge, newest first."""
        return entity_log(self.repository, branch or self.branch, type, id, kind, limit)

    def blame(
        self,
        type: str,  # noqa: A002
        id: str,  # noqa: A002
        *,
        kind: str | None = None,
        branch: str | None = None,
    ) -> list[Blame]:
        """Which commit gave each property of a node or edge its value."""
        return entity_blame(self.repository, branch or self.branch, type, id, kind)

    def query(
        self,
        source: str | Path,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
        timeout_s: float | None = None,
        max_rows: int | None = None,
        engine: str = "auto",
        canceller: Canceller | None = None,
    ) -> Result:
        """Run a query that reads, given as text or as a `.gq` file, on a branch or at a snapshot: a commit or a tag.

        It sees one snapshot, whatever is written meanwhile. `canceller.cancel()` stops it from another thread.
        """
        from omnigraph.execute.query import Limits, query

        limits = Limits(timeout_s, max_rows, canceller)
        target = self._target(branch, snapshot)
        return query(self.repository, _text(source, name), _given(params), target, limits, engine)

    def frame(
        self,
        source: str | Path,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
        spark: object = None,
    ) -> Any:
        """Run a query on Spark and leave the rows there: a Spark DataFrame with the columns of the query."""
        from omnigraph.execute.profile import NoProfile
        from omnigraph.execute.query import prepare
        from omnigraph.execute.watch import Watch

        text, target = _text(source, name), self._target(branch, snapshot)
        request = prepare(self.repository, text, _given(params), target, Watch(None), None, NoProfile())
        return spark_pipeline().frame(request, spark)

    def explain(
        self,
        source: str | Path,
        name: str | None = None,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
    ) -> Explanation:
        """Show how a query would run: its steps, and the rows expected of each. Nothing is run."""
        from omnigraph.execute.explain import explain

        return explain(self.repository, _text(source, name), self._target(branch, snapshot))

    def profile(
        self,
        source: str | Path,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        snapshot: str | None = None,
        timeout_s: float | None = None,
    ) -> Explanation:
        """Run a query and show what each step did: rows, time, requests. The rows are in `.result`."""
        from omnigraph.execute.explain import profile
        from omnigraph.execute.query import Limits

        target = self._target(branch, snapshot)
        return profile(self.repository, _text(source, name), _given(params), target, Limits(timeout_s))

    def _target(self, branch: str | None, snapshot: str | None) -> Target:
        from omnigraph.execute.query import Target

        return Target(self._holder.branch_or(branch, snapshot), snapshot)

    def mutate(
        self,
        source: str | Path,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        branch: str | None = None,
        if_commit: str | None = None,
    ) -> MutationResult:
        """Run a query that writes, given as text or as a `.gq` file: one commit, or none if nothing changes."""
        from omnigraph.write.mutate import mutate

        text, source_name = read_source(source)
        return mutate(
            self.repository,
            text,
            name,
            _given(params),
            branch=branch or self.branch,
            source_name=source_name,
            actor=self._holder.actor,
            if_commit=if_commit,
            blobs=self._holder.blob_policy(),
            permit=self._holder.permit_change(branch or self.branch),
        )

    def load(
        self,
        source: object,
        *,
        mode: str = "merge",
        branch: str | None = None,
        base: str | None = None,
        type: str | None = None,  # noqa: A002 - the word users know
        mapping: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
        permissive: bool = False,
        embed: bool = False,
        engine: str = "auto",
        spark: Any = None,
        on_error: str = "fail",
        rejects: str | os.PathLike[str] | None = None,
        if_commit: str | None = None,
        limits: LoadLimits | None = None,
        progress: Progress | None = None,
    ) -> LoadResult:
        """Load records or frames as one commit. See docs/loading.md for every kind of source.

        `base` is where the branch is forked from if it is not there. `type` names the node or edge type of a frame,
        a Parquet or a CSV file, whose columns `mapping` renames. `engine` is `local`, `spark` or `auto`: Spark for
        large inputs; `spark` is a session to use. With `on_error="skip"` rows that are wrong are left out, and
        described in the file `rejects`. With `embed` the provider of embeddings makes the `@embed` vectors that are
        left out; that is done in process.
        """
        from omnigraph.graph.loading import Means, load_input
        from omnigraph.write.inputs import Input
        from omnigraph.write.load import LoadLimits, LoadOptions
        from omnigraph.write.modes import load_mode
        from omnigraph.write.rejects import check_place, write_rejects

        if on_error not in ("fail", "skip"):
            raise BadRequest(f"unknown on_error {on_error!r}: use fail or skip")
        if rejects is not None:
            check_place(rejects)
        given = Input(source, type, dict(mapping or {}), format, not permissive)
        options = LoadOptions(
            load_mode(mode),
            branch or self.branch,
            base,
            self._holder.actor,
            if_commit,
            limits or LoadLimits(),
            skip=on_error == "skip",
        )
        result = load_input(self._holder, given, options, Means(engine, spark, embed, progress))
        if rejects is not None:
            write_rejects(rejects, result.rejected, given)
        return result

    def resume_load(self, load_id: str, *, drop: bool = False, progress: Progress | None = None) -> LoadResult | None:
        """Publish a load on Spark whose driver died after everything was staged, or drop it."""
        from omnigraph.graph.loading import permits_of

        permits = permits_of(self._holder, self.branch)
        return spark_pipeline().resume(
            repository=self.repository, load_id=load_id, permits=permits, drop=drop, progress=progress
        )

    def export(
        self,
        out: str | os.PathLike[str],
        *,
        format: str = "jsonl",  # noqa: A002
        types: Iterable[str] = (),
        branch: str | None = None,
        snapshot: str | None = None,
        compression: str | None = None,
        part_rows: int | None = None,
        engine: str = "auto",
        spark: object = None,
        progress: Progress | None = None,
    ) -> ExportResult:
        """Write the graph, or some types of it, into a new folder; or into one file if it is named `….jsonl`.

        A load of what was written gives the same graph. `snapshot` is a commit to look at instead of a branch. With
        `engine="spark"` tasks write the parts of large tables side by side.
        """
        from omnigraph.export.files import PART_ROWS, FilePlan
        from omnigraph.graph.exporting import export_files, selected

        plan = FilePlan(os.fspath(out), format, compression, part_rows or PART_ROWS)
        selection = selected(self._holder, types, branch, snapshot)
        return export_files(self._holder, selection, plan, engine, spark, progress)

    def export_lines(
        self, *, types: Iterable[str] = (), branch: str | None = None, snapshot: str | None = None
    ) -> Iterator[bytes]:
        """The graph as JSONL, in chunks of whole lines, for a stream; memory stays bounded."""
        from omnigraph.graph.exporting import lines, selected

        # What is wrong is raised before the first chunk.
        return lines(self._holder, selected(self._holder, types, branch, snapshot))

    def analyze(
        self,
        algorithm: str,
        *,
        nodes: Iterable[str] = (),
        edges: Iterable[str] = (),
        weight: str | None = None,
        branch: str | None = None,
        snapshot: str | None = None,
        spark: object = None,
        **parameters: Any,
    ) -> Analysis:
        """Run an analysis on Spark: components, degrees, labels, pagerank, paths or triangles. See docs/spark.md."""
        scope = {"nodes": tuple(nodes), "edges": tuple(edges), "weight": weight}
        at = self.repository.snapshot(self._holder.branch_or(branch, snapshot), snapshot)
        self._holder.gate.require(Action.READ, branch=at.branch)
        return spark_pipeline().analyze(self.repository, at, algorithm, scope, parameters, self._assign, spark)

    def _assign(self, values: Mapping[str, pa.Table], branch: str, operation: str) -> Commit | None:
        from omnigraph.write.assign import AssignOptions, assign

        options = AssignOptions(branch, operation, self._holder.actor, self._holder.permit_change(branch))
        return assign(self.repository, values, options)

    def write(
        self,
        prepare: Callable[[WriteTxn], PublishPlan | None],
        *,
        branch: str | None = None,
        strict: bool = False,
    ) -> Published | None:
        """Stage changes to any tables and publish them as one commit; None if `prepare` found nothing to do.

        `prepare` may be called again on a newer snapshot. With `strict` a conflict is raised instead.
        """
        actor, permit = self._holder.actor, self._holder.permit_change(branch or self.branch)

        def signed(txn: WriteTxn) -> PublishPlan | None:
            plan = prepare(txn)
            if plan is not None:
                permit([change.key for change in plan.changes])
            return plan if plan is None or plan.actor is not None else replace(plan, actor=actor)

        return self.repository.write(signed, branch or self.branch, strict=strict)

    def embed(
        self,
        types: Iterable[str] = (),
        *,
        afresh: bool = False,
        branch: str | None = None,
        engine: str = "auto",
        spark: object = None,
        progress: Progress | None = None,
    ) -> Commit | None:
        """Make the `@embed` vectors that are missing, or all of them `afresh`, as one commit; None: none was missing.

        The environment says who makes them: see docs/search.md. With `engine="spark"` tasks ask the provider and write
        the rows.
        """
        from omnigraph.graph.embedding import embed
        from omnigraph.write.embed_graph import EmbedScope

        scope = EmbedScope(tuple(types), afresh)
        return embed(self._holder, branch or self.branch, scope, engine, spark, progress)

    def optimize(
        self,
        branch: str | None = None,
        *,
        engine: str = "auto",
        spark: object = None,
        progress: Progress | None = None,
    ) -> tuple[OptimizedTable, ...]:
        """Compact the tables of a branch and bring their indexes up to date. No commit, and no answer changes.

        With `engine="spark"` fragments and index segments are written in tasks, side by side, and `progress` is told.
        """
        from omnigraph.search.optimize import optimize

        on_spark = wants_spark(engine, spark)
        self._holder.gate.require(Action.MAINTAIN)
        if on_spark:
            return spark_pipeline().optimize(self.repository, branch or self.branch, progress, spark)
        return optimize(self.repository, branch or self.branch)

    def cleanup(
        self,
        *,
        keep: int | None = None,
        older_than_s: float | None = None,
        grace_s: float | None = None,
        confirm: bool = False,
    ) -> Collected:
        """Reclaim old versions and garbage; a preview unless confirmed."""
        self._holder.gate.require(Action.ADMIN)
        retention = Retention(keep, older_than_s) if grace_s is None else Retention(keep, older_than_s, grace_s)
        return collect(self.repository, retention, dry_run=not confirm)

    def meter(self) -> Meter:
        """Count what the store is asked for: `with g.meter() as m: …`."""
        return Meter()


def _text(source: str | Path, name: str | None) -> QueryText:
    from omnigraph.execute.query import QueryText

    return QueryText(*read_source(source), name)


def _given(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return dict(params) if params is not None else None
