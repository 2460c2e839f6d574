"""The difference between any two states of a graph: by table, by entity, by property."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from omnigraph.history.bases import shared_schema
from omnigraph.history.changes import OPS, changes_of
from omnigraph.history.tablediff import DELETE, INSERT, UPDATE, TableDiff, compare_tables
from omnigraph.history.views import Side, View, pair_sides, view_of
from omnigraph.model.errors import BadRequest
from omnigraph.storage.lru import LruCache
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from omnigraph.history.changes import EntityChange
    from omnigraph.manifest import Repository, State

DIFFS_KEPT = 16
KEPT_ENTITIES_MAX = 200_000


@dataclass(frozen=True)
class Selection:
    """Which entities somebody wants to hear of: kinds, names of types, operations. Empty is all."""

    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for words, known, what in ((self.kinds, ("node", "edge"), "kind"), (self.ops, OPS, "op")):
            for word in words:
                if word not in known:
                    raise BadRequest(f"unknown {what} {word!r}: use {' or '.join(known)}")

    def takes(self, side: Side) -> bool:
        """Whether it is about this table."""
        return (not self.kinds or side.kind in self.kinds) and (not self.types or side.table.name in self.types)

    def of(self, diff: TableDiff) -> TableDiff:
        """The part of a difference it is about."""
        if not self.ops:
            return diff
        return diff.only(diff.where(*(at for at, op in enumerate(OPS) if op in self.ops)))

    def to_json(self) -> dict[str, list[str]]:
        """For tokens: the same selection is the same text."""
        return {"kind": sorted(set(self.kinds)), "type": sorted(set(self.types)), "op": sorted(set(self.ops))}


EVERYTHING = Selection()


class Differ:
    """Compares states of one graph, and remembers what it found: states never change."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._known: LruCache[tuple[object, ...], TableDiff] = LruCache(DIFFS_KEPT)

    def diff(self, old: State | None, new: State, selection: Selection = EVERYTHING) -> GraphDiff:
        """Compare two states; from None everything is new."""
        after = view_of(self.repository, new)
        if old is None:
            return GraphDiff(self, None, after, 0, selection)
        shared = shared_schema(self.repository, old, new)
        return GraphDiff(self, view_of(self.repository, old), after, shared, selection)

    def table(self, old_view: View, old: Side | None, new_view: View, new: Side | None, shared: int) -> TableDiff:
        """Compare two versions of a table, if that was not done before."""
        key = (
            old and (old.state.ref, old.key, old_view.state.schema_hash),
            new and (new.state.ref, new.key, new_view.state.schema_hash),
            shared,
        )
        known = self._known.get(key)
        if known is None:
            known = compare_tables(old_view, old, new_view, new, shared)
            if len(known) <= KEPT_ENTITIES_MAX:
                self._known.put(key, known)
        return known


class GraphDiff:
    """What changed from one state to another. Iterating reads the images, a stretch at a time."""

    def __init__(self, differ: Differ, old: View | None, new: View, shared: int, selection: Selection) -> None:
        self._differ = differ
        self.old, self.new = old, new
        self._shared = shared
        self.selection = selection

    @cached_property
    def tables(self) -> list[TableDiff]:
        """Tables that differ, nodes before edges, then by the id of the type."""
        pairs = [pair for pair in self._pairs() if self.selection.takes(_either(*pair))]
        compare = partial(self._differ.table, self.old or self.new)
        found = run_parallel([partial(compare, old, self.new, new, self._shared) for old, new in pairs])
        told = [self.selection.of(diff) for diff in found]
        return sorted((diff for diff in told if len(diff)), key=lambda diff: diff.sort_key)

    def _pairs(self) -> Iterator[tuple[Side | None, Side | None]]:
        if self.old is None:
            yield from ((None, side) for side in self.new.sides() if side.state.row_count)
            return
        same_schema = self.old.state.schema_hash == self.new.state.schema_hash
        same_chain = self.old.state.chain == self.new.state.chain
        for old, new in pair_sides(self.old, self.new, self._shared):
            if old is not None and new is not None and (same_schema or old.table.properties == new.table.properties):
                if old.state.ref == new.state.ref or (same_chain and old.state.same_content(new.state)):
                    continue
            elif (old is None or not old.state.row_count) and (new is None or not new.state.row_count):
                continue
            yield old, new

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    def __iter__(self) -> Iterator[EntityChange]:
        for table in self.tables:
            yield from changes_of(table)

    @property
    def changes_schema(self) -> bool:
        """Whether the schema is another."""
        return self.old is None or self.old.state.schema_hash != self.new.state.schema_hash

    def stretch(self, first: int, last: int) -> list[EntityChange]:
        """Some of the changes, by their place in the order."""
        found: list[EntityChange] = []
        start = 0
        for table in self.tables:
            low, high = max(first - start, 0), min(last - start, len(table))
            if low < high:
                found += changes_of(table, low, high)
            start += len(table)
        return found

    def summary(self) -> list[dict[str, Any]]:
        """How many entities of each type came, changed and went."""
        return [
            {
                "kind": table.side.kind,
                "type_name": table.side.table.name,
                "inserted": table.count(INSERT),
                "updated": table.count(UPDATE),
                "deleted": table.count(DELETE),
            }
            for table in self.tables
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "from_commit_id": self.old.commit_id if self.old is not None else None,
            "to_commit_id": self.new.commit_id,
            "schema_changed": self.changes_schema,
            "summary": self.summary(),
            "changes": [change.to_json() for change in self],
        }


_differs: WeakKeyDictionary[Repository, Differ] = WeakKeyDictionary()


def differ_of(repository: Repository) -> Differ:
    """The one that remembers what was compared in this graph."""
    return _differs.setdefault(repository, Differ(repository))


def _either(old: Side | None, new: Side | None) -> Side:
    known = new or old
    assert known is not None
    return known


def selection_of(kinds: Collection[str] = (), types: Collection[str] = (), ops: Collection[str] = ()) -> Selection:
    """A selection from what a caller gave."""
    return Selection(tuple(kinds), tuple(types), tuple(ops))
