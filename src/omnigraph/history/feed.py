"""The change feed: what each commit of a branch changed, in order, from any place a reader was at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.history.bases import Line, state_of
from omnigraph.history.diff import EVERYTHING, Differ, GraphDiff, Selection
from omnigraph.history.tokens import Token, decode_token, digest
from omnigraph.history.undo import parent_of
from omnigraph.model.errors import (
    BadRequest,
    ChangeFeedGap,
    CommitNotFound,
    CursorRejected,
    ResourceLimit,
    SnapshotReclaimed,
)

if TYPE_CHECKING:
    from omnigraph.history.changes import EntityChange
    from omnigraph.manifest import Commit, Repository, State

LIMIT_DEFAULT, LIMIT_MAX = 1_000, 8_192
PAGE_BYTES = 4 * 2**20
COMMITS_PER_POLL, COMMITS_PER_POLL_MAX = 128, 512
STEP = 64
"""How many images are made before the size of the page is looked at."""
PREFIX_AFTER = "after:"


@dataclass(frozen=True)
class Cause:
    """The commit that changed something."""

    commit: Commit

    def to_json(self) -> dict[str, Any]:
        """`ChangeCauseOutput`."""
        commit = self.commit
        found: dict[str, Any] = {"graph_commit_id": commit.id}
        if commit.parent is not None:
            found["parent_commit_id"] = commit.parent
        if commit.merged_parent is not None:
            found["merged_parent_commit_id"] = commit.merged_parent
        found["authored_branch"] = commit.branch
        if commit.actor is not None:
            found["actor_id"] = commit.actor
        found["authored_at"] = commit.created_us
        return found


@dataclass(frozen=True)
class ChangeBlock:
    """What one commit changed, or a stretch of it."""

    cause: Cause
    changes: tuple[EntityChange, ...]

    def to_json(self) -> dict[str, Any]:
        """`ChangeBlockOutput`."""
        return {"cause": self.cause.to_json(), "changes": [change.to_json() for change in self.changes]}


@dataclass(frozen=True)
class CommitChanges(ChangeBlock):
    """A page of what one commit changed."""

    next_page_token: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As the HTTP API has it: `CommitChangesOutput`."""
        found = super().to_json()
        return found if self.next_page_token is None else {**found, "next_page_token": self.next_page_token}


@dataclass(frozen=True)
class ChangePage:
    """A page of a poll. Only the last one has a cursor: a reader that keeps it has had everything before."""

    blocks: tuple[ChangeBlock, ...]
    next_page_token: str | None = None
    cursor: str | None = None
    caught_up: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """As the HTTP API has it: `ChangeFeedOutput`."""
        found: dict[str, Any] = {"blocks": [block.to_json() for block in self.blocks]}
        for name in ("next_page_token", "cursor", "caught_up"):
            value = getattr(self, name)
            if value is not None:
                found[name] = value
        return found


