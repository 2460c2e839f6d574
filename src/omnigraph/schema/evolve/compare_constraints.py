"""The constraints of one type before and after. Renamed properties are followed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.schema.constraints import Check, Key, Range, Unique, members
from omnigraph.schema.evolve.compare_properties import renamed_properties
from omnigraph.schema.evolve.property_steps import AddConstraint, RemoveConstraint
from omnigraph.schema.evolve.type_steps import is_at_least, is_at_most

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from omnigraph.schema.catalog import EdgeType, NodeType
    from omnigraph.schema.constraints import Constraint
    from omnigraph.schema.evolve.step import Step


def compare_constraints(old: NodeType | EdgeType, new: NodeType | EdgeType) -> Iterator[Step]:
    """Give the steps for constraints that went, then for those that came."""
    names = renamed_properties(old, new)
    before = {_canonical(c): c for c in (_rename(c, names) for c in old.constraints)}
    after = {_canonical(c): c for c in new.constraints}
    for written, constraint in before.items():
        if written not in after:
            yield RemoveConstraint(new.kind, new.name, constraint)
    came = [c for written, c in after.items() if written not in before]
    if not came:
        return
    always_null = _always_null(old, new)
    for constraint in came:
        implied = _is_implied(constraint, before.values()) or not always_null.isdisjoint(members(constraint))
        yield AddConstraint(new.kind, new.name, constraint, is_implied=implied)


def _always_null(old: NodeType | EdgeType, new: NodeType | EdgeType) -> set[str]:
    """Give the properties that no stored row has a value for: null is exempt from every constraint."""
    return {p.name for p in new.properties if p.id not in old.properties_by_id and p.default is None}


def _is_implied(constraint: Constraint, before: Iterable[Constraint]) -> bool:
    """Tell whether rows that satisfied the constraints before satisfy this one."""
    return any(_implies(other, constraint) for other in before)


def _implies(other: Constraint, constraint: Constraint) -> bool:
    match other, constraint:
        # Rows that differ in some columns differ in more; ids are unique, so keys are.
        case ((Unique() | Key()), Unique()):
            return set(other.properties) <= set(constraint.properties)
        case Range(), Range():
            is_inside = is_at_least(other.minimum, constraint.minimum) and is_at_most(other.maximum, constraint.maximum)
            return other.property == constraint.property and is_inside
        case _:
            return False


def _rename(constraint: Constraint, names: Mapping[str, str]) -> Constraint:
    if isinstance(constraint, Range | Check):
        return replace(constraint, property=names.get(constraint.property, constraint.property))
    renamed = tuple(names.get(name, name) for name in constraint.properties)
    return replace(constraint, properties=renamed)


def _canonical(constraint: Constraint) -> str:
    """Write a constraint so that neither the order of members nor 1 and 1.0 are confused."""
    if isinstance(constraint, Range | Check):
        return repr(constraint)
    return f"{type(constraint).__name__} {sorted(constraint.properties)}"
