"""From a state and a plan to the next state: checks, rebase where proven, lineage. No publishing here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from omnigraph.manifest import plan as plans
from omnigraph.manifest.plan import MustRestage, PublishPlan, TableChange
from omnigraph.manifest.stacking import NOTHING_STACKED, Stacked
from omnigraph.manifest.state import Commit, State, TableState
from omnigraph.model.errors import TableConflict
from omnigraph.storage.parallel import run_parallel
from omnigraph.storage.staged import ALL_ASPECTS, Aspect, RebaseRefused, Staged

if TYPE_CHECKING:
    from omnigraph.storage.interface import Tables


RENAMED: frozenset[Aspect] = frozenset({"changed"})


@dataclass(frozen=True)
class Applied:
    """A plan on top of a state."""

    state: State
    commit: Commit
    staged: dict[str, Staged]
    """What was staged, after any rebase, by table key."""


def apply_plan(state: State, plan: PublishPlan, tables: Tables, stacked: Stacked = NOTHING_STACKED) -> Applied:
    """Put a plan on top of a state that is being composed. Raises what the caller must hear."""
    for check in plans.CHECKS:
        check(state, plan)
    vacated = frozenset(change.vacates for change in plan.changes if change.vacates is not None)
    placed = run_parallel([partial(_place, state, plan, change, vacated, tables, stacked) for change in plan.changes])
    changed: dict[str, TableState | None] = dict.fromkeys(vacated)
    changed |= {change.key: table for change, (table, _) in zip(plan.changes, placed, strict=True) if table is not None}
    keys = tuple(dict.fromkeys(key for change in plan.changes for key in change.keys))
    before = tuple(state.tables[key] for key in keys if key in state.tables)
    commit = Commit(
        id=plan.commit_id,
        branch=state.branch,
        chain=state.chain,
        number=state.number,
        parents=(state.head,) if plan.merged is None else (state.head, plan.merged.head),
        actor=plan.actor,
        created_us=plan.created_us,
        operation=plan.operation,
        tables=keys,
        before=before,
        merged_at=None if plan.merged is None else (plan.merged.chain, plan.merged.number),
    )
    result = state.with_tables(changed).with_commit(commit)
    if plan.schema_hash is not None:
        result = replace(result, schema_hash=plan.schema_hash)
    staged = {change.key: new for change, (_, new) in zip(plan.changes, placed, strict=True) if new is not None}
    return Applied(result, commit, staged)


def _place(
    state: State, plan: PublishPlan, change: TableChange, vacated: frozenset[str], tables: Tables, stacked: Stacked
) -> tuple[TableState | None, Staged | None]:
    """Give the table's new row, staging the change again on a moved base where that is proven safe."""
    if change.is_drop:
        return _dropped(plan, change, state.tables.get(change.key)), None
    staged = change.staged
    source = change.source or change.key
    if change.source is not None or (staged is not None and staged.kind == "create"):
        _check_free(state, change.key, vacated)
    if staged is not None and staged.kind == "create":
        return _created(state, change.key, staged), staged
    now, expected = state.tables.get(source), plan.base.table(source)
    if now is None or now.location != expected.location:
        raise TableConflict(source, expected=expected.version, actual=0, reason="it was dropped or replaced")
    named = replace(now, key=change.key)
    if staged is None:
        return named.moved_to(now.version, now.row_count, RENAMED, state.number), None
    if staged.is_loose or now.version != staged.base.version:
        ahead = stacked.get((plan.commit_id, change.key))
        if ahead is not None and ahead.base == now.ref:
            staged = ahead
        else:
            staged = _rebased(source, staged, expected, now, tables)
    aspects = staged.aspects | RENAMED if change.source is not None else staged.aspects
    return named.moved_to(staged.ref.version, staged.row_count, aspects, state.number), staged


def _rebased(key: str, staged: Staged, expected: TableState, now: TableState, tables: Tables) -> Staged:
    try:
        return tables.rebase(staged, now.ref)
    except RebaseRefused as refusal:
        if now.same_content(expected):
            raise MustRestage(f"table {key} was folded while this write was staged") from refusal
        raise TableConflict(key, expected=expected.version, actual=now.version, reason=refusal.message) from refusal


def _check_free(state: State, key: str, vacated: frozenset[str]) -> None:
    """A table may only take a name that nobody has, or that this very write frees."""
    now = state.tables.get(key)
    if now is not None and key not in vacated:
        raise TableConflict(key, expected=0, actual=now.version, reason="there is a table of that name")


def _created(state: State, key: str, staged: Staged) -> TableState:
    marks: dict[str, int] = dict.fromkeys(ALL_ASPECTS, state.number)
    return TableState(key, staged.ref.location, staged.ref.version, staged.row_count, **marks)


def _dropped(plan: PublishPlan, change: TableChange, now: TableState | None) -> None:
    expected = plan.base.table(change.key)
    if now is None or not now.same_content(expected):
        actual = now.version if now is not None else 0
        raise TableConflict(change.key, expected=expected.version, actual=actual, reason="it changed before the drop")
