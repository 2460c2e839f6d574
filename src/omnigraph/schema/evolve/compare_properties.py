"""The properties of one type before and after, matched by stable id."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.schema.catalog import Embed, InterfaceType, TypeKind
from omnigraph.schema.evolve.codes import ADD_REQUIRED, CHANGE_TYPE
from omnigraph.schema.evolve.conversions import added_values, why_refused
from omnigraph.schema.evolve.property_steps import (
    AddProperty,
    ChangeDefault,
    ChangeEmbed,
    ChangePropertyType,
    DropProperty,
    ExtendEnum,
    RenameProperty,
    UpdatePropertyMetadata,
)
from omnigraph.schema.evolve.step import UnsupportedChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omnigraph.schema.catalog import EdgeType, NodeType, Property
    from omnigraph.schema.evolve.codes import Code
    from omnigraph.schema.evolve.step import DropMode, Step

    Declared = InterfaceType | NodeType | EdgeType


def compare_properties(old: Declared, new: Declared, mode: DropMode) -> Iterator[Step]:
    """Give the steps for properties that came, changed and went, by name; those that went come last."""
    comparison = _Comparison(old, new)
    for declared in new.properties:
        before = old.properties_by_id.get(declared.id)
        yield from comparison.added(declared) if before is None else comparison.changed(before, declared)
    for gone in old.properties:
        if gone.id not in new.properties_by_id:
            yield DropProperty(new.kind, new.name, gone.name, mode, gone.type.is_vector)


def renamed_properties(old: Declared, new: Declared) -> Mapping[str, str]:
    """Give the name after the migration for each name before; what is gone has none."""
    return {p.name: new.properties_by_id[p.id].name for p in old.properties if p.id in new.properties_by_id}


def _kept_key(old: Declared, new: Declared) -> set[str]:
    """Give the properties that made the ids and still do: a key that comes is checked, one that goes is free."""
    if isinstance(old, InterfaceType) or isinstance(new, InterfaceType):
        return set()
    names = renamed_properties(old, new)
    return {names.get(name, name) for name in old.key} & set(new.key)


class _Comparison:
    """The properties of one type."""

    def __init__(self, old: Declared, new: Declared) -> None:
        self._kind, self._name = new.kind, new.name
        self._renamed = renamed_properties(old, new)
        self._key = _kept_key(old, new)

    def added(self, new: Property) -> Iterator[Step]:
        """Say how a property comes to rows that do not have it."""
        has_rows = self._kind is not TypeKind.INTERFACE
        if has_rows and not new.nullable and new.default is None:
            can_default = not (new.type.is_list or new.type.is_vector or new.type.is_blob)
            way = "give it @default(…) for the rows that are there, or declare" if can_default else "declare"
            yield self._refuse(
                f"property {self._name}.{new.name} is new and required, and stored rows have no value for it; "
                f"{way} it nullable: {new.name}: {new.type.optional}",
                new.name,
                ADD_REQUIRED,
            )
        else:
            yield AddProperty(self._kind, self._name, new.name, new.type, new.default)

    def changed(self, old: Property, new: Property) -> Iterator[Step]:
        """Compare what a property was with what it is."""
        if old.name != new.name:
            yield RenameProperty(self._kind, self._name, new.name, old.name)
        if old.type != new.type:
            yield from self._type(old, new)
        if repr(old.default) != repr(new.default):
            yield ChangeDefault(self._kind, self._name, new.name, old.default, new.default)
        before = old.embed and Embed(self._renamed.get(old.embed.source, old.embed.source), old.embed.model)
        if before != new.embed:
            yield ChangeEmbed(self._kind, self._name, new.name, before, new.embed)
        if repr(old.annotations) != repr(new.annotations):
            yield UpdatePropertyMetadata(self._kind, self._name, new.name, new.annotations)

    def _type(self, old: Property, new: Property) -> Iterator[Step]:
        is_stored = self._kind is not TypeKind.INTERFACE
        refused = why_refused(old.type, new.type, new.name in self._key) if is_stored else None
        if refused is not None:
            yield self._refuse(
                f"cannot change {self._name}.{new.name} from {old.type} to {new.type}: {refused}; "
                "add a property of the new type, copy the values with a mutation, then drop the old one",
                new.name,
                CHANGE_TYPE,
            )
            return
        # Two steps if both change, so that each has one thing to validate.
        between = replace(new.type, nullable=old.type.nullable)
        if grown := added_values(old.type, between):
            yield ExtendEnum(self._kind, self._name, new.name, grown)
        elif old.type != between:
            yield ChangePropertyType(self._kind, self._name, new.name, old.type, between)
        if between != new.type:
            yield ChangePropertyType(self._kind, self._name, new.name, between, new.type)

    def _refuse(self, reason: str, name: str, code: Code) -> UnsupportedChange:
        return UnsupportedChange(f"{self._kind}:{self._name}.{name}", reason, code)
