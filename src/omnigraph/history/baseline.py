"""A baseline: everything a branch holds at one commit, and the cursor from which the feed goes on after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from omnigraph.export.lines import graph_lines
from omnigraph.export.rows import TableRows
from omnigraph.history.views import view_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.history.diff import Selection
    from omnigraph.history.feed import Feed
    from omnigraph.history.views import View
    from omnigraph.manifest import Repository, State


@dataclass(frozen=True)
class Baseline:
    """A baseline of one commit. Nothing is read before it is iterated."""

    snapshot_commit_id: str
    resume_cursor: str
    view: View
    selection: Selection

    @property
    def tables(self) -> tuple[TableRows, ...]:
        """What it holds: edges before nodes, each by name."""
        sides = sorted((side for side in self.view.sides() if self.selection.takes(side)), key=lambda side: side.key)
        return tuple(TableRows(side.table, self.view.tables, self.view.open(side)) for side in sides)

    def chunks(self) -> Iterator[bytes]:
        """Its records as lines that can be loaded, some at a time, and the handshake as the last line."""
        yield from graph_lines(self.tables)
        yield orjson.dumps(self.handshake(), option=orjson.OPT_APPEND_NEWLINE)

    def lines(self) -> Iterator[str]:
        """The same, a line at a time."""
        for chunk in self.chunks():
            yield from chunk.decode().splitlines()

    def handshake(self) -> dict[str, Any]:
        """`ChangeBaselineRecord`."""
        return {"baseline": {"snapshot_commit_id": self.snapshot_commit_id, "resume_cursor": self.resume_cursor}}


def take_baseline(repository: Repository, feed: Feed, head: State, selection: Selection) -> Baseline:
    """A baseline of a branch as it is now. `ops` of the selection say what the cursor is about, not the baseline."""
    return Baseline(head.head, feed.cursor_at(head, selection), view_of(repository, head), selection)
