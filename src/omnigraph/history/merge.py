"""Merge, revert and cherry-pick: three states into one commit, or every conflict and nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from omnigraph.history.bases import Line, merge_bases, state_of
from omnigraph.history.conflicts import MergeConflict, MergeConflicts
from omnigraph.history.criss_cross import correct_base
from omnigraph.history.resolve import NO_RESOLUTION
from omnigraph.history.schemas import merge_schemas
from omnigraph.history.staging import stage_states
from omnigraph.history.three_way import ThreeWay
from omnigraph.history.views import view_of
from omnigraph.write.permit import permit_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.history.diff import Differ, GraphDiff
    from omnigraph.history.resolve import Resolution
    from omnigraph.manifest import Commit, PublishPlan, Repository, State, WriteTxn
    from omnigraph.write.permit import Permit

Outcome = Literal["already_up_to_date", "fast_forward", "merged"]


@dataclass(frozen=True)
class MergeResult:
    """What a merge did, or (`dry_run`) would do. Without a commit there was nothing to do."""

    source: str
    target: str
    outcome: Outcome
    actor: str | None
    commit: Commit | None
    conflicts: tuple[MergeConflict, ...] = ()
    """What was decided by choosing a side; in a dry run also what is still open."""
    summary: tuple[dict[str, Any], ...] = ()
    """How many entities of each type their side changed."""
    dry_run: bool = False
    branch_deleted: bool | None = None
    branch_delete_error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As the HTTP API has it: `BranchMergeOutput`."""
        found: dict[str, Any] = {
            "source": self.source,
            "target": self.target,
            "outcome": self.outcome,
            "actor_id": self.actor,
        }
        if self.branch_deleted is not None:
            found["branch_deleted"] = self.branch_deleted
        if self.branch_delete_error is not None:
            found["branch_delete_error"] = self.branch_delete_error
        return found

    def describe(self) -> dict[str, Any]:
        """A dry run with all that is known: also what a resolution file is written from."""
        return {
            **self.to_json(),
            "summary": list(self.summary),
            "conflicts": [conflict.describe() for conflict in self.conflicts],
        }


@dataclass(frozen=True)
class MergeOptions:
    """How to merge."""

    resolution: Resolution = NO_RESOLUTION
    actor: str | None = None
    dry_run: bool = False
    if_commit: str | None = None
    permit: Permit = permit_all


@dataclass
class _Attempt:
    """What the last attempt came to."""

    outcome: Outcome = "merged"
    conflicts: list[MergeConflict] = field(default_factory=list[MergeConflict])
    changes: GraphDiff | None = None


def merge_branch(differ: Differ, source: str, target: str, options: MergeOptions) -> MergeResult:
    """Merge what a branch, tag or commit has into a branch."""
    repository = differ.repository
    theirs = repository.resolve(source, repository.registry.head())
    attempt = _Attempt()

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        attempt.conflicts, attempt.changes = [], None
        bases = merge_bases(repository, txn.base, theirs)
        if bases[0].id == theirs.head:
            attempt.outcome = "already_up_to_date"
            return None
        if bases[0].id == txn.base.head:
            return fast_forward(txn, bases[0])
        attempt.outcome = "merged"
        base, *others = (state_of(repository, commit) for commit in bases)
        done = _three_way(differ, txn, base, theirs, f"merging {source!r} into {target!r}", options, attempt, others)
        return done.plan("merge", merged=theirs)

    def fast_forward(txn: WriteTxn, base: Commit) -> PublishPlan | None:
        attempt.changes = differ.diff(txn.base, theirs) if options.dry_run else None
        follows = Line(repository.lineage.walk(theirs), theirs.head).has(base)
        changed = stage_states(txn, view_of(repository, txn.base), view_of(repository, theirs), same_line=follows)
        if not changed and theirs.schema_hash == txn.base.schema_hash:
            attempt.outcome = "already_up_to_date"
            return None
        options.permit(changed)
        attempt.outcome = "fast_forward"
        return _plan(txn, "merge", options, schema_hash=theirs.schema_hash, merged=theirs)

    commit = _write(repository, prepare, target, options)
    summary = tuple(attempt.changes.summary()) if attempt.changes is not None else ()
    return MergeResult(
        source, target, attempt.outcome, options.actor, commit, tuple(attempt.conflicts), summary, options.dry_run
    )


def apply_change(
    differ: Differ, base: State, theirs: State, target: str, what: tuple[str, str], options: MergeOptions
) -> MergeResult:
    """Do to a branch what leads from one state to another: revert and cherry-pick."""
    operation, name = what
    attempt = _Attempt()

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        attempt.conflicts, attempt.changes = [], None
        done = _three_way(differ, txn, base, theirs, f"{operation} of {name} on {target!r}", options, attempt, [])
        return done.plan(operation) if done.has_changes else None

    commit = _write(differ.repository, prepare, target, options)
    outcome: Outcome = "merged" if commit is not None or options.dry_run else "already_up_to_date"
    summary = tuple(attempt.changes.summary()) if attempt.changes is not None else ()
    return MergeResult(name, target, outcome, options.actor, commit, tuple(attempt.conflicts), summary, options.dry_run)


class _DryRunDone(Exception):
    """A dry run has seen what it came for; nothing is published."""


def _write(
    repository: Repository,
    prepare: Callable[[WriteTxn], PublishPlan | None],
    target: str,
    options: MergeOptions,
) -> Commit | None:
    def rehearsed(txn: WriteTxn) -> PublishPlan | None:
        prepare(txn)
        raise _DryRunDone

    if options.dry_run:
        try:
            repository.write(rehearsed, target, fresh=True)
        except _DryRunDone:
            return None
    published = repository.write(prepare, target, fresh=True)
    return published.commit if published is not None else None


def _plan(
    txn: WriteTxn, operation: str, options: MergeOptions, *, schema_hash: str, merged: State | None
) -> PublishPlan:
    changed = schema_hash if schema_hash != txn.base.schema_hash else None
    return txn.plan(operation, actor=options.actor, if_commit=options.if_commit, merged=merged, schema_hash=changed)


@dataclass
class _Done:
    """A three-way merge that went through."""

    txn: WriteTxn
    options: MergeOptions
    schema_hash: str
    has_changes: bool

    def plan(self, operation: str, merged: State | None = None) -> PublishPlan:
        return _plan(self.txn, operation, self.options, schema_hash=self.schema_hash, merged=merged)


def _three_way(
    differ: Differ,
    txn: WriteTxn,
    base: State,
    theirs: State,
    what: str,
    options: MergeOptions,
    attempt: _Attempt,
    other_bases: list[State],
) -> _Done:
    repository = differ.repository
    schema = merge_schemas(repository, base, txn.base, theirs, what)
    attempt.changes = differ.diff(base, theirs)
    merge = ThreeWay(differ, schema, base, txn.base, theirs, what)
    corrections = correct_base(differ, merge, base, other_bases)
    merge.run(options.resolution, corrections)
    options.permit(merge.touched)
    staged = merge.stage(txn, options.resolution, write=not options.dry_run)
    attempt.conflicts = merge.conflicts
    options.resolution.insist_on_fit(merge.conflicts, what)
    if merge.open_conflicts and not options.dry_run:
        raise MergeConflicts(what, merge.open_conflicts)
    if schema.plan is not None and not options.dry_run:
        repository.catalogs.put(schema.hash, schema.stored)
    return _Done(txn, options, schema.hash, staged or schema.plan is not None)
