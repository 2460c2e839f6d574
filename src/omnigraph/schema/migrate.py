"""Plans how a graph gets from one catalog to the next. Types and properties are matched by stable id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.schema.catalog import EdgeType, InterfaceType, NodeType, TypeKind
from omnigraph.schema.check import check_and_identify
from omnigraph.schema.codec import annotations_to_json
from omnigraph.schema.constraints import Check, Constraint, Index, Range, constraint_to_json
from omnigraph.schema.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from omnigraph.schema.catalog import Annotation, Catalog, Property
    from omnigraph.schema.identity import UnclearRename

ADD_REQUIRED = "OG-MF-103"
CHANGE_TYPE = "OG-MF-106"
DESCRIPTIVE = ("description", "instruction")

Declared = InterfaceType | NodeType | EdgeType
Step = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The steps from one catalog to the next, as the contract writes them, and where they lead."""

    steps: tuple[Step, ...]
    catalog: Catalog

    @property
    def supported(self) -> bool:
        """Tell whether every step can be taken."""
        return not self.refusals

    @property
    def refusals(self) -> tuple[str, ...]:
        """Give the reason of each step that cannot be taken, with its code."""
        refused = (s for s in self.steps if s["kind"] == "unsupported_change")
        return tuple(f"[{s['code']}] {s['reason']}" if "code" in s else s["reason"] for s in refused)

    def to_json(self) -> dict[str, object]:
        """Give the form that clients read."""
        return {"supported": self.supported, "steps": list(self.steps)}


def plan_migration(
    previous: Catalog, text: str, name: str = "<schema>", allow_data_loss: bool = False
) -> MigrationPlan:
    """Check a schema text against a graph's catalog and plan the way there."""
    identified = check_and_identify(parse(text, name), previous)
    new = identified.catalog
    mode = "hard" if allow_data_loss else "soft"
    steps = [_unclear(found) for found in identified.unclear]
    pairs: tuple[tuple[Sequence[Declared], Sequence[Declared]], ...] = (
        (previous.interfaces, new.interfaces),
        (previous.nodes, new.nodes),
        (previous.edges, new.edges),
    )
    # An end of an edge that was renamed is still the same end: compare what names stand for.
    ends_before = {t.name: t.id for t in previous.nodes}
    ends_after = {t.name: t.id for t in new.nodes}
    for before, after in pairs:
        olds = {t.id: t for t in before}
        for declared in after:
            old = olds.get(declared.id)
            if old is None:
                steps.append(_step("add_type", declared, name=declared.name))
            else:
                steps += _Comparison(old, declared, mode, ends_before, ends_after).steps()
    for before, after in pairs:
        kept = {t.id for t in after}
        steps += [_drop_type(old, mode) for old in before if old.id not in kept]
    return MigrationPlan(tuple(steps), new)


