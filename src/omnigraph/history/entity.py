"""The history of one entity: what each commit did to it, and which commit set each of its properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from omnigraph.history.bases import Line, state_of, state_of_merged
from omnigraph.history.changes import EntityChange, Op
from omnigraph.history.images import Image, images
from omnigraph.history.views import ALL_SHARED, Side, View, pair_properties, view_of
from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest, NotFound, SnapshotReclaimed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.manifest import Commit, Repository, State
    from omnigraph.schema import Catalog


@dataclass(frozen=True)
class EntityEvent:
    """What one commit did to an entity."""

    commit: Commit
    change: EntityChange

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        commit = self.commit
        return {
            "graph_commit_id": commit.id,
            "authored_branch": commit.branch,
            "actor_id": commit.actor,
            "authored_at": commit.created_us,
            "operation": commit.operation,
            "op": self.change.op,
            "changed": list(self.change.changed),
            "before": self.change.before.to_json() if self.change.before is not None else None,
            "after": self.change.after.to_json() if self.change.after is not None else None,
        }


@dataclass(frozen=True)
class Blame:
    """One property of an entity: its value, and the commit that gave it. None: from before what is still readable."""

    property: str
    value: Any
    commit: Commit | None

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        commit = self.commit
        return {
            "property": self.property,
            "value": self.value,
            "graph_commit_id": commit.id if commit is not None else None,
            "authored_branch": commit.branch if commit is not None else None,
            "actor_id": commit.actor if commit is not None else None,
            "authored_at": commit.created_us if commit is not None else None,
        }


@dataclass(frozen=True)
class _Seen:
    """An entity at one state."""

    side: Side | None
    image: Image | None

    def value(self, name: str) -> object:
        return None if self.image is None else self.image.value(name)


class EntityHistory:
    """Looks back from a state at one entity."""

    def __init__(self, repository: Repository, kind: str, type_name: str, entity_id: str) -> None:
        self._repository = repository
        self._kind, self._name, self._id = kind, type_name, entity_id

    def log(self, head: State) -> Iterator[EntityEvent]:
        """What commits did to it, newest first, along the branch. Ends where cleanup has reclaimed the rest."""
        for commit, before, after in self._steps(head):
            change = self._change(before, after)
            if change is not None:
                yield EntityEvent(commit, change)

    def blame(self, head: State) -> list[Blame]:
        """Which commit set each property, followed into what was merged."""
        now = self._seen(head)
        if now.image is None or now.side is None:
            raise NotFound(f"there is no {self._kind} {self._name} {self._id!r} on branch {head.branch!r}")
        names = [*now.side.table.fields[1:], *now.side.table.properties_by_name]
        found: dict[str, Commit | None] = dict.fromkeys(names)
        self._assign(head, set(names), found)
        return [Blame(name, now.value(name), found[name]) for name in names]

    def _assign(self, head: State, wanted: set[str], found: dict[str, Commit | None]) -> None:
        for commit, before, after in self._steps(head):
            fresh = wanted if before.image is None else wanted.intersection(_changed(before, after))
            if fresh and commit.merged_parent is not None:
                merged = state_of_merged(self._repository, commit)
                there = self._seen(merged)
                brought = {name for name in fresh if there.image and there.value(name) == after.value(name)}
                self._assign(merged, brought, found)
                wanted = wanted - brought
                fresh = fresh - brought
            for name in fresh:
                found[name] = commit
            wanted = wanted - fresh
            if not wanted:
                return

    def _steps(self, head: State) -> Iterator[tuple[Commit, _Seen, _Seen]]:
        """Each commit with the entity before and after it. Rows are only looked for where the table is another."""
        line = Line(self._repository.lineage.walk(head), head.head)
        state, after = head, self._seen(head)
        place = 0
        while (commit := line.at(place)) is not None:
            older = line.at(place + 1)
            try:
                earlier = state_of(self._repository, older) if older is not None else None
                before = self._seen(earlier, state, after) if earlier is not None else _Seen(None, None)
            except SnapshotReclaimed:
                return
            yield commit, before, after
            if earlier is None:
                return
            state, after = earlier, before
            place += 1

    def _seen(self, state: State, newer: State | None = None, known: _Seen | None = None) -> _Seen:
        """The entity at a state; what is known of a newer one holds if its table is the same."""
        view = view_of(self._repository, state)
        side = self._side(view, known.side if known is not None else None)
        if side is None:
            return _Seen(None, None)
        same_schema = newer is not None and state.schema_hash == newer.schema_hash
        if same_schema and known is not None and known.side is not None and side.state.ref == known.side.state.ref:
            return known
        rows = view.tables.find(view.open(side), "id", pa.array([self._id], pa.string()), side.columns)
        return _Seen(side, images(side.table, rows)[0] if rows.num_rows else None)

    def _side(self, view: View, newer: Side | None) -> Side | None:
        """The table, also under a name it had before."""
        key = f"{self._kind}:{self._name}"
        if newer is None:
            return view.side(key)
        sides = list(view.sides())
        found = next((side for side in sides if side.state.location == newer.state.location), None)
        return found or next((side for side in sides if side.key == key), None)

    def _change(self, before: _Seen, after: _Seen) -> EntityChange | None:
        side = after.side or before.side
        if side is None or before.image == after.image:
            return None
        op: Op = "insert" if before.image is None else "delete" if after.image is None else "update"
        changed = _changed(before, after) if op == "update" else ()
        if op == "update" and not changed:  # only names changed
            return None
        return EntityChange(side.kind, side.table.name, side.type_id, self._id, op, before.image, after.image, changed)


def _changed(before: _Seen, after: _Seen) -> tuple[str, ...]:
    """The properties that have another value, whatever they are called."""
    assert before.side is not None
    assert after.side is not None
    old, new = before.side.table, after.side.table
    pairs = pair_properties(old.properties_by_name, new.properties_by_name, ALL_SHARED)
    names = [(end, end) for end in new.fields[1:]]
    names += [(pair.old.name if pair.old else pair.name, pair.new.name if pair.new else pair.name) for pair in pairs]
    return tuple(later for earlier, later in names if before.value(earlier) != after.value(later))


def check_type(catalog: Catalog, type_name: str, kind: str | None) -> str:
    """The kind of a type: given, or found by its name."""
    kinds = [one for one, types in (("node", catalog.node_types), ("edge", catalog.edge_types)) if type_name in types]
    if kind is not None:
        if kind not in ("node", "edge"):
            raise BadRequest(f"{kind!r} is neither node nor edge")
        if kind in kinds:
            return kind
    elif len(kinds) == 1:
        return kinds[0]
    elif kinds:
        raise BadRequest(f"{type_name!r} is a node and an edge type: say which")
    hint = suggest(type_name, [*catalog.node_types, *catalog.edge_types])
    raise NotFound(f"there is no {kind or 'node or edge'} type {type_name!r}{f'; {hint}' if hint else ''}")
