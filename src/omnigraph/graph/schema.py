"""The schema of a branch: what it is, and how to change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.policy.action import Action
from omnigraph.schema import plan_migration

if TYPE_CHECKING:
    from omnigraph.graph.holder import Holder
    from omnigraph.manifest import StoredSchema
    from omnigraph.schema import Catalog, MigrationPlan
    from omnigraph.write.migrate import SchemaApplied


@dataclass(frozen=True)
class Schema:
    """The schema of a branch."""

    _holder: Holder

    @property
    def source(self) -> str:
        """The text it was written as."""
        return self.at().source

    @property
    def catalog(self) -> Catalog:
        """What it declares."""
        return self.at().catalog

    def at(self, branch: str | None = None, *, commit: str | None = None) -> StoredSchema:
        """The schema of a branch now, or as it was right after a commit."""
        snapshot = self._holder.repository.snapshot(branch or self._holder.branch, commit)
        return self._holder.repository.catalogs.get(snapshot.schema_hash)

    def plan(
        self, text: str, *, name: str = "<schema>", branch: str | None = None, allow_data_loss: bool = False
    ) -> MigrationPlan:
        """Say what it takes to bring a branch to another schema. Nothing is changed."""
        return plan_migration(self.at(branch).catalog, text, name, allow_data_loss)

    def apply(
        self, text: str, *, name: str = "<schema>", branch: str | None = None, allow_data_loss: bool = False
    ) -> SchemaApplied:
        """Bring a branch to another schema, as one commit."""
        from omnigraph.write.migrate import apply_schema

        self._holder.gate.require(Action.SCHEMA_APPLY, target=branch or self._holder.branch)
        return apply_schema(
            self._holder.repository,
            text,
            branch=branch or self._holder.branch,
            name=name,
            allow_data_loss=allow_data_loss,
            actor=self._holder.actor,
        )