class _Comparison:
    """One type before and after."""

    def __init__(
        self, old: Declared, new: Declared, mode: str, before: Mapping[str, int], after: Mapping[str, int]
    ) -> None:
        self._old, self._new, self._mode = old, new, mode
        self._ends_before, self._ends_after = before, after
        self._renamed = {
            p.name: new.properties_by_id[p.id].name for p in old.properties if p.id in new.properties_by_id
        }

    def steps(self) -> Iterator[Step]:
        old, new = self._old, self._new
        if old.name != new.name:
            if new.kind is TypeKind.INTERFACE:
                yield _unsupported(f"interface:{old.name}", "renaming an interface is not supported")
            else:
                yield {"kind": "rename_type", "type_kind": new.kind.value, "from": old.name, "to": new.name}
        if isinstance(old, NodeType) and isinstance(new, NodeType) and old.implements != new.implements:
            yield self._refuse("changing which interfaces it implements is not supported")
        if isinstance(old, EdgeType) and isinstance(new, EdgeType):
            yield from self._edge(old, new)
        yield from self._annotations(old.annotations, new.annotations, None)
        for declared in new.properties:
            before = old.properties_by_id.get(declared.id)
            yield from self._added(declared) if before is None else self._property(before, declared)
        for gone in old.properties:
            if gone.id not in new.properties_by_id:
                yield self._of_property("drop_property", gone.name, mode=self._mode)
        if not isinstance(old, InterfaceType) and not isinstance(new, InterfaceType):
            yield from self._constraints(old.constraints, new.constraints)

    def _edge(self, old: EdgeType, new: EdgeType) -> Iterator[Step]:
        before = [self._ends_before[end] for end in (old.source, old.target)]
        if before != [self._ends_after[end] for end in (new.source, new.target)]:
            yield self._refuse("changing the ends of an edge type is not supported")
        if old.cardinality != new.cardinality:
            yield self._refuse(f"changing @card from {old.cardinality} to {new.cardinality} is not supported")

    def _added(self, declared: Property) -> Iterator[Step]:
        if declared.nullable:
            yield self._of_property("add_property", declared.name, property_type=declared.type.to_json())
        else:
            reason = f"property {self._new.name}.{declared.name} is new and required; declare it nullable"
            yield self._refuse(reason, declared.name, ADD_REQUIRED)

    def _property(self, old: Property, new: Property) -> Iterator[Step]:
        if old.name != new.name:
            yield {
                "kind": "rename_property",
                "type_kind": self._new.kind.value,
                "type_name": self._new.name,
                "from": old.name,
                "to": new.name,
            }
        if old.type != new.type:
            yield self._changed_type(old, new)
        embed = old.embed and (self._renamed.get(old.embed.source, old.embed.source), old.embed.model)
        if embed != (new.embed and (new.embed.source, new.embed.model)):
            yield self._refuse("changing @embed is not supported", new.name)
        if old.default != new.default:
            yield self._refuse("changing @default is not supported", new.name)
        yield from self._annotations(old.annotations, new.annotations, new.name)

    def _changed_type(self, old: Property, new: Property) -> Step:
        before, after = set(old.type.enum_values or ()), set(new.type.enum_values or ())
        same_otherwise = (old.type.nullable, old.type.is_list) == (new.type.nullable, new.type.is_list)
        if old.type.is_enum and new.type.is_enum and same_otherwise and before < after:
            return self._of_property("extend_enum", new.name, added_values=sorted(after - before))
        reason = f"changing {self._new.name}.{new.name} from {old.type} to {new.type} is not supported"
        return self._refuse(reason, new.name, CHANGE_TYPE)

    def _annotations(
        self, old: tuple[Annotation, ...], new: tuple[Annotation, ...], name: str | None
    ) -> Iterator[Step]:
        if _others(old) != _others(new):
            yield self._refuse("changing annotations other than descriptions is not supported", name)
        elif sorted(old, key=repr) != sorted(new, key=repr):
            written = annotations_to_json(new)
            if name is None:
                yield _step("update_type_metadata", self._new, name=self._new.name, annotations=written)
            else:
                yield self._of_property("update_property_metadata", name, annotations=written)

    def _constraints(self, old: tuple[Constraint, ...], new: tuple[Constraint, ...]) -> Iterator[Step]:
        before = {_canonical(_rename(c, self._renamed)) for c in old}
        after = {_canonical(c) for c in new}
        for constraint in new:
            if _canonical(constraint) in before:
                continue
            if isinstance(constraint, Index):
                written = constraint_to_json(constraint)
                yield _step("add_constraint", self._new, type_name=self._new.name, constraint=written)
            else:
                yield self._refuse(f"adding {_canonical(constraint)} is not supported")
        for constraint in old:
            # What spoke of a dropped property goes with it.
            renamed = _rename(constraint, self._renamed)
            if _canonical(renamed) not in after:
                yield self._refuse(f"removing {_canonical(constraint)} is not supported")

    def _of_property(self, kind: str, name: str, **fields: object) -> Step:
        return _step(kind, self._new, type_name=self._new.name, property_name=name, **fields)

    def _refuse(self, reason: str, name: str | None = None, code: str | None = None) -> Step:
        entity = f"{self._new.kind}:{self._new.name}"
        return _unsupported(entity if name is None else f"{entity}.{name}", reason, code)


def _step(kind: str, declared: Declared, **fields: object) -> Step:
    return {"kind": kind, "type_kind": declared.kind.value, **fields}


def _unsupported(entity: str, reason: str, code: str | None = None) -> Step:
    step: Step = {"kind": "unsupported_change", "entity": entity, "reason": reason}
    return step if code is None else {**step, "code": code}


def _unclear(found: UnclearRename) -> Step:
    entity = f"{found.kind}:{found.type_name}"
    return _unsupported(
        entity if found.property_name is None else f"{entity}.{found.property_name}", found.reason
    )


def _drop_type(old: Declared, mode: str) -> Step:
    if old.kind is TypeKind.INTERFACE:
        return _unsupported(f"interface:{old.name}", "removing an interface is not supported")
    return _step("drop_type", old, name=old.name, mode=mode)


def _others(annotations: tuple[Annotation, ...]) -> list[Annotation]:
    return sorted((a for a in annotations if a.name not in DESCRIPTIVE), key=repr)


def _rename(constraint: Constraint, names: Mapping[str, str]) -> Constraint:
    if isinstance(constraint, Range):
        return Range(
            names.get(constraint.property, constraint.property), constraint.minimum, constraint.maximum
        )
    if isinstance(constraint, Check):
        return Check(names.get(constraint.property, constraint.property), constraint.pattern)
    return type(constraint)(tuple(sorted(names.get(p, p) for p in constraint.properties)))


def _canonical(constraint: Constraint) -> str:
    """Write a constraint so that the order of its members does not matter."""
    if isinstance(constraint, Range):
        low = "" if constraint.minimum is None else constraint.minimum
        high = "" if constraint.maximum is None else constraint.maximum
        return f"@range({constraint.property}, {low}..{high})"
    if isinstance(constraint, Check):
        return f"@check({constraint.property}, {constraint.pattern!r})"
    return f"@{type(constraint).__name__.lower()}({', '.join(sorted(constraint.properties))})"
