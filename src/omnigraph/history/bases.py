"""Where two lines of history were last one: the newest commits that are ancestors of both.

Every line ends in the graph's first commit, so two lines share all that is older than where they first meet. Only what
is newer than that is looked at, and whatever merges brought in there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.history.views import ALL_SHARED
from omnigraph.model.errors import OmniGraphError, SnapshotReclaimed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.manifest import Commit, Repository, State


class Line:
    """A state's commits along first parents, newest first, read as far as somebody needs them."""

    def __init__(self, commits: Iterator[Commit], head: str) -> None:
        self._source = _first_parents(commits, head)
        self.commits: list[Commit] = []
        self._places: dict[str, int] = {}

    def at(self, place: int) -> Commit | None:
        """The commit so many steps back; None beyond the first."""
        while len(self.commits) <= place:
            commit = next(self._source, None)
            if commit is None:
                return None
            self._places[commit.id] = len(self.commits)
            self.commits.append(commit)
        return self.commits[place]

    def __iter__(self) -> Iterator[Commit]:
        return self._from(0)

    def since(self, commit_id: str) -> Iterator[Commit]:
        """A commit that has been read, and all that are older."""
        return self._from(self._places[commit_id])

    def _from(self, place: int) -> Iterator[Commit]:
        while (commit := self.at(place)) is not None:
            yield commit
            place += 1

    def has(self, commit: Commit) -> bool:
        """Whether a commit is on this line. Numbers only fall along a line, so the search ends soon."""
        if commit.id in self._places:
            return True
        for older in self._from(len(self.commits)):
            if older.id == commit.id:
                return True
            if older.number < commit.number:
                return False
        return False


def _first_parents(commits: Iterator[Commit], head: str) -> Iterator[Commit]:
    wanted: str | None = head
    for commit in commits:
        if commit.id == wanted:
            yield commit
            wanted = commit.parent


class Ancestry:
    """The commits that made a state, merges included, down to what a trunk has anyway."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._commits: dict[str, Commit] = {}

    def above(self, state: State, trunk: Line) -> set[str]:
        """Ids of the ancestors of a state, itself included, that are not on the trunk."""
        found: set[str] = set()
        waiting = [Line(self._repository.lineage.walk(state), state.head)]
        while waiting:
            line = waiting.pop()
            for commit in line:
                if commit.id in found or trunk.has(commit):
                    break
                found.add(commit.id)
                self._commits[commit.id] = commit
                if len(commit.parents) > 1:
                    other = state_of_merged(self._repository, commit)
                    waiting.append(Line(self._repository.lineage.walk(other), other.head))
        return found

    def is_ancestor(self, older: str, newer: str, among: set[str]) -> bool:
        """Whether one of these commits led to another."""
        waiting, seen = [newer], set[str]()
        while waiting:
            current = waiting.pop()
            if current == older:
                return True
            if current in seen or current not in among:
                continue
            seen.add(current)
            waiting.extend(self._commits[current].parents)
        return False

    def commit(self, commit_id: str) -> Commit:
        """A commit seen on the way."""
        return self._commits[commit_id]


def state_of_merged(repository: Repository, merge: Commit) -> State:
    """The other side of a merge, found by its place: its branch may be gone."""
    merged = merge.merged_parent
    assert merged is not None
    if merge.merged_at is None:
        return repository.state_of_commit(merged)
    return repository.state_at(*merge.merged_at, merged)


def merge_bases(repository: Repository, ours: State, theirs: State) -> list[Commit]:
    """The newest common ancestors: one, or several after a criss-cross."""
    left = Line(repository.lineage.walk(ours), ours.head)
    right = Line(repository.lineage.walk(theirs), theirs.head)
    meeting = _meeting(left, right)
    if meeting is None:
        raise OmniGraphError("two states of one graph share no commit")
    trunk = Line(left.since(meeting.id), meeting.id)
    ancestry = Ancestry(repository)
    common = ancestry.above(ours, trunk) & ancestry.above(theirs, trunk)
    if not common:
        return [meeting]
    candidates = {meeting.id, *common}
    return [
        meeting if one == meeting.id else ancestry.commit(one)
        for one in sorted(candidates)
        if not any(other != one and ancestry.is_ancestor(one, other, common) for other in common)
    ]


def _meeting(left: Line, right: Line) -> Commit | None:
    """Where two lines first meet. Numbers only fall along a line: the one that is higher goes a step back."""
    i = j = 0
    while (one := left.at(i)) is not None and (other := right.at(j)) is not None:
        if one.id == other.id:
            return one
        if one.number == other.number:  # commits of one group share a number
            if right.has(one):
                return one
            if left.has(other):
                return other
            i, j = i + 1, j + 1
        elif one.number > other.number:
            i += 1
        else:
            j += 1
    return None


def is_ancestor(repository: Repository, older: State, newer: State) -> bool:
    """Whether everything in one state's history is in the other's."""
    return [commit.id for commit in merge_bases(repository, older, newer)] == [older.head]


def shared_schema(repository: Repository, one: State, other: State) -> int:
    """Below which id types and properties of two states mean the same: those given before their lines parted."""
    if one.schema_hash == other.schema_hash:
        return ALL_SHARED
    lowest = ALL_SHARED
    for commit in merge_bases(repository, one, other):
        try:
            base = state_of(repository, commit)
        except SnapshotReclaimed:
            return 0
        lowest = min(lowest, repository.catalogs.get(base.schema_hash).catalog.next_id)
    return lowest


def state_of(repository: Repository, commit: Commit) -> State:
    """The state right after a commit that is at hand."""
    return repository.state_at(commit.chain, commit.number, commit.id, commit.branch)
