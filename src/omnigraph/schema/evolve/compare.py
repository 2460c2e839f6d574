"""Two catalogs, type by type: which steps lead from one to the other. Types are matched by stable id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.schema.catalog import EDGE_ENDS, EdgeType, InterfaceType, NodeType
from omnigraph.schema.evolve.compare_constraints import compare_constraints
from omnigraph.schema.evolve.compare_properties import compare_properties
from omnigraph.schema.evolve.type_steps import (
    AddType,
    ChangeCardinality,
    ChangeEnd,
    ChangeImplements,
    DropType,
    RenameType,
    UpdateTypeMetadata,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.schema.catalog import Catalog
    from omnigraph.schema.evolve.step import DropMode, Step

Declared = InterfaceType | NodeType | EdgeType


def compare_catalogs(previous: Catalog, new: Catalog, mode: DropMode) -> Iterator[Step]:
    """Give the steps in the contract's order: interfaces, nodes, edges, then the types that go."""
    pairs: tuple[tuple[Sequence[Declared], Sequence[Declared]], ...] = (
        (previous.interfaces, new.interfaces),
        (previous.nodes, new.nodes),
        (previous.edges, new.edges),
    )
    comparison = _Comparison(previous, new, mode)
    for before, after in pairs:
        olds = {t.id: t for t in before}
        for declared in after:
            old = olds.get(declared.id)
            if old is None:
                yield AddType(declared.kind, declared.name)
            else:
                yield from comparison.types(old, declared)
    for before, after in pairs:
        kept = {t.id for t in after}
        yield from (DropType(old.kind, old.name, mode) for old in before if old.id not in kept)


class _Comparison:
    """What comparing one type needs to know of the others: how names before relate to names after."""

    def __init__(self, previous: Catalog, new: Catalog, mode: DropMode) -> None:
        self._mode = mode
        self._interfaces = _renamed(previous.interfaces, new.interfaces)
        self._nodes = _renamed(previous.nodes, new.nodes)

    def types(self, old: Declared, new: Declared) -> Iterator[Step]:
        """Compare what a type was with what it is."""
        if old.name != new.name:
            yield RenameType(new.kind, new.name, old.name)
        if isinstance(old, NodeType) and isinstance(new, NodeType):
            yield from self._implements(old, new)
        if isinstance(old, EdgeType) and isinstance(new, EdgeType):
            yield from self._edge(old, new)
        # As written: 1, 1.0 and true are equal values but different annotations.
        if repr(old.annotations) != repr(new.annotations):
            yield UpdateTypeMetadata(new.kind, new.name, new.annotations)
        yield from compare_properties(old, new, self._mode)
        if not isinstance(old, InterfaceType) and not isinstance(new, InterfaceType):
            yield from compare_constraints(old, new)

    def _implements(self, old: NodeType, new: NodeType) -> Iterator[Step]:
        before = {self._interfaces.get(name, name) for name in old.implements}
        after = set(new.implements)
        if before != after:
            yield ChangeImplements(new.kind, new.name, tuple(sorted(after - before)), tuple(sorted(before - after)))

    def _edge(self, old: EdgeType, new: EdgeType) -> Iterator[Step]:
        ends = zip(EDGE_ENDS, (old.source, old.target), (new.source, new.target), strict=True)
        for end, before, after in ends:
            # A node type that was renamed is still the same end; one that is gone has no name after.
            if self._nodes.get(before) != after:
                yield ChangeEnd(new.kind, new.name, end, before, after)
        if old.cardinality != new.cardinality:
            yield ChangeCardinality(new.kind, new.name, old.cardinality, new.cardinality)


def _renamed(before: Sequence[Declared], after: Sequence[Declared]) -> dict[str, str]:
    """Give the name after the migration for each name before; what is gone has none."""
    names = {t.id: t.name for t in after}
    return {t.name: names[t.id] for t in before if t.id in names}
