"""Steps that change a type as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.schema.catalog import TypeKind
from omnigraph.schema.codec import annotations_to_json
from omnigraph.schema.evolve.codes import DROP_EDGE, DROP_NODE
from omnigraph.schema.evolve.data_checks import EdgesPerSource, EndsExist
from omnigraph.schema.evolve.step import DropMode, TypeStep

if TYPE_CHECKING:
    from omnigraph.schema.catalog import Annotation
    from omnigraph.schema.constraints import Cardinality
    from omnigraph.schema.evolve.codes import Code
    from omnigraph.schema.evolve.data_checks import DataCheck
    from omnigraph.schema.evolve.step import Json


@dataclass(frozen=True, slots=True)
class AddType(TypeStep):
    """A new type; a node or edge type gets an empty table."""

    kind = "add_type"

    def fields(self) -> Json:
        """Name the type."""
        return {"type_kind": self.type_kind.value, "name": self.type_name}


@dataclass(frozen=True, slots=True)
class RenameType(TypeStep):
    """A type goes by another name and keeps its rows."""

    kind = "rename_type"
    old_name: str

    def fields(self) -> Json:
        """Name the type before and after."""
        return {"type_kind": self.type_kind.value, "from": self.old_name, "to": self.type_name}


@dataclass(frozen=True, slots=True)
class DropType(TypeStep):
    """A type goes away with its rows. The name is the one it had."""

    kind = "drop_type"
    mode: DropMode = DropMode.SOFT

    @property
    def touches_data(self) -> bool:
        """Tell whether rows are purged."""
        return self.table is not None and self.mode is DropMode.HARD

    @property
    def code(self) -> Code | None:
        """Give the code for dropping this kind of type."""
        return {TypeKind.NODE: DROP_NODE, TypeKind.EDGE: DROP_EDGE}.get(self.type_kind)

    def fields(self) -> Json:
        """Name the type and say what becomes of its rows."""
        return {"type_kind": self.type_kind.value, "name": self.type_name, "mode": self.mode.value}


@dataclass(frozen=True, slots=True)
class UpdateTypeMetadata(TypeStep):
    """A type is described differently. All annotations it has from now on are listed."""

    kind = "update_type_metadata"
    annotations: tuple[Annotation, ...]

    def fields(self) -> Json:
        """Name the type and list its annotations."""
        written = annotations_to_json(self.annotations)
        return {"type_kind": self.type_kind.value, "name": self.type_name, "annotations": written}


@dataclass(frozen=True, slots=True)
class ChangeImplements(TypeStep):
    """A node type implements other interfaces. Properties that come or go have steps of their own."""

    kind = "change_implements"
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def fields(self) -> Json:
        """Name the type and its interfaces that come and go."""
        return {**TypeStep.fields(self), "added": list(self.added), "removed": list(self.removed)}


@dataclass(frozen=True, slots=True)
class ChangeEnd(TypeStep):
    """One end of an edge type, `src` or `dst`, is at another node type."""

    kind = "change_end"
    end: str
    before: str
    after: str

    @property
    def data_check(self) -> DataCheck | None:
        """Stored edges must find their nodes in the other type."""
        assert self.table is not None
        return EndsExist(self.table, self.end, f"{TypeKind.NODE}:{self.after}")

    def fields(self) -> Json:
        """Name the edge type, the end, and where it was and is."""
        return {**TypeStep.fields(self), "end": self.end, "from": self.before, "to": self.after}


@dataclass(frozen=True, slots=True)
class ChangeCardinality(TypeStep):
    """Another number of edges may leave one source."""

    kind = "change_cardinality"
    before: Cardinality
    after: Cardinality

    @property
    def data_check(self) -> DataCheck | None:
        """Sources must satisfy the new bounds, unless the old ones were as strict."""
        if is_at_least(self.before.minimum, self.after.minimum) and is_at_most(self.before.maximum, self.after.maximum):
            return None
        assert self.table is not None
        return EdgesPerSource(self.table, self.after.minimum, self.after.maximum)

    def fields(self) -> Json:
        """Name the edge type and its bounds before and after."""
        return {**TypeStep.fields(self), "from": _bounds(self.before), "to": _bounds(self.after)}


def is_at_least(bound: float | None, other: float | None) -> bool:
    """Tell whether a lower bound lets through nothing that another one stops."""
    return other is None or (bound is not None and bound >= other)


def is_at_most(bound: float | None, other: float | None) -> bool:
    """Tell whether an upper bound lets through nothing that another one stops."""
    return other is None or (bound is not None and bound <= other)


def _bounds(cardinality: Cardinality) -> Json:
    return {"min": cardinality.minimum, "max": cardinality.maximum}
