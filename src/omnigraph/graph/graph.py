"""Graph: the one object users hold. Thin: it names things and hands on."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnigraph.embed import embedder_from_environment
from omnigraph.graph.blobs import Blobs
from omnigraph.graph.changes import Changes, entity_blame, entity_log
from omnigraph.graph.history import Branches, Commits, Tags
from omnigraph.graph.indexes import Indexes
from omnigraph.graph.schema import Schema
from omnigraph.graph.spark import pipeline_for, spark_pipeline
from omnigraph.manifest import (
    Catalogs,
    Collected,
    Parts,
    Published,
    PublishPlan,
    Repository,
    Retention,
    Snapshot,
    StoredSchema,
    WriteTxn,
    collect,
    encode_schema,
    pinned,
)
from omnigraph.model.clock import SystemRuntime
from omnigraph.model.errors import BadRequest, NotAGraph
from omnigraph.model.names import MAIN
from omnigraph.policy.action import Action
from omnigraph.policy.gate import OPEN, Gate
from omnigraph.query.sources import read_source
from omnigraph.schema import compile_schema, schema_hash, table_schemas
from omnigraph.search.upkeep import FoldIndexer
from omnigraph.storage.address import parse_address
from omnigraph.storage.durable import DurabilityName, connect_durably
from omnigraph.storage.meter import Meter
from omnigraph.storage.tables import LanceTables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    import pyarrow as pa

    from omnigraph.execute.explain import Explanation
    from omnigraph.execute.query import QueryText, Target
    from omnigraph.execute.result import Result
    from omnigraph.execute.watch import Canceller
    from omnigraph.export import Selection
    from omnigraph.export.export import ExportResult
    from omnigraph.graph.spark import Analysis
    from omnigraph.history.diff import GraphDiff
    from omnigraph.history.entity import Blame, EntityEvent
    from omnigraph.manifest import Commit
    from omnigraph.search.optimize import OptimizedTable
    from omnigraph.storage.address import Address
    from omnigraph.write.blob_policy import BlobPolicy
    from omnigraph.write.load import LoadLimits, LoadResult, Permits
    from omnigraph.write.mutate import MutationResult
    from omnigraph.write.progress import Progress


class Graph:
    """A graph on a disk or in an object store."""

    def __init__(
        self,
        repository: Repository,
        branch: str,
        actor: str | None,
        external_blobs: tuple[str, ...] = (),
        gate: Gate = OPEN,
    ) -> None:
        self.repository = repository
        self.branch = branch
        self._actor = actor
        self._external_blobs = external_blobs
        self._gate = gate
        self.branches = Branches(repository, actor, gate)
        self.tags = Tags(repository, actor, gate)
        self.commits = Commits(repository, branch, actor, gate)
        self.changes = Changes(repository, branch, gate)
        self.schema = Schema(repository, branch, actor, gate)
        self.blobs = Blobs(repository, branch)
        self.indexes = Indexes(repository, branch)

    @property
    def uri(self) -> str:
        """Where it lives."""
        return self.repository.parts.uri

    def as_actor(self, actor: str | None, gate: Gate = OPEN) -> Graph:
        """The same graph in somebody's hands: writes carry their name, and `gate` says what they may do."""
        return Graph(self.repository, self.branch, actor, self._external_blobs, gate)

    def with_gate(self, gate: Gate) -> Graph:
        """The same graph in the same hands, through another gate."""
        return self.as_actor(self._actor, gate)

    def _permit_change(self, branch: str) -> Callable[[Iterable[str]], None]:
        return lambda tables: self._gate.require(Action.CHANGE, branch=branch, types=tables)

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

        if branch is not None and snapshot is not None:
            raise BadRequest("give a branch or a snapshot, not both: a snapshot is on no branch")
        return Target(branch or self.branch, snapshot)

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
            actor=self._actor,
            if_commit=if_commit,
            blobs=self._blob_policy(),
            permit=self._permit_change(branch or self.branch),
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
        from omnigraph.write.inputs import Input, read_input
        from omnigraph.write.load import LoadLimits, LoadOptions, load
        from omnigraph.write.modes import load_mode

        if on_error not in ("fail", "skip"):
            raise BadRequest(f"unknown on_error {on_error!r}: use fail or skip")
        chosen = Input(source, type, dict(mapping or {}), format, not permissive)
        options = LoadOptions(
            load_mode(mode),
            branch or self.branch,
            base,
            self._actor,
            if_commit,
            limits or LoadLimits(),
            skip=on_error == "skip",
        )
        permits = self._permits(options.branch)
        if source.__class__.__module__.startswith("pyspark."):
            engine = "spark"
        if embed and engine == "spark":
            raise BadRequest(
                "vectors are made in process: leave out embed, and run 'omnigraph embed' on the files first"
            )
        pipeline = pipeline_for("local" if embed else engine, chosen)
        if pipeline is not None:
            result = pipeline.load(
                repository=self.repository,
                given=chosen,
                options=options,
                permits=permits,
                allowed_blobs=self._external_blobs,
                progress=progress,
                session=spark,
            )
        else:
            read = read_input(chosen, self.repository.parts.runtime.ids, progress)
            blobs = self._blob_policy()
            embedder = embedder_from_environment() if embed else None
            result = load(
                self.repository, read, options, blobs=blobs, progress=progress, permits=permits, embedder=embedder
            )
        if rejects is not None:
            from omnigraph.write.rejects import write_rejects

            write_rejects(rejects, result.rejected, chosen)
        return result

    def resume_load(self, load_id: str, *, drop: bool = False, progress: Progress | None = None) -> LoadResult | None:
        """Publish a load on Spark whose driver died after everything was staged, or drop it."""
        permits = self._permits(self.branch)
        return spark_pipeline().resume(
            repository=self.repository, load_id=load_id, permits=permits, drop=drop, progress=progress
        )

    def _permits(self, branch: str) -> Permits:
        from omnigraph.write.load import Permits

        def make(source: str) -> None:
            self._gate.require(Action.BRANCH_CREATE, branch=source, target=branch)

        return Permits(self._permit_change(branch), make)

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
        from omnigraph.export.export import export_local
        from omnigraph.export.files import PART_ROWS, FilePlan

        plan = FilePlan(os.fspath(out), format, compression, part_rows or PART_ROWS)
        selection = self._selection(types, branch, snapshot)
        _check_engine(engine)
        with pinned(self.repository, selection.snapshot.state):
            if engine == "spark" or spark is not None:
                return spark_pipeline().export(self.repository, selection, plan, progress, spark)
            return export_local(selection, plan, progress)

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
        if branch is not None and snapshot is not None:
            raise BadRequest("name a branch or a snapshot, not both")
        at = self.repository.snapshot(branch or self.branch, snapshot)
        self._gate.require(Action.READ, branch=at.branch)
        return spark_pipeline().analyze(self.repository, at, algorithm, scope, parameters, self._assign, spark)

    def _assign(self, values: Mapping[str, pa.Table], branch: str, operation: str) -> Commit | None:
        from omnigraph.write.assign import AssignOptions, assign

        options = AssignOptions(branch, operation, self._actor, self._permit_change(branch))
        return assign(self.repository, values, options)

    def export_lines(
        self, *, types: Iterable[str] = (), branch: str | None = None, snapshot: str | None = None
    ) -> Iterator[bytes]:
        """The graph as JSONL, in chunks of whole lines, for a stream; memory stays bounded."""
        selection = self._selection(types, branch, snapshot)  # what is wrong is raised before the first chunk

        def chunks() -> Iterator[bytes]:
            from omnigraph.export import graph_lines

            with pinned(self.repository, selection.snapshot.state):
                yield from graph_lines(selection.tables)

        return chunks()

    def _selection(self, types: Iterable[str], branch: str | None, snapshot: str | None) -> Selection:
        from omnigraph.export import select

        if branch is not None and snapshot is not None:
            raise BadRequest("name a branch or a snapshot, not both")
        selection = select(self.repository, branch or self.branch, snapshot=snapshot, types=types)
        tables = [table.key for table in selection.tables]
        self._gate.require(Action.EXPORT, branch=selection.snapshot.branch, types=tables)
        return selection

    def _blob_policy(self) -> BlobPolicy:
        from omnigraph.write.blob_policy import BlobPolicy
        from omnigraph.write.streams import read_reference

        return BlobPolicy(self._external_blobs, read_reference)

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

        permit = self._permit_change(branch or self.branch)

        def signed(txn: WriteTxn) -> PublishPlan | None:
            plan = prepare(txn)
            if plan is not None:
                permit([change.key for change in plan.changes])
            return plan if plan is None or plan.actor is not None else replace(plan, actor=self._actor)

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
        from omnigraph.write.assign import AssignOptions, assign
        from omnigraph.write.embed_graph import EmbedScope, embed_locally, embedded_tables, source_columns

        _check_engine(engine)
        at, scope, embedder = branch or self.branch, EmbedScope(tuple(types), afresh), embedder_from_environment()
        snapshot = self.repository.snapshot(at)
        tables = embedded_tables(self.repository.catalogs.get(snapshot.schema_hash).catalog, scope)
        self._gate.require(Action.CHANGE, branch=at, types=[f"{table.kind}:{table.name}" for table in tables])
        guards = frozenset(name for table in tables for name in source_columns(table))
        how = AssignOptions(at, "embed", self._actor, self._permit_change(at), guards)
        if engine == "spark" or spark is not None:
            return spark_pipeline().embed(self.repository, snapshot, embedder, scope, how, progress, spark)
        with pinned(self.repository, snapshot.state):
            values = embed_locally(self.repository, snapshot, embedder, scope)
        return assign(self.repository, values, how) if values else None

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

        _check_engine(engine)
        self._gate.require(Action.MAINTAIN)
        if engine == "spark" or spark is not None:
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
        self._gate.require(Action.ADMIN)
        retention = Retention(keep, older_than_s) if grace_s is None else Retention(keep, older_than_s, grace_s)
        return collect(self.repository, retention, dry_run=not confirm)

    def meter(self) -> Meter:
        """Count what the store is asked for: `with g.meter() as m: …`."""
        return Meter()


