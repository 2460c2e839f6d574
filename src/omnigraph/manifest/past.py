"""The graph as it was: what a branch, a tag, a commit or a version stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.manifest.branch import Branch
from omnigraph.manifest.refs import BranchRef, Refs, TagRef
from omnigraph.manifest.snapshot import Snapshot
from omnigraph.model.errors import (
    BranchBusy,
    BranchNotFound,
    CommitNotFound,
    PointNotFound,
)
from omnigraph.model.names import MAIN

if TYPE_CHECKING:
    from omnigraph.manifest.repository import Repository
    from omnigraph.manifest.state import Commit, State

COMMIT_ID_LENGTH = 26
"""A commit's id is a ULID: a longer or shorter name is no commit."""


def resolve(repository: Repository, source: str, refs: Refs) -> State:
    """The state a branch name, a tag or a commit id stands for."""
    ref = refs.live(source)
    if ref is not None:
        if ref.status == "deleting":
            raise BranchBusy(source)
        state = repository.branch_of(ref).head()
        if state.is_closed:
            raise BranchNotFound(source)
        return state
    tag = refs.tags.get(source)
    if tag is not None:
        return state_of_tag(repository, tag)
    if len(source) != COMMIT_ID_LENGTH:
        raise PointNotFound(source, tuple(ref.name for ref in refs.live_branches()), tuple(sorted(refs.tags)))
    return state_of_commit(repository, source)


def state_of_tag(repository: Repository, tag: TagRef) -> State:
    """The graph at the point a tag names."""
    return _state_at(repository, tag.point.chain, tag.name, tag.point.number).at(tag.point.commit)


def commit_of(repository: Repository, commit_id: str) -> Commit:
    """A commit by id, in the ancestry of any live branch."""
    found = _find(repository, commit_id)
    if found is None:
        raise CommitNotFound(commit_id)
    return found


def _find(repository: Repository, commit_id: str) -> Commit | None:
    main = repository.main()
    for look in (main.head_to_append, main.head):
        found = repository.lineage.find(look(), commit_id)
        if found is not None:
            return found
    for ref in repository.branches():
        found = repository.lineage.find(repository.branch_of(ref).head(), commit_id)
        if found is not None:
            return found
    return None


def state_of_commit(repository: Repository, commit_id: str) -> State:
    """The graph right after a commit."""
    commit = commit_of(repository, commit_id)
    return _state_at(repository, commit.chain, commit.branch, commit.number).at(commit.id)


def state_of_version(repository: Repository, name: str, number: int) -> State:
    """The graph at a manifest version of a branch's own chain."""
    branch = repository.branch(name)
    if not branch.first <= number <= branch.head().number:
        raise CommitNotFound(f"{name}@{number}")
    return branch.state_at(number)


def _state_at(repository: Repository, chain: str, name: str, number: int) -> State:
    # Where a chain begins is not known here, so what is made up for one read must not be taken for the branch.
    known = repository.main() if chain == MAIN else repository.known_branch(chain)
    return (known or Branch(repository.place, BranchRef(name, chain, 0))).state_at(number)


def state_at(repository: Repository, chain: str, number: int, commit_id: str, name: str = "") -> State:
    """The graph right after a commit at a known place, though its branch may be gone."""
    return _state_at(repository, chain, name or chain, number).at(commit_id)


def snapshot_at(repository: Repository, point: str) -> Snapshot:
    """The graph as it was at a tag, or right after a commit."""
    tag = None if len(point) == COMMIT_ID_LENGTH else repository.registry.head().tags.get(point)
    if tag is None:
        try:
            return Snapshot(state_of_commit(repository, point), repository.parts.tables)
        except CommitNotFound:
            tag = repository.registry.head().tags.get(point)
            if tag is None:
                raise
    return Snapshot(state_of_tag(repository, tag), repository.parts.tables)