class Feed:
    """The feed of a graph."""

    def __init__(self, differ: Differ) -> None:
        self._differ = differ
        self._repository: Repository = differ.repository
        self._graph: str | None = None

    # -- one commit ------------------------------------------------------------------------------------

    def commit_changes(
        self,
        commit_id: str,
        selection: Selection = EVERYTHING,
        *,
        limit: int | None = None,
        page_token: str | None = None,
    ) -> CommitChanges:
        """A page of what a commit changed."""
        page = _Page(_limit(limit))
        commit = self._repository.commit(commit_id)
        wanted = digest(selection)
        first = 0
        if page_token is not None:
            token = decode_token(page_token, "commit")
            if (token.graph, token.commit, token.selection) != (self._graph_id(), commit.id, wanted):
                raise CursorRejected("it was made for another commit, graph or filter")
            first = token.place
        changes, place = page.fill(self.diff_of(commit, selection), first)
        token_after = None
        if place is not None:
            token_after = Token("commit", self._graph_id(), commit.chain, wanted, "", commit=commit.id, place=place)
        return CommitChanges(Cause(commit), tuple(changes), token_after.encode() if token_after is not None else None)

    def diff_of(self, commit: Commit, selection: Selection = EVERYTHING) -> GraphDiff:
        """All that a commit changed against its first parent. Files that are gone make a gap."""
        try:
            after = state_of(self._repository, commit)
            diff = self._differ.diff(self._parent(commit, after), after, selection)
            _ = diff.tables
        except SnapshotReclaimed as error:
            raise ChangeFeedGap(commit.id) from error
        return diff

    def _parent(self, commit: Commit, after: State) -> State | None:
        """The state a commit was made on top of; None for the one that made the graph."""
        if commit.parent is None:
            return None
        return state_of(self._repository, parent_of(self._repository, commit, after))

    # -- polling ---------------------------------------------------------------------------------------

    def poll(
        self,
        branch: str,
        selection: Selection = EVERYTHING,
        *,
        cursor: str | None = None,
        start: str | None = None,
        page_token: str | None = None,
        limit: int | None = None,
        max_commits: int = COMMITS_PER_POLL,
    ) -> ChangePage:
        """A page of the changes after a place: a cursor, a word (`now`, `beginning`, `after:COMMIT`), or a page."""
        if sum(given is not None for given in (cursor, start, page_token)) > 1:
            raise BadRequest("give one of cursor, start and page_token")
        page = _Page(_limit(limit))
        if not 0 < max_commits <= COMMITS_PER_POLL_MAX:
            raise ResourceLimit("change_feed_commits_per_poll", limit=COMMITS_PER_POLL_MAX, actual=max_commits)
        head = self._repository.head_state(branch)
        window = self._window(head, digest(selection), cursor, start, page_token, max_commits)
        return self._read(window, page, selection, cursor)

    def _window(
        self, head: State, wanted: str, cursor: str | None, start: str | None, page_token: str | None, max_commits: int
    ) -> _Window:
        line = Line(self._repository.lineage.walk(head), head.head)
        scope = (self._graph_id(), head.chain, wanted)
        if page_token is not None:
            token = self._accept(page_token, "page", scope)
            return _Window.of(line, head, scope, token.after, token.end, token.commit, token.place)
        after = self._place(cursor, start, head, scope, line)
        commits = _newer(line, after)
        end = commits[-1 - max(0, len(commits) - max_commits)].id if commits else (after or head.head)
        return _Window.of(line, head, scope, after or "", end, "", 0)

    def _place(
        self, cursor: str | None, start: str | None, head: State, scope: tuple[str, str, str], line: Line
    ) -> str | None:
        """The newest commit a reader has had; None is before the first."""
        if cursor is not None:
            return self._accept(cursor, "cursor", scope).after
        if start is None or start == "now":
            return head.head
        if start == "beginning":
            return None
        if not start.startswith(PREFIX_AFTER):
            raise BadRequest(f"start {start!r} is none of now, beginning and after:COMMIT")
        wanted = start.removeprefix(PREFIX_AFTER)
        if not any(commit.id == wanted for commit in line):
            raise CommitNotFound(wanted)
        return wanted

    def _accept(self, text: str, kind: Any, scope: tuple[str, str, str]) -> Token:
        token = decode_token(text, kind)
        named = ("graph", "branch, or for a branch that was made again", "filter")
        for found, expected, what in zip((token.graph, token.chain, token.selection), scope, named, strict=True):
            if found != expected:
                raise CursorRejected(f"it was made for another {what}")
        return token

    def _read(self, window: _Window, page: _Page, selection: Selection, cursor: str | None) -> ChangePage:
        blocks: list[ChangeBlock] = []
        for number, commit in enumerate(window.commits):
            first = window.place if number == 0 else 0
            try:
                changes, place = page.fill(self.diff_of(commit, selection), first)
            except ChangeFeedGap as gap:
                if not blocks:
                    raise ChangeFeedGap(gap.first_unreadable_commit, cursor) from gap
                last = blocks[-1].cause.commit.id
                return ChangePage(tuple(blocks), cursor=window.token("cursor", after=last).encode(), caught_up=False)
            if changes or place is None:
                blocks.append(ChangeBlock(Cause(commit), tuple(changes)))
            if place is not None or (page.is_full and number + 1 < len(window.commits)):
                following = commit if place is not None else window.commits[number + 1]
                token = window.token("page", after=window.after, commit=following.id, place=place or 0)
                return ChangePage(tuple(blocks), next_page_token=token.encode())
        done = window.token("cursor", after=window.end)
        return ChangePage(tuple(blocks), cursor=done.encode(), caught_up=window.end == window.head)

    def cursor_at(self, head: State, selection: Selection) -> str:
        """The cursor of a reader that has had everything up to a state."""
        return Token("cursor", self._graph_id(), head.chain, digest(selection), head.head).encode()

    def _graph_id(self) -> str:
        """What tells this graph from any other, also from a later one at the same address."""
        if self._graph is None:
            self._graph = self._repository.main().read(0).entry
        return self._graph


@dataclass(frozen=True)
class _Window:
    """The commits one poll tells of, oldest first, from where the reader is."""

    scope: tuple[str, str, str]
    after: str
    end: str
    head: str
    commits: tuple[Commit, ...]
    place: int

    @classmethod
    def of(
        cls, line: Line, head: State, scope: tuple[str, str, str], after: str, end: str, commit: str, place: int
    ) -> _Window:
        commits = _newer(line, after or None)
        known = [one.id for one in commits]
        last = known.index(end) + 1 if end in known else 0
        first = known.index(commit) if commit in known else 0
        return cls(scope, after, end, head.head, tuple(commits[first:last]), place)

    def token(self, kind: Any, *, after: str, commit: str = "", place: int = 0) -> Token:
        end = self.end if kind == "page" else ""
        return Token(kind, *self.scope, after=after, end=end, commit=commit, place=place)


def _newer(line: Line, after: str | None) -> list[Commit]:
    """The commits after one of the line, oldest first."""
    found: list[Commit] = []
    for commit in line:
        if commit.id == after:
            return found[::-1]
        found.append(commit)
    if after is not None:
        raise CursorRejected("the commit it stands at is not in the history of this branch")
    return found[::-1]


class _Page:
    """Room for changes: so many, and so many bytes."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._bytes_left = PAGE_BYTES

    @property
    def is_full(self) -> bool:
        return self._left <= 0 or self._bytes_left <= 0

    def fill(self, diff: GraphDiff, first: int) -> tuple[list[EntityChange], int | None]:
        """Take what fits, and say where to go on; None if that was all. There is always room for one."""
        total, place = len(diff), first
        found: list[EntityChange] = []
        while place < total and not self.is_full:
            for change in diff.stretch(place, min(place + STEP, total, place + self._left)):
                found.append(change)
                place += 1
                self._left -= 1
                self._bytes_left -= len(json.dumps(change.to_json(), ensure_ascii=False))
                if self.is_full:
                    break
        return found, place if place < total else None


def _limit(limit: int | None) -> int:
    if limit is None:
        return LIMIT_DEFAULT
    if limit <= 0:
        raise BadRequest("limit is at least 1")
    if limit > LIMIT_MAX:
        raise ResourceLimit("commit_changes_page_changes", limit=LIMIT_MAX, actual=limit)
    return limit
