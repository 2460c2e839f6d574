"""How branches and tags come and go: by entries of the registry. Whoever meets a half-deleted branch finishes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.manifest.attempts import PREPARES_MAX
from omnigraph.manifest.refs import BranchRef, Point, Refs, TagRef
from omnigraph.model.errors import (
    AlreadyExists,
    BranchBusy,
    BranchNotFound,
    Contention,
    InvalidName,
    SnapshotReclaimed,
    TagNotFound,
)
from omnigraph.model.names import MAIN, check_ref_name

if TYPE_CHECKING:
    from omnigraph.manifest.repository import Repository
    from omnigraph.manifest.state import State


def create_branch(repository: Repository, name: str, source: str = MAIN, actor: str | None = None) -> BranchRef:
    """Make a branch from a branch, a tag or a commit."""
    check_ref_name("branch", name)
    if name == MAIN:
        raise InvalidName("branch", name, "main exists in every graph and cannot be created")
    refs = _without_closed(repository, name)
    for _ in range(PREPARES_MAX):
        _require_free(refs, name)
        origin = repository.resolve(source, refs)
        ref = write_first_entry(repository, name, origin, refs, actor)
        collect = refs.collect
        assert ref.fork is not None
        while refs.collect == collect:  # a collection that passed may have reclaimed what the copy refers to
            _require_free(refs, name)
            if _register(repository, ref, refs):
                return ref
            refs = repository.registry.head()
    raise Contention("the registry", PREPARES_MAX)


def _without_closed(repository: Repository, name: str) -> Refs:
    """The registry, rid of a branch of this name whose withdrawal was cut short."""
    refs = repository.registry.head()
    ref = refs.live(name)
    if ref is None or ref.status != "live" or not repository.branch_of(ref).head().is_closed:
        return refs
    repository.finish_delete(ref)
    return repository.registry.head()


def _register(repository: Repository, ref: BranchRef, refs: Refs) -> bool:
    assert ref.fork is not None
    if not refs.keeps(ref.fork):
        raise SnapshotReclaimed(f"commit {ref.fork.commit}")
    proposal = refs.with_branch(ref).next(repository.parts.runtime.ids.ulid())
    return repository.registry.append(proposal) is None


def write_first_entry(repository: Repository, name: str, origin: State, refs: Refs, actor: str | None) -> BranchRef:
    """The chain of a new branch: it begins as a copy of where it was forked, and no name leads to it yet."""
    runtime = repository.parts.runtime
    ref = BranchRef(
        name,
        runtime.ids.ulid(),
        origin.number + 1,
        fork=Point(origin.chain, origin.number, origin.head),
        created_us=runtime.clock.now_us(),
        actor=actor,
    )
    first = replace(
        origin.next("fork", runtime.ids.ulid()), branch=name, chain=ref.id, epoch=max(refs.epoch, origin.epoch)
    )
    if repository.branch_of(ref).append(first) is not None:
        raise AssertionError("a new branch id was taken")
    return ref


def delete_branch(repository: Repository, name: str) -> None:
    """Delete a branch. Whoever meets a half-deleted branch finishes it."""
    check_ref_name("branch", name)
    if name == MAIN:
        raise InvalidName("branch", name, "main cannot be deleted")

    def marked(refs: Refs) -> Refs | None:
        ref = refs.live(name)
        if ref is None:
            raise BranchNotFound(name, tuple(branch.name for branch in refs.live_branches()))
        return None if ref.status == "deleting" else refs.with_branch(replace(ref, status="deleting"))

    refs = repository.registry.update(marked)
    ref = refs.live(name)
    if ref is not None:
        repository.finish_delete(ref)


def finish_delete(repository: Repository, ref: BranchRef) -> None:
    """Close the chain, then remove the name."""
    branch = repository.branch_of(ref)
    state = branch.head_to_append()
    while not state.is_closed:
        newer = branch.append(_tombstone(state, repository.parts.runtime.ids.ulid()))
        state = newer if newer is not None else branch.head_to_append()

    def removed(refs: Refs) -> Refs | None:
        now = refs.branches.get(ref.id)
        if now is None or now.status == "removed":
            return None
        return refs.with_branch(replace(now, status="removed"))

    repository.registry.update(removed, repository.registry.cached)
    repository.forget(branch)


def withdraw_branch(repository: Repository, ref: BranchRef) -> bool:
    """Take back a branch that was just made. False: somebody has written to it, and it stays.

    Closed first, on exactly the entry without commits of its own: no acknowledged write can go with it.
    """
    branch = repository.branch_of(ref)
    state = branch.head()
    while not state.is_closed:
        if ref.fork is None or state.head != ref.fork.commit:
            return False
        closing = _tombstone(state, repository.parts.runtime.ids.ulid())
        state = branch.append(closing) or closing
    repository.finish_delete(ref)
    return True


def create_tag(repository: Repository, name: str, source: str = MAIN, actor: str | None = None) -> TagRef:
    """Name a point so that it stays."""
    check_ref_name("tag", name)
    made: list[TagRef] = []

    def added(refs: Refs) -> Refs:
        if name in refs.tags:
            raise AlreadyExists("tag", name)
        state = repository.resolve(source, refs)
        point = Point(state.chain, state.number, state.head)
        if not refs.keeps(point):
            raise SnapshotReclaimed(f"commit {point.commit}")
        made.append(TagRef(name, point, repository.parts.runtime.clock.now_us(), actor))
        return refs.with_tag(made[-1])

    repository.registry.update(added)
    return made[-1]


def delete_tag(repository: Repository, name: str) -> None:
    """Forget a tag; its point falls under the usual retention again."""

    def removed(refs: Refs) -> Refs:
        if name not in refs.tags:
            raise TagNotFound(name, tuple(sorted(refs.tags)))
        return refs.without_tag(name)

    repository.registry.update(removed)


def _require_free(refs: Refs, name: str) -> None:
    taken = refs.live(name)
    if taken is None:
        if name in refs.tags:
            raise AlreadyExists("tag", name)
        return
    raise BranchBusy(name) if taken.status == "deleting" else AlreadyExists("branch", name)


def _tombstone(state: State, entry: str) -> State:
    """The last entry of a deleted branch: its writers meet it, and it holds nothing."""
    return replace(state.next("closed", entry), tables={}, recent=(), segments=())
