"""Steps that change one property or one constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.schema.codec import annotations_to_json
from omnigraph.schema.constraints import constraint_to_json
from omnigraph.schema.evolve.codes import DROP_PROPERTY, DROP_VECTOR, TIGHTEN
from omnigraph.schema.evolve.conversions import is_rewrite, lost_values
from omnigraph.schema.evolve.data_checks import NoNulls, NoValues, ValuesListed, check_of
from omnigraph.schema.evolve.step import DropMode, TypeStep

if TYPE_CHECKING:
    from omnigraph.model.types import PropType
    from omnigraph.schema.catalog import Annotation, Embed, Literal
    from omnigraph.schema.constraints import Constraint
    from omnigraph.schema.evolve.codes import Code
    from omnigraph.schema.evolve.data_checks import DataCheck
    from omnigraph.schema.evolve.step import Json


@dataclass(frozen=True, slots=True)
class PropertyStep(TypeStep):
    """A change to one property of a type."""

    property_name: str

    def fields(self) -> Json:
        """Name the property."""
        return {**TypeStep.fields(self), "property_name": self.property_name}


@dataclass(frozen=True, slots=True)
class AddProperty(PropertyStep):
    """A new property. Stored rows get its default, or null if it has none."""

    kind = "add_property"
    property_type: PropType
    default: Literal | None = None

    @property
    def touches_data(self) -> bool:
        """A column is written for the rows that are there."""
        return self.table is not None

    def fields(self) -> Json:
        """Name the property, its type, and what stored rows get."""
        return {**PropertyStep.fields(self), "property_type": self.property_type.to_json(), "default": self.default}


@dataclass(frozen=True, slots=True)
class RenameProperty(PropertyStep):
    """A property goes by another name and keeps its values."""

    kind = "rename_property"
    old_name: str

    def fields(self) -> Json:
        """Name the property before and after."""
        return {**TypeStep.fields(self), "from": self.old_name, "to": self.property_name}


@dataclass(frozen=True, slots=True)
class ExtendEnum(PropertyStep):
    """An enum has more values than before."""

    kind = "extend_enum"
    added_values: tuple[str, ...]

    def fields(self) -> Json:
        """Name the property and its new values."""
        return {**PropertyStep.fields(self), "added_values": list(self.added_values)}


@dataclass(frozen=True, slots=True)
class ChangePropertyType(PropertyStep):
    """A property has a type that its stored values can have, too. Whether it is nullable changes by itself."""

    kind = "change_property_type"
    before: PropType
    after: PropType

    @property
    def touches_data(self) -> bool:
        """Tell whether the column is written anew: numbers of another width are, strings are not."""
        return self.table is not None and is_rewrite(self.before, self.after)

    @property
    def data_check(self) -> DataCheck | None:
        """Stored values must be ones of the new type."""
        if self.table is None:
            return None
        if self.before.nullable and not self.after.nullable:
            return NoNulls(self.table, self.property_name)
        if self.after.enum_values is not None and lost_values(self.before, self.after):
            return ValuesListed(self.table, self.property_name, self.after.enum_values)
        return None

    @property
    def code(self) -> Code | None:
        """Give the code for making a property required."""
        return TIGHTEN if self.before.nullable and not self.after.nullable else None

    def fields(self) -> Json:
        """Name the property and its type before and after."""
        return {**PropertyStep.fields(self), "from": self.before.to_json(), "to": self.after.to_json()}


@dataclass(frozen=True, slots=True)
class ChangeDefault(PropertyStep):
    """Inserts that leave the property out store another value. Stored rows keep theirs."""

    kind = "change_default"
    before: Literal | None
    after: Literal | None

    def fields(self) -> Json:
        """Name the property and its default before and after."""
        return {**PropertyStep.fields(self), "from": self.before, "to": self.after}


@dataclass(frozen=True, slots=True)
class ChangeEmbed(PropertyStep):
    """A vector is made from another property or by another model, or no longer by itself."""

    kind = "change_embed"
    before: Embed | None
    after: Embed | None

    @property
    def data_check(self) -> DataCheck | None:
        """Vectors of two origins cannot be compared, so none may be stored yet."""
        if self.after is None or self.table is None:
            return None
        return NoValues(self.table, self.property_name)

    def fields(self) -> Json:
        """Name the property and how it is made before and after."""
        return {**PropertyStep.fields(self), "from": _embed(self.before), "to": _embed(self.after)}


@dataclass(frozen=True, slots=True)
class UpdatePropertyMetadata(PropertyStep):
    """A property is described differently. All annotations it has from now on are listed."""

    kind = "update_property_metadata"
    annotations: tuple[Annotation, ...]

    def fields(self) -> Json:
        """Name the property and list its annotations."""
        return {**PropertyStep.fields(self), "annotations": annotations_to_json(self.annotations)}


@dataclass(frozen=True, slots=True)
class DropProperty(PropertyStep):
    """A property goes away with its values. The name is the one it had."""

    kind = "drop_property"
    mode: DropMode = DropMode.SOFT
    is_vector: bool = False

    @property
    def touches_data(self) -> bool:
        """Tell whether values are purged."""
        return self.table is not None and self.mode is DropMode.HARD

    @property
    def code(self) -> Code | None:
        """Give the code for dropping stored values."""
        if self.table is None:
            return None
        return DROP_VECTOR if self.is_vector else DROP_PROPERTY

    def fields(self) -> Json:
        """Name the property and say what becomes of its values."""
        return {**PropertyStep.fields(self), "mode": self.mode.value}


@dataclass(frozen=True, slots=True)
class AddConstraint(TypeStep):
    """A constraint holds from now on. `is_implied` says that the stored rows satisfy it in any case."""

    kind = "add_constraint"
    constraint: Constraint
    is_implied: bool = False

    @property
    def data_check(self) -> DataCheck | None:
        """Stored rows must satisfy the constraint."""
        if self.is_implied or self.table is None:
            return None
        return check_of(self.constraint, self.table)

    def fields(self) -> Json:
        """Name the type and the constraint."""
        return {**TypeStep.fields(self), "constraint": constraint_to_json(self.constraint)}


@dataclass(frozen=True, slots=True)
class RemoveConstraint(TypeStep):
    """A constraint holds no longer. A key that goes leaves the ids as they are."""

    kind = "remove_constraint"
    constraint: Constraint

    def fields(self) -> Json:
        """Name the type and the constraint."""
        return {**TypeStep.fields(self), "constraint": constraint_to_json(self.constraint)}


def _embed(embed: Embed | None) -> Json | None:
    return None if embed is None else {"source": embed.source, "model": embed.model}
