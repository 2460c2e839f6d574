"""A load: rows of any source in, one commit out. What is said here holds wherever the rows are typed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from omnigraph.manifest.plan import expect_head
from omnigraph.model.errors import BranchNotFound, OmniGraphError, ReadSetConflict, ResourceLimit
from omnigraph.model.violations import ViolationKind, keeping_all
from omnigraph.write.collected import CollectedRows
from omnigraph.write.gathered import GatheredRows
from omnigraph.write.modes import LoadMode
from omnigraph.write.permit import permit_all
from omnigraph.write.skip import Rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from omnigraph.embed import Embedder
    from omnigraph.manifest import BranchRef, Commit, PublishPlan, Repository, StoredSchema, WriteTxn
    from omnigraph.schema import Catalog
    from omnigraph.write.batches import Batches
    from omnigraph.write.blob_policy import BlobPolicy
    from omnigraph.write.gathered import Change, Gathered, Judged
    from omnigraph.write.permit import Permit, PermitBranch
    from omnigraph.write.progress import Progress

    Reader = Callable[[Catalog], Iterable[tuple[Batches, str]]]
    """Gives the rows of an input for a schema, and what its places are counted in."""


@dataclass(frozen=True)
class LoadLimits:
    """Caps on one load, for those who want some; memory is the only one otherwise."""

    rows: int | None = None
    bytes: int | None = None

    def check(self, rows: int, size: int) -> None:
        """Refuse what is too much: rows, and the bytes they take in memory."""
        if self.rows is not None and rows > self.rows:
            raise ResourceLimit("load rows", limit=self.rows, actual=rows)
        if self.bytes is not None and size > self.bytes:
            raise ResourceLimit("load bytes", limit=self.bytes, actual=size)


@dataclass(frozen=True)
class LoadOptions:
    """How to load."""

    mode: LoadMode
    branch: str
    base_branch: str | None = None
    """Where to fork the branch from if it is not there."""
    actor: str | None = None
    if_commit: str | None = None
    limits: LoadLimits = LoadLimits()
    operation: str = "load"
    """What the commit says it was."""
    skip: bool = False
    """Leave out rows that are wrong, instead of refusing the load."""


@dataclass(frozen=True)
class LoadResult:
    """What a load did."""

    branch: str
    base_branch: str | None
    branch_created: bool
    mode: LoadMode
    nodes: dict[str, int]
    edges: dict[str, int]
    actor: str | None
    commit: Commit | None
    engine: str = "local"
    rejected: Rejected = field(default_factory=Rejected)
    """Rows that were left out."""

    @property
    def total_entities(self) -> int:
        """Nodes and edges in all."""
        return sum(self.nodes.values()) + sum(self.edges.values())

    @property
    def rejected_counts(self) -> dict[ViolationKind, int]:
        """Violations of the rows that were left out, by kind."""
        return self.rejected.counts


@dataclass(frozen=True)
class Target:
    """The branch a load goes to, and the schema its rows are typed for."""

    schema_hash: str
    schema: StoredSchema
    is_new: bool
    """Whether the branch has to be made first."""


@dataclass(frozen=True)
class Permits:
    """Asked before anything of a load becomes visible."""

    change: Permit = permit_all
    branch: PermitBranch = permit_all


NO_PERMITS = Permits()


def load(
    repository: Repository,
    read: Reader,
    options: LoadOptions,
    *,
    blobs: BlobPolicy | None = None,
    progress: Progress | None = None,
    permits: Permits = NO_PERMITS,
    embedder: Embedder | None = None,
) -> LoadResult:
    """Load what `read` gives for the schema of the branch: all of it as one commit, or nothing."""
    target = target_of(repository, options)
    with keeping_all(options.skip):
        collected = CollectedRows()
        for batches, word in read(target.schema.catalog):
            collected.add(batches, target.schema.catalog, word)
            options.limits.check(collected.total, collected.bytes)
        if embedder is not None:
            _say(progress, "embedding", collected.total)
            collected.embed(embedder, skip=options.skip)
        deltas = collected.deltas(options.mode)
        if blobs is not None:
            keep = options.mode is LoadMode.OVERWRITE
            deltas = blobs.admit(deltas, collected.violations, keep_references=keep)
        return publish(repository, target, GatheredRows(deltas, collected.violations), options, progress, permits)


def target_of(repository: Repository, options: LoadOptions) -> Target:
    """The schema the rows are for, and whether the branch has to be made first."""
    try:
        schema_hash, is_new = repository.base_state(options.branch, fresh=False).schema_hash, False
    except BranchNotFound:
        if options.base_branch is None:
            raise
        refs = repository.registry.head()
        schema_hash, is_new = repository.resolve(options.base_branch, refs).schema_hash, True
    return Target(schema_hash, repository.catalogs.get(schema_hash), is_new)


def publish(
    repository: Repository,
    target: Target,
    gathered: Gathered,
    options: LoadOptions,
    progress: Progress | None = None,
    permits: Permits = NO_PERMITS,
) -> LoadResult:
    """Hold what was gathered against the graph, stage it and publish it as one commit."""
    final: list[Judged] = []
    total = sum(change.count for change in gathered.changes.values())
    permits.change(gathered.changes)
    if target.is_new:
        assert options.base_branch is not None
        permits.branch(options.base_branch)
        if not options.skip:
            gathered.violations.raise_if_any()  # before the branch is made

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        expect_head(txn.base, options.if_commit)
        catalog = repository.catalogs.get(txn.base.schema_hash).catalog
        if txn.base.schema_hash != target.schema_hash and (
            gathered.violations.total or not _same_types(gathered.changes, catalog)
        ):
            raise ReadSetConflict("schema", expected=target.schema_hash, actual=txn.base.schema_hash)
        _say(progress, "checking", total)
        judged = gathered.judge(catalog, txn, skip=options.skip)
        _say(progress, "writing", total)
        judged.stage(txn)
        final[:] = [judged]
        plan = txn.plan(options.operation, actor=options.actor, if_commit=options.if_commit)
        return plan if gathered.load_id is None else replace(plan, commit_id=gathered.load_id)

    made = None
    if target.is_new:
        assert options.base_branch is not None
        made = repository.create_branch(options.branch, options.base_branch, options.actor)
    commit = _write(repository, prepare, options, gathered, made)
    (judged,) = final
    return LoadResult(
        options.branch,
        options.base_branch,
        target.is_new,
        options.mode,
        _counts(judged.changes, "node"),
        _counts(judged.changes, "edge"),
        options.actor,
        commit,
        gathered.engine,
        judged.rejected,
    )


def _counts(changes: Mapping[str, Change], kind: str) -> dict[str, int]:
    """Rows by type, nodes or edges, sorted by name."""
    found = {change.table.name: change.count for key, change in changes.items() if key.startswith(f"{kind}:")}
    return dict(sorted(found.items()))


def _same_types(changes: Mapping[str, Change], catalog: Catalog) -> bool:
    """Whether rows that were read for another schema are also rows of this one."""
    return all(catalog.tables_by_key.get(key) == change.table for key, change in changes.items())


def _write(
    repository: Repository,
    prepare: Callable[[WriteTxn], PublishPlan | None],
    options: LoadOptions,
    gathered: Gathered,
    made: BranchRef | None,
) -> Commit | None:
    strict = any(change.replaces for change in gathered.changes.values())
    fresh = options.if_commit is not None
    try:
        published = repository.write(prepare, options.branch, strict=strict, fresh=fresh, intent=gathered.load_id)
    except OmniGraphError:
        if made is not None:
            repository.withdraw_branch(made)
        raise
    return published.commit if published is not None else None


def _say(progress: Progress | None, stage: str, rows: int) -> None:
    if progress is not None:
        progress(stage, rows, rows)
