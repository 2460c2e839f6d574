"""The graph at one state, with the schema its rows follow; and which tables and properties of two such views are one.

Ids of types and properties are given by one allocator along a line of schemas. Two branches that both changed the
schema gave the same numbers to different things, so beyond what they share a name decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.schema import EdgeType, NodeType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omnigraph.manifest import Repository, State, TableState
    from omnigraph.schema import Catalog, Property
    from omnigraph.storage.interface import TableHandle, Tables

Table = NodeType | EdgeType
ALL_SHARED = 2**62
"""Every id means the same on both sides: there is one line of schemas."""


@dataclass(frozen=True)
class Side:
    """One table of a view."""

    key: str
    state: TableState
    table: Table

    @property
    def type_id(self) -> str:
        """What makes this type this type, whatever it is called and on whichever branch: where its rows are kept."""
        return self.state.location.partition("/")[2]

    @property
    def kind(self) -> str:
        """Whether it holds nodes or edges."""
        return self.key.partition(":")[0]

    @property
    def columns(self) -> list[str]:
        """Every column of its rows."""
        return [*self.table.fields, *(name for each in self.table.properties for name in each.columns)]

    @property
    def has_blobs(self) -> bool:
        """Whether its rows may be large."""
        return any(each.type.is_blob for each in self.table.properties)

    @property
    def is_wide(self) -> bool:
        """Whether a row has lists or vectors."""
        return any(each.type.is_list or each.type.is_vector for each in self.table.properties)


@dataclass(frozen=True)
class View:
    """The graph at one state."""

    state: State
    catalog: Catalog
    tables: Tables

    @property
    def commit_id(self) -> str:
        """The newest commit it contains."""
        return self.state.head

    def sides(self) -> Iterator[Side]:
        """Its tables."""
        for key, table in self.catalog.tables_by_key.items():
            yield Side(key, self.state.table(key), table)

    def side(self, key: str) -> Side | None:
        """One of its tables."""
        return next((side for side in self.sides() if side.key == key), None)

    def open(self, side: Side) -> TableHandle:
        """Open one of its tables."""
        return self.tables.open(side.state.ref)


def view_of(repository: Repository, state: State) -> View:
    """A state as a view."""
    return View(state, repository.catalogs.get(state.schema_hash).catalog, repository.parts.tables)


@dataclass(frozen=True)
class PropertyPair:
    """A property as two views have it; None where one has not."""

    old: Property | None
    new: Property | None

    @property
    def known(self) -> Property:
        """The property as it is now, or as it was last."""
        known = self.new or self.old
        assert known is not None
        return known

    @property
    def name(self) -> str:
        """What it is called: its newer name if it has one."""
        return self.known.name


def pair_sides(old: View, new: View, shared_below: int = ALL_SHARED) -> list[tuple[Side | None, Side | None]]:
    """Tables of two views that are one: those kept in one place, then those that share an id or a name."""
    before = {side.key: side for side in old.sides()}
    by_place = {(side.kind, side.state.location): side for side in before.values()}
    by_id = {(side.kind, side.table.id): side for side in before.values() if side.table.id < shared_below}
    pairs: list[tuple[Side | None, Side | None]] = []
    rest: list[Side] = []
    for side in new.sides():
        found = by_place.get((side.kind, side.state.location))
        if found is None:
            rest.append(side)
        else:
            before.pop(found.key)
            pairs.append((found, side))
    for side in rest:
        found = by_id.get((side.kind, side.table.id)) if side.table.id < shared_below else None
        found = found if found is not None and found.key in before else before.get(side.key)
        if found is not None:
            before.pop(found.key)
        pairs.append((found, side))
    return [*pairs, *((side, None) for side in before.values())]


def pair_properties(old: Mapping[str, Property], new: Mapping[str, Property], shared_below: int) -> list[PropertyPair]:
    """Properties of two types that are one, by id as far as ids are shared, else by name; all others alone."""
    ids = {each.id: each for each in old.values() if each.id < shared_below}
    taken: set[str] = set()
    found: list[PropertyPair] = []
    for each in new.values():
        twin = ids.get(each.id) or old.get(each.name)
        if twin is not None and twin.name not in taken:
            taken.add(twin.name)
            found.append(PropertyPair(twin, each))
        else:
            found.append(PropertyPair(None, each))
    return [*found, *(PropertyPair(each, None) for each in old.values() if each.name not in taken)]


def keeps_all(old: Table, new: Table, shared_below: int) -> bool:
    """Whether files that both versions of a table have hold the same values: no property left and came back."""
    ids = {each.id for each in new.properties if each.id < shared_below}
    return all(each.id in ids for each in old.properties)
