"""Branches, tags and commits of a graph, as users call them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnigraph.model.errors import OmniGraphError
from omnigraph.model.names import MAIN
from omnigraph.policy.action import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from omnigraph.graph.holder import Holder
    from omnigraph.history import MergeConflict, MergeOptions, MergeResult
    from omnigraph.history.drawing import DrawnRow
    from omnigraph.history.feed import CommitChanges
    from omnigraph.history.resolve import Choice, Resolution, Take
    from omnigraph.manifest import BranchRef, Commit, TagRef

    Resolving = Take | Resolution | Callable[[MergeConflict], Take | Choice | None] | Sequence[dict[str, object]] | None
    """How conflicts are settled: `ours`, `theirs`, choices as a resolution file has them, or a function."""


@dataclass(frozen=True)
class Branches:
    """Branches of a graph."""

    _holder: Holder

    def create(self, name: str, source: str = MAIN) -> BranchRef:
        """Make a branch from a branch, a tag or a commit."""
        self._holder.gate.require(Action.BRANCH_CREATE, branch=source, target=name)
        return self._holder.repository.create_branch(name, source, self._holder.actor)

    def list(self) -> list[BranchRef]:
        """Live branches by name."""
        return self._holder.repository.branches()

    def delete(self, name: str) -> None:
        """Delete a branch."""
        self._holder.gate.require(Action.BRANCH_DELETE, target=name)
        self._holder.repository.delete_branch(name)

    def merge(
        self,
        source: str,
        into: str = MAIN,
        *,
        resolution: Resolving = None,
        dry_run: bool = False,
        delete_branch: bool = False,
        if_commit: str | None = None,
    ) -> MergeResult:
        """Merge a branch, tag or commit into a branch: one commit with two parents, or all conflicts and nothing.

        A dry run returns the conflicts instead of raising them, and writes nothing.
        """
        from omnigraph.history.diff import differ_of
        from omnigraph.history.merge import MergeOptions, merge_branch
        from omnigraph.history.resolve import resolution_of

        gate = self._holder.gate
        gate.require(Action.BRANCH_MERGE, branch=source, target=into)

        def permit(tables: Iterable[str]) -> None:
            gate.require(Action.BRANCH_MERGE, branch=source, target=into, types=tables)

        options = MergeOptions(resolution_of(resolution), self._holder.actor, dry_run, if_commit, permit)
        result = merge_branch(differ_of(self._holder.repository), source, into, options)
        return self._and_delete(result) if delete_branch and not dry_run else result

    def _and_delete(self, result: MergeResult) -> MergeResult:
        """Delete what was merged. The merge counts whatever comes of that."""
        try:
            self.delete(result.source)
        except OmniGraphError as error:
            return replace(result, branch_deleted=False, branch_delete_error=error.message)
        return replace(result, branch_deleted=True)

    def reset(self, name: str, to: str, *, if_commit: str | None = None) -> Commit | None:
        """Give a branch the content of a commit, tag or branch, as a new commit. None if it has it already."""
        from omnigraph.history.undo import reset

        holder = self._holder
        permit = holder.permit_change(name)
        permit(())
        return reset(holder.repository, name, to, actor=holder.actor, if_commit=if_commit, permit=permit)


@dataclass(frozen=True)
class Tags:
    """Names for points of history that cleanup leaves alone."""

    _holder: Holder

    def create(self, name: str, source: str = MAIN) -> TagRef:
        """Name the head of a branch, or a commit. Takes the permission to make a branch of this name."""
        self._holder.gate.require(Action.BRANCH_CREATE, branch=source, target=name)
        return self._holder.repository.create_tag(name, source, self._holder.actor)

    def list(self) -> list[TagRef]:
        """Tags by name."""
        return self._holder.repository.tags()

    def delete(self, name: str) -> None:
        """Forget a tag. Takes the permission to delete a branch of this name."""
        self._holder.gate.require(Action.BRANCH_DELETE, target=name)
        self._holder.repository.delete_tag(name)


@dataclass(frozen=True)
class Commits:
    """The history of a graph."""

    _holder: Holder

    def list(self, branch: str | None = None) -> list[Commit]:
        """The lineage of a branch, newest first."""
        return list(self._holder.repository.commits(branch or self._holder.branch))

    def show(self, commit_id: str) -> Commit:
        """One commit."""
        return self._holder.repository.commit(commit_id)

    def changes(
        self,
        commit_id: str,
        *,
        limit: int | None = None,
        page_token: str | None = None,
        kinds: Collection[str] = (),
        types: Collection[str] = (),
        ops: Collection[str] = (),
    ) -> CommitChanges:
        """A page of what a commit changed against its first parent, with images before and after."""
        from omnigraph.history.diff import differ_of, selection_of
        from omnigraph.history.feed import Feed

        feed = Feed(differ_of(self._holder.repository))
        return feed.commit_changes(commit_id, selection_of(kinds, types, ops), limit=limit, page_token=page_token)

    def revert(
        self,
        commit_id: str,
        *,
        branch: str | None = None,
        resolution: Resolving = None,
        dry_run: bool = False,
        if_commit: str | None = None,
    ) -> MergeResult:
        """Take back what a commit did, as a new commit; what later commits changed is a conflict."""
        from omnigraph.history.diff import differ_of
        from omnigraph.history.undo import revert

        target = branch or self._holder.branch
        options = self._options(target, resolution, dry_run, if_commit)
        return revert(differ_of(self._holder.repository), commit_id, target, options)

    def cherry_pick(
        self,
        commit_id: str,
        *,
        branch: str | None = None,
        resolution: Resolving = None,
        dry_run: bool = False,
        if_commit: str | None = None,
    ) -> MergeResult:
        """Do on this branch what a commit did on another, as a new commit."""
        from omnigraph.history.diff import differ_of
        from omnigraph.history.undo import cherry_pick

        target = branch or self._holder.branch
        options = self._options(target, resolution, dry_run, if_commit)
        return cherry_pick(differ_of(self._holder.repository), commit_id, target, options)

    def _options(self, target: str, resolution: Resolving, dry_run: bool, if_commit: str | None) -> MergeOptions:
        from omnigraph.history.merge import MergeOptions
        from omnigraph.history.resolve import resolution_of

        permit = self._holder.permit_change(target)
        permit(())
        return MergeOptions(resolution_of(resolution), self._holder.actor, dry_run, if_commit, permit)

    def graph(self, branch: str | None = None) -> Iterator[DrawnRow]:
        """The commits of all branches, or what led to one, drawn in columns, newest first."""
        from omnigraph.history.drawing import commits_of, draw

        repository = self._holder.repository
        refs = repository.registry.head()
        names = [ref.name for ref in refs.live_branches()] if branch is None else [branch]
        states = {name: repository.head_state(name) for name in names}
        heads: dict[str, list[str]] = {}
        for name, state in states.items():
            heads.setdefault(state.head, []).append(name)
        for tag in sorted(refs.tags.values(), key=lambda tag: tag.name):
            heads.setdefault(tag.point.commit, []).append(f"tag {tag.name}")
        return draw(commits_of(repository, [*states.values()]), heads)
