"""From a state and a plan to the next state: checks, rebase where proven, lineage. No publishing here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from omnigraph.manifest import plan as plans
from omnigraph.manifest.plan import MustRestage, PublishPlan, TableChange
from omnigraph.manifest.state import Commit, State, TableState
from omnigraph.model.errors import TableConflict
from omnigraph.storage.meter import run_parallel
from omnigraph.storage.staged import ALL_ASPECTS, RebaseRefused, Staged

if TYPE_CHECKING:
    from omnigraph.storage.staged import Tables


@dataclass(frozen=True)
class Applied:
    """A plan on top of a state."""

    state: State
    commit: Commit
    staged: dict[str, Staged]
    """What was staged, after any rebase, by table key."""


def apply_plan(state: State, plan: PublishPlan, tables: Tables) -> Applied:
    """Put a plan on top of a state that is being composed. Raises what the caller must hear."""
    for check in plans.CHECKS:
        check(state, plan)
    placed = run_parallel([partial(_place, state, plan, change, tables) for change in plan.changes])
    changed = {change.key: table for change, (table, _) in zip(plan.changes, placed, strict=True)}
    before = tuple(state.tables[change.key] for change in plan.changes if change.key in state.tables)
    commit = Commit(
        id=plan.commit_id,
        branch=state.branch,
        chain=state.chain,
        number=state.number,
        parents=tuple(parent for parent in (state.head, plan.merged_parent) if parent),
        actor=plan.actor,
        created_us=plan.created_us,
        operation=plan.operation,
        tables=tuple(change.key for change in plan.changes),
        before=before,
    )
    result = state.with_tables(changed).with_commit(commit)
    if plan.schema_hash is not None:
        result = replace(result, schema_hash=plan.schema_hash)
    staged = {change.key: new for change, (_, new) in zip(plan.changes, placed, strict=True) if new is not None}
    return Applied(result, commit, staged)


def _place(
    state: State, plan: PublishPlan, change: TableChange, tables: Tables
) -> tuple[TableState | None, Staged | None]:
    """Give the table's new row, staging the change again on a moved base where that is proven safe."""
    now = state.tables.get(change.key)
    staged = change.staged
    if staged is None:
        return _dropped(plan, change, now), None
    if staged.kind == "create":
        return _created(state, change.key, staged, now), staged
    expected = plan.base.table(change.key)
    if now is None or now.location != expected.location:
        raise TableConflict(change.key, expected=expected.version, actual=0, reason="it was dropped or replaced")
    if now.version != staged.base.version:
        staged = _rebased(change.key, staged, expected, now, tables)
    return now.moved_to(staged.ref.version, staged.row_count, staged.aspects, state.number), staged


def _rebased(key: str, staged: Staged, expected: TableState, now: TableState, tables: Tables) -> Staged:
    try:
        return tables.rebase(staged, now.ref)
    except RebaseRefused as refusal:
        if now.same_content(expected):
            raise MustRestage(f"table {key} was folded while this write was staged") from refusal
        raise TableConflict(key, expected=expected.version, actual=now.version, reason=refusal.message) from refusal


def _created(state: State, key: str, staged: Staged, now: TableState | None) -> TableState:
    if now is not None:
        raise TableConflict(key, expected=0, actual=now.version, reason="it was created meanwhile")
    marks: dict[str, int] = dict.fromkeys(ALL_ASPECTS, state.number)
    return TableState(key, staged.ref.location, staged.ref.version, staged.row_count, **marks)


def _dropped(plan: PublishPlan, change: TableChange, now: TableState | None) -> None:
    expected = plan.base.table(change.key)
    if now is None or not now.same_content(expected):
        actual = now.version if now is not None else 0
        raise TableConflict(change.key, expected=expected.version, actual=actual, reason="it changed before the drop")
