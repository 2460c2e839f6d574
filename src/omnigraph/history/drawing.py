"""The history of branches as a drawing in columns, newest first: one column for each line that goes on downwards."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.history.bases import state_of_merged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.manifest import Commit, Repository, State


@dataclass(frozen=True)
class DrawnRow:
    """A line of the drawing; one with a commit stands for it, the others only lead lines along."""

    lines: str
    commit: Commit | None = None
    heads: tuple[str, ...] = ()
    """Branches and tags at this commit."""


def commits_of(repository: Repository, heads: list[State]) -> Iterator[Commit]:
    """All commits that led to some states, each once, children before parents."""
    known: dict[str, Commit] = {}
    children: dict[str, int] = {}
    waiting = list(heads)
    while waiting:
        state = waiting.pop()
        wanted: str | None = state.head
        for commit in repository.lineage.walk(state):
            if commit.id != wanted:
                continue
            if commit.id in known:
                break
            known[commit.id] = commit
            for parent in commit.parents:
                children[parent] = children.get(parent, 0) + 1
            if commit.merged_parent is not None:
                waiting.append(state_of_merged(repository, commit))
            wanted = commit.parent
    ready = [(-one.created_us, one.id) for one in known.values() if not children.get(one.id)]
    heapq.heapify(ready)
    while ready:
        commit = known[heapq.heappop(ready)[1]]
        yield commit
        for parent in commit.parents:
            children[parent] -= 1
            if not children[parent] and parent in known:
                heapq.heappush(ready, (-known[parent].created_us, parent))


def draw(commits: Iterator[Commit], heads: dict[str, list[str]]) -> Iterator[DrawnRow]:
    """Draw commits that come children first. A column keeps its place until its line ends; then it is free again."""
    columns: list[str | None] = []
    for commit in commits:
        if commit.id not in columns:
            _occupy(columns, commit.id)
        mine = columns.index(commit.id)
        yield DrawnRow(_straight(columns, mine), commit, tuple(heads.get(commit.id, ())))
        for place in range(mine + 1, len(columns)):  # lines that were forked here
            if columns[place] == commit.id:
                yield DrawnRow(_across(columns, mine, place, "╯"))
                columns[place] = None
        columns[mine] = commit.parents[0] if commit.parents else None
        for merged in commit.parents[1:]:
            is_new = merged not in columns
            place = _occupy(columns, merged) if is_new else columns.index(merged)
            yield DrawnRow(_across(columns, mine, place, "╮" if is_new else "┤"))
        while columns and columns[-1] is None:
            columns.pop()


def _occupy(columns: list[str | None], commit_id: str) -> int:
    """Give a line the first free column."""
    if None not in columns:
        columns.append(None)
    place = columns.index(None)
    columns[place] = commit_id
    return place


def _straight(columns: list[str | None], mine: int) -> str:
    cells = ["*" if place == mine else " " if one is None else "│" for place, one in enumerate(columns)]
    return " ".join(cells).rstrip()


def _across(columns: list[str | None], mine: int, other: int, end: str) -> str:
    """A line from the column of a commit to another one."""
    low, high = sorted((mine, other))
    ends = {low: "├", high: end if high == other else "┤"}
    if high == mine and end == "╮":
        ends = {low: "╭", high: "┤"}
    text = ""
    for place, one in enumerate(columns):
        between = low < place < high
        cell = ends.get(place) or ("─" if between and one is None else "┼" if between else " " if one is None else "│")
        text += cell + ("─" if low <= place < high else " ")
    return text.rstrip()