def _check_engine(engine: str) -> None:
    if engine not in ("auto", "local", "spark"):
        raise BadRequest(f"unknown engine {engine!r}: use auto, local or spark")


def _text(source: str | Path, name: str | None) -> QueryText:
    from omnigraph.execute.query import QueryText

    return QueryText(*read_source(source), name)


def _given(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return dict(params) if params is not None else None


def init_graph(
    uri: str | os.PathLike[str],
    schema: str,
    *,
    schema_name: str = "<schema>",
    actor: str | None = None,
    durability: DurabilityName = "default",
    storage_options: dict[str, str] | None = None,
    external_blobs: tuple[str, ...] = (),
) -> Graph:
    """Make a new graph with a schema.

    `uri` is a folder or an address in an object store: `s3://`, `gs://` or `az://`, whose credentials and endpoint come
    from the environment or from `storage_options`. `schema_name` stands for the schema in messages; `actor` is who
    writes. With `durability="fsync"` a commit on a disk survives a power cut: see docs/operations.md.
    """
    catalog = compile_schema(schema, schema_name)
    address = parse_address(uri, storage_options)
    if address.is_local:
        Path(address.prefix).mkdir(parents=True, exist_ok=True)
    stored, named = StoredSchema(schema, catalog), schema_hash(catalog)
    parts = _parts(address, durability)
    repository = Repository.init(parts, table_schemas(catalog), named, encode_schema(stored), actor)
    repository.catalogs.know(named, stored)
    return Graph(repository, MAIN, actor, tuple(external_blobs))


def open_graph(
    uri: str | os.PathLike[str],
    *,
    branch: str = MAIN,
    actor: str | None = None,
    durability: DurabilityName = "default",
    storage_options: dict[str, str] | None = None,
    external_blobs: tuple[str, ...] = (),
) -> Graph:
    """Open an existing graph: what `init` was given, and the branch to use where no other is named.

    `external_blobs` are the addresses below which blobs may be referred to.
    """
    address = parse_address(uri, storage_options)
    if address.is_local and not Path(address.prefix).is_dir():
        raise NotAGraph(address.uri)
    return Graph(Repository.open(_parts(address, durability)), branch, actor, tuple(external_blobs))


def _parts(address: Address, durability: DurabilityName) -> Parts:
    store, durable = connect_durably(durability, address)
    tables = LanceTables(address, store)
    indexer = FoldIndexer(tables, Catalogs(store))
    return Parts(address.uri, store, tables, SystemRuntime(), durable, indexer, options=address.options)
