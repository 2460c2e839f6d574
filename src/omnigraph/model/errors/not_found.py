"""The named thing is not there."""

from __future__ import annotations

from omnigraph.model.errors.root import OmniGraphError


class NotFound(OmniGraphError):
    """The named thing does not exist."""

    code = "not_found"


class BranchNotFound(NotFound):
    """No live branch has this name."""

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        super().__init__(f"branch {name!r} not found{_among('branches', known)}", branch=name)


class TagNotFound(NotFound):
    """No tag has this name."""

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        super().__init__(f"tag {name!r} not found{_among('tags', known)}", tag=name)


class PointNotFound(NotFound):
    """No live branch and no tag has this name, and it is no commit's id."""

    def __init__(self, name: str, branches: tuple[str, ...] = (), tags: tuple[str, ...] = ()) -> None:
        near = _among("branches", branches) + _among("tags", tags)
        super().__init__(f"no branch, tag or commit is called {name!r}{near}", name=name)


class CommitNotFound(NotFound):
    """No branch's lineage has this commit or version."""

    def __init__(self, commit: str) -> None:
        super().__init__(
            f"commit {commit!r} not found in any live branch; give an id as 'commit list' shows it", commit=commit
        )


class TableNotFound(NotFound):
    """The snapshot has no such node or edge type."""

    def __init__(self, table_key: str) -> None:
        super().__init__(f"this snapshot has no table {table_key!r}", table_key=table_key)


class SnapshotReclaimed(NotFound):
    """The snapshot existed, and cleanup has reclaimed its files."""

    code = "snapshot_reclaimed"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} has been reclaimed by cleanup and can no longer be read", what=what)


class ChangeFeedGap(SnapshotReclaimed):
    """Changes that a reader has not had yet were reclaimed: only a new baseline helps."""

    code = "change_feed_gap"

    def __init__(self, first_unreadable_commit: str, cursor: str | None = None) -> None:
        known = {"cursor": cursor} if cursor is not None else {}
        NotFound.__init__(
            self,
            f"the changes of commit {first_unreadable_commit} have been reclaimed by cleanup; "
            "take a new baseline and go on from its cursor",
            change_feed_gap={**known, "first_unreadable_commit_id": first_unreadable_commit},
        )
        self.first_unreadable_commit, self.cursor = first_unreadable_commit, cursor


def _among(what: str, known: tuple[str, ...]) -> str:
    return f"; {what} here: {', '.join(known[:10])}{' …' if len(known) > 10 else ''}" if known else ""
