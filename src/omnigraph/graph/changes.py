"""The change feed of a graph, and the history of single entities, as users call them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from omnigraph.policy.action import Action

if TYPE_CHECKING:
    from collections.abc import Collection

    from omnigraph.graph.holder import Holder
    from omnigraph.history.baseline import Baseline
    from omnigraph.history.entity import Blame, EntityEvent, EntityHistory
    from omnigraph.history.feed import ChangePage
    from omnigraph.manifest import Repository
    from omnigraph.manifest.state import State


@dataclass(frozen=True)
class Changes:
    """What happens on a branch, commit by commit."""

    _holder: Holder

    def poll(
        self,
        *,
        branch: str | None = None,
        cursor: str | None = None,
        start: str | None = None,
        page_token: str | None = None,
        limit: int | None = None,
        max_commits: int | None = None,
        kinds: Collection[str] = (),
        types: Collection[str] = (),
        ops: Collection[str] = (),
    ) -> ChangePage:
        """A page of changes after a cursor, or from a start: `now`, `beginning` or `after:COMMIT`.

        Follow `next_page_token` until a page has none: that one has the cursor to keep. Give the same filters again.
        """
        from omnigraph.history.diff import differ_of, selection_of
        from omnigraph.history.feed import COMMITS_PER_POLL, Feed

        return Feed(differ_of(self._holder.repository)).poll(
            branch or self._holder.branch,
            selection_of(kinds, types, ops),
            cursor=cursor,
            start=start,
            page_token=page_token,
            limit=limit,
            max_commits=COMMITS_PER_POLL if max_commits is None else max_commits,
        )

    def baseline(
        self,
        *,
        branch: str | None = None,
        kinds: Collection[str] = (),
        types: Collection[str] = (),
        ops: Collection[str] = (),
    ) -> Baseline:
        """Everything a branch holds now, and the cursor that goes on from there with the same filters."""
        from omnigraph.history.baseline import take_baseline
        from omnigraph.history.diff import differ_of, selection_of
        from omnigraph.history.feed import Feed

        name = branch or self._holder.branch
        self._holder.gate.require(Action.EXPORT, branch=name)
        repository = self._holder.repository
        feed = Feed(differ_of(repository))
        return take_baseline(repository, feed, repository.head_state(name), selection_of(kinds, types, ops))


def entity_log(
    repository: Repository, branch: str, type_name: str, entity_id: str, kind: str | None, limit: int | None
) -> list[EntityEvent]:
    """What commits did to an entity, newest first."""
    history, head = _history(repository, branch, type_name, entity_id, kind)
    return list(islice(history.log(head), limit))


def entity_blame(repository: Repository, branch: str, type_name: str, entity_id: str, kind: str | None) -> list[Blame]:
    """Which commit set each property of an entity."""
    history, head = _history(repository, branch, type_name, entity_id, kind)
    return history.blame(head)


def _history(
    repository: Repository, branch: str, type_name: str, entity_id: str, kind: str | None
) -> tuple[EntityHistory, State]:
    """The history of an entity, and the state to look back from."""
    from omnigraph.history.entity import EntityHistory, check_type

    head = repository.head_state(branch)
    known = check_type(repository.catalogs.get(head.schema_hash).catalog, type_name, kind)
    return EntityHistory(repository, known, type_name, entity_id), head
