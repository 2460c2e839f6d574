"""Taking back and taking over: revert a commit, apply one elsewhere, set a branch back. Each is a new commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.history.bases import state_of
from omnigraph.history.merge import MergeOptions, MergeResult, apply_change
from omnigraph.history.staging import stage_states
from omnigraph.history.views import view_of
from omnigraph.model.errors import BadRequest
from omnigraph.write.permit import permit_all

if TYPE_CHECKING:
    from omnigraph.history.diff import Differ
    from omnigraph.manifest import Commit, PublishPlan, Repository, State, WriteTxn
    from omnigraph.write.permit import Permit


def revert(differ: Differ, commit_id: str, target: str, options: MergeOptions) -> MergeResult:
    """Take back what a commit did, leaving what came later; a conflict if later changes build on it."""
    before, after = _around(differ.repository, commit_id)
    return apply_change(differ, after, before, target, ("revert", commit_id), options)


def cherry_pick(differ: Differ, commit_id: str, target: str, options: MergeOptions) -> MergeResult:
    """Do on a branch what a commit did elsewhere."""
    before, after = _around(differ.repository, commit_id)
    return apply_change(differ, before, after, target, ("cherry-pick", commit_id), options)


def _around(repository: Repository, commit_id: str) -> tuple[State, State]:
    """The states before and after a commit."""
    commit = repository.commit(commit_id)
    if commit.parent is None:
        raise BadRequest(f"{commit_id} made the graph: there is nothing before it")
    after = state_of(repository, commit)
    return state_of(repository, parent_of(repository, commit, after)), after


def parent_of(repository: Repository, commit: Commit, after: State) -> Commit:
    """The commit that one was made on top of."""
    known = next((one for one in reversed(after.recent) if one.id == commit.parent), None)
    return known or next(one for one in repository.lineage.walk(after) if one.id == commit.parent)


def reset(
    repository: Repository,
    target: str,
    source: str,
    *,
    actor: str | None = None,
    if_commit: str | None = None,
    permit: Permit = permit_all,
) -> Commit | None:
    """Give a branch the content of a commit, tag or branch, as a new commit: history stays. None if it has it."""
    state = repository.resolve(source, repository.registry.head())

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        changed = stage_states(txn, view_of(repository, txn.base), view_of(repository, state), same_line=False)
        same_schema = state.schema_hash == txn.base.schema_hash
        if not changed and same_schema:
            return None
        permit(changed)
        schema_hash = None if same_schema else state.schema_hash
        return txn.plan("reset", actor=actor, if_commit=if_commit, schema_hash=schema_hash)

    published = repository.write(prepare, target, fresh=True)
    return published.commit if published is not None else None
