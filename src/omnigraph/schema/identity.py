"""Stable ids: what keeps its identity when a schema changes, and what is new.

A type or property keeps its id if its name stays, or if `@rename_from` names what it was called. One
allocator serves the whole graph; an id is never given twice, so what is dropped and added again is new.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from omnigraph.schema.catalog import Catalog, EdgeType, InterfaceType, NodeType, Property
from omnigraph.schema.check_constraints import constraint_order
from omnigraph.schema.constraints import Constraint, Key
from omnigraph.schema.draft import DraftType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omnigraph.schema.catalog import TypeKind
    from omnigraph.schema.draft import DraftProperty


@dataclass(frozen=True, slots=True)
class UnclearRename:
    """A `@rename_from` that cannot be followed without losing something."""

    kind: TypeKind
    type_name: str
    property_name: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class UnusedRename:
    """A `@rename_from` on something new that names nothing the graph has: a slip, or an old annotation."""

    kind: TypeKind
    type_name: str
    property_name: str | None
    rename_from: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identified:
    """A catalog with stable ids, and the renames that were not followed."""

    catalog: Catalog
    unclear: tuple[UnclearRename, ...] = ()
    unused: tuple[UnusedRename, ...] = ()


_Old = TypeVar("_Old")


def identify(
    interfaces: Sequence[DraftType],
    nodes: Sequence[DraftType],
    edges: Sequence[DraftType],
    previous: Catalog | None,
) -> Identified:
    """Give every type and property its stable id."""
    before = previous or Catalog()
    allocator = _Allocator(before.next_id)
    new_interfaces = [
        InterfaceType(type_id, draft.name, properties, draft.annotations)
        for draft, type_id, properties in allocator.types(interfaces, before.interface_types)
    ]
    new_nodes = [
        NodeType(
            type_id,
            draft.name,
            properties,
            draft.annotations,
            _ordered(draft.constraints, properties),
            implements=draft.implements,
        )
        for draft, type_id, properties in allocator.types(nodes, before.node_types)
    ]
    new_edges = [
        EdgeType(
            type_id,
            draft.name,
            properties,
            draft.annotations,
            _ordered(draft.constraints, properties),
            source=draft.source,
            target=draft.target,
            cardinality=draft.cardinality,
        )
        for draft, type_id, properties in allocator.types(edges, before.edge_types)
    ]
    catalog = Catalog(tuple(new_interfaces), tuple(new_nodes), tuple(new_edges), allocator.next_id)
    if not previous:
        return Identified(catalog)
    return Identified(catalog, tuple(allocator.unclear), tuple(allocator.unused))


class _Allocator:
    """Walks the drafts in canonical order, so that equal schemas get equal ids."""

    def __init__(self, next_id: int) -> None:
        self.next_id = next_id
        self.unclear: list[UnclearRename] = []
        self.unused: list[UnusedRename] = []

    def types(
        self, drafts: Sequence[DraftType], before: Mapping[str, InterfaceType | NodeType | EdgeType]
    ) -> Iterable[tuple[DraftType, int, tuple[Property, ...]]]:
        """Give each draft with its id and its finished properties."""
        in_order = sorted(drafts, key=lambda draft: draft.name)
        olds = self._match(in_order, before, None)
        for draft in in_order:
            old = olds.get(draft.name)
            type_id = self._take() if old is None else old.id
            known = {} if old is None else old.properties_by_name
            yield draft, type_id, self._properties(draft, known)

    def _properties(self, owner: DraftType, before: Mapping[str, Property]) -> tuple[Property, ...]:
        olds = self._match(owner.properties, before, owner)
        return tuple(_property(draft, self._id(olds.get(draft.name))) for draft in owner.properties)

    def _id(self, old: Property | None) -> int:
        return self._take() if old is None else old.id

    def _take(self) -> int:
        self.next_id += 1
        return self.next_id - 1

    def _match(
        self,
        drafts: Sequence[DraftType] | Sequence[DraftProperty],
        before: Mapping[str, _Old],
        owner: DraftType | None,
    ) -> dict[str, _Old]:
        """Find what each draft was before."""
        declared = {draft.name for draft in drafts}
        found: dict[str, _Old] = {}
        for draft in drafts:
            name, source = draft.name, draft.rename_from
            if source is None or source == name or source not in before:
                if name in before:
                    found[name] = before[name]
                elif source is not None and source != name and before:
                    self._note_unused(draft, source, tuple(before), owner)
            elif name not in before and source not in declared:
                found[name] = before[source]
            elif name not in before:
                reason = f"cannot rename {source!r} to {name!r}: {source!r} is still declared"
                self._note_unclear(draft, reason, owner)
            else:
                found[name] = before[name]
                if source not in declared:
                    reason = f"cannot rename {source!r} to {name!r}: the graph has both; drop one first"
                    self._note_unclear(draft, reason, owner)
        return found

    def _note_unclear(self, draft: DraftType | DraftProperty, reason: str, owner: DraftType | None) -> None:
        kind, type_name, property_name = _where(draft, owner)
        self.unclear.append(UnclearRename(kind, type_name, property_name, reason))

    def _note_unused(
        self, draft: DraftType | DraftProperty, source: str, known: tuple[str, ...], owner: DraftType | None
    ) -> None:
        kind, type_name, property_name = _where(draft, owner)
        self.unused.append(UnusedRename(kind, type_name, property_name, source, known))


def _where(draft: DraftType | DraftProperty, owner: DraftType | None) -> tuple[TypeKind, str, str | None]:
    if isinstance(draft, DraftType):
        return draft.kind, draft.name, None
    assert owner is not None
    return owner.kind, owner.name, draft.name


def _property(draft: DraftProperty, property_id: int) -> Property:
    return Property(property_id, draft.name, draft.type, draft.default, draft.embed, draft.annotations)


def _ordered(constraints: tuple[Constraint, ...], properties: tuple[Property, ...]) -> tuple[Constraint, ...]:
    """Order the key's members by stable id: that order makes the ids of nodes, and must never change."""
    ids = {p.name: p.id for p in properties}
    ordered = (
        replace(c, properties=tuple(sorted(c.properties, key=ids.__getitem__))) if isinstance(c, Key) else c
        for c in constraints
    )
    return tuple(sorted(ordered, key=constraint_order))
