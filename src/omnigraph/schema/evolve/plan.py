"""The plan of a migration: a schema text held against a graph's catalog. Nothing is changed by planning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.schema.check import check_and_identify
from omnigraph.schema.evolve.compare import compare_catalogs
from omnigraph.schema.evolve.step import DropMode, UnsupportedChange
from omnigraph.schema.parse import parse

if TYPE_CHECKING:
    from omnigraph.schema.catalog import Catalog, TypeKind
    from omnigraph.schema.evolve.data_checks import DataCheck
    from omnigraph.schema.evolve.step import Json, Step
    from omnigraph.schema.identity import UnclearRename, UnusedRename


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The steps from one catalog to the next, in the order they are taken."""

    previous: Catalog
    catalog: Catalog
    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Tell whether every step can be taken, provided that the data checks hold."""
        return not self.refusals

    @property
    def refusals(self) -> tuple[UnsupportedChange, ...]:
        """Give the changes that cannot be made."""
        return tuple(step for step in self.steps if isinstance(step, UnsupportedChange))

    @property
    def data_checks(self) -> tuple[DataCheck, ...]:
        """Give everything the stored rows must satisfy."""
        return tuple(check for step in self.steps if (check := step.data_check) is not None)

    @property
    def touches_data(self) -> bool:
        """Tell whether any step writes or purges stored rows."""
        return any(step.touches_data for step in self.steps)

    @property
    def changes(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.steps)

    def to_json(self) -> Json:
        """Give the form that clients read; warnings are left out if there are none."""
        plan: Json = {"supported": self.supported, "steps": [step.to_json() for step in self.steps]}
        return {**plan, "warnings": list(self.warnings)} if self.warnings else plan


def plan_migration(
    previous: Catalog, text: str, name: str = "<schema>", allow_data_loss: bool = False
) -> MigrationPlan:
    """Check a schema text against a graph's catalog and plan the way there."""
    identified = check_and_identify(parse(text, name), previous)
    mode = DropMode.HARD if allow_data_loss else DropMode.SOFT
    unclear = tuple(_refusal(found) for found in identified.unclear)
    steps = tuple(compare_catalogs(previous, identified.catalog, mode))
    warnings = tuple(_warning(found) for found in identified.unused)
    return MigrationPlan(previous, identified.catalog, (*unclear, *steps), warnings)


def _refusal(found: UnclearRename) -> UnsupportedChange:
    return UnsupportedChange(_entity(found.kind, found.type_name, found.property_name), found.reason)


def _warning(found: UnusedRename) -> str:
    entity = _entity(found.kind, found.type_name, found.property_name)
    meant = suggest(found.rename_from, found.known)
    said = f"{entity} is added: nothing is called {found.rename_from!r}, which it says it is renamed from"
    return said if meant is None else f"{said}; {meant}"


def _entity(kind: TypeKind, type_name: str, property_name: str | None) -> str:
    return f"{kind}:{type_name}" if property_name is None else f"{kind}:{type_name}.{property_name}"
