"""The lineage of a branch: recent commits in the state, older ones in segments that forks share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.manifest.codec import commit_values, read_commit_values
from omnigraph.manifest.rows import Row, decode_rows, encode_rows
from omnigraph.manifest.state import Commit, Segment, State
from omnigraph.model.errors import CorruptObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.storage.store import Store

LINEAGE = "__lineage"
RECENT_KEPT = 64
RECENT_MAX = 192
SEGMENT_FANOUT = 16
SEGMENT_COMMITS_MAX = 32_768
"""Segments of one size are merged by the fanout up to this: the directory grows by one entry per so many commits."""


class Lineage:
    """Reads and writes lineage segments."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, state: State, commit_id: str) -> Commit | None:
        """A commit of this state's ancestry: none or one request."""
        for commit in reversed(state.recent):
            if commit.id == commit_id:
                return commit
        for segment in reversed(state.segments):
            if segment.first_id <= commit_id <= segment.last_id:
                for commit in self.read(segment):
                    if commit.id == commit_id:
                        return commit
        return None

    def walk(self, state: State) -> Iterator[Commit]:
        """The ancestry, newest first."""
        yield from reversed(state.recent)
        for segment in reversed(state.segments):
            yield from reversed(self.read(segment))

    def read(self, segment: Segment) -> list[Commit]:
        """The commits of a segment, oldest first."""
        path = f"{LINEAGE}/{segment.name}"
        data = self._store.get(path)
        if data is None:
            raise CorruptObject(path, "it is missing")
        _, rows = decode_rows(data, path)
        return [read_commit_values(values) for row in rows for values in (row.metadata or {})["commits"]]

    def fold(self, state: State, name: str) -> State | None:
        """Move the older recent commits into a segment; None while there are few. The caller publishes the state."""
        if len(state.recent) < RECENT_MAX:
            return None
        old = list(state.recent[:-RECENT_KEPT])
        segments = list(state.segments)
        while len(segments) >= SEGMENT_FANOUT - 1 and _worth_merging(segments, len(old)):
            merged = segments[-(SEGMENT_FANOUT - 1) :]
            old = [commit for segment in merged for commit in self.read(segment)] + old
            del segments[-(SEGMENT_FANOUT - 1) :]
        ids = sorted(commit.id for commit in old)
        row = Row(name, "lineage_segment", metadata={"commits": [commit_values(commit) for commit in old]})
        self._store.put(f"{LINEAGE}/{name}", encode_rows("segment", [row]))
        segments.append(Segment(name, ids[0], ids[-1], len(old)))
        return replace(state, recent=state.recent[-RECENT_KEPT:], segments=tuple(segments))


def _worth_merging(segments: list[Segment], incoming: int) -> bool:
    tail = segments[-(SEGMENT_FANOUT - 1) :]
    alike = all(segment.commits <= 2 * incoming for segment in tail)
    return alike and incoming + sum(segment.commits for segment in tail) <= SEGMENT_COMMITS_MAX
