"""A write in the making: one captured snapshot, each table opened once, changes staged in the dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.manifest.plan import PublishPlan, Read, TableChange
from omnigraph.manifest.snapshot import Snapshot
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from omnigraph.manifest.state import State
    from omnigraph.model.clock import Runtime
    from omnigraph.storage.staged import Aspect, Staged, TableHandle, Tables


class WriteTxn:
    """Stages changes against one snapshot and turns them into a plan. Not shared between threads."""

    def __init__(self, base: State, tables: Tables, runtime: Runtime, epoch: int, intent: str | None = None) -> None:
        self.snapshot = Snapshot(base, tables)
        self._tables = tables
        self._runtime = runtime
        self._epoch = epoch
        self._intent = intent
        self._staged: dict[str, Staged | None] = {}
        self._reads: set[Read] = set()

    @property
    def base(self) -> State:
        """The state it reads."""
        return self.snapshot.state

    def table(self, key: str) -> TableHandle:
        """A table as this write sees it: what it staged itself, else the snapshot."""
        staged = self._staged.get(key)
        return self._tables.open(staged.ref) if staged is not None else self.snapshot.table(key)

    def depends_on(self, key: str, *aspects: Aspect) -> None:
        """Declare that this write holds only if the table's content did none of these since the snapshot."""
        self.base.table(key)
        self._reads.update(Read(key, aspect) for aspect in aspects)

    def append(self, key: str, rows: pa.Table) -> Staged:
        """Add rows. Whether their keys are free is for the caller to check and declare."""
        return self._keep(key, self._tables.stage_append(self._fresh(key), rows))

    def change(self, key: str, upsert: pa.Table | None = None, delete: Iterable[str] = ()) -> Staged | None:
        """Insert or replace rows by id and delete rows by id; None if there is nothing to change."""
        staged = self._tables.stage_change(self._fresh(key), upsert, delete)
        return self._keep(key, staged) if staged is not None else None

    def overwrite(self, key: str, rows: pa.Table) -> Staged:
        """Replace all rows."""
        return self._keep(key, self._tables.stage_overwrite(self._fresh(key), rows))

    def reshape(self, key: str, schema: pa.Schema) -> Staged:
        """Give a table another schema."""
        return self._keep(key, self._tables.stage_schema(self._fresh(key), schema))

    def create(self, key: str, location: str, schema: pa.Schema) -> Staged:
        """Add an empty table."""
        return self._keep(key, self._tables.create(location, schema))

    def drop(self, key: str) -> None:
        """Remove a table from the graph."""
        self.base.table(key)
        self._staged[key] = None

    def plan(
        self,
        operation: str,
        *,
        actor: str | None = None,
        if_commit: str | None = None,
        merged_parent: str | None = None,
        schema_hash: str | None = None,
    ) -> PublishPlan:
        """Everything the publisher needs."""
        return PublishPlan(
            base=self.base,
            commit_id=self._runtime.ids.ulid(),
            created_us=self._runtime.clock.now_us(),
            operation=operation,
            changes=tuple(TableChange(key, staged) for key, staged in self._staged.items()),
            reads=frozenset(self._reads),
            actor=actor,
            merged_parent=merged_parent,
            schema_hash=schema_hash,
            if_commit=if_commit,
            epoch=self._epoch,
            intent=self._intent,
        )

    def _fresh(self, key: str) -> TableHandle:
        if key in self._staged:
            raise BadRequest(f"table {key} was changed already in this write; stage all its changes at once")
        return self.snapshot.table(key)

    def _keep(self, key: str, staged: Staged) -> Staged:
        self._staged[key] = staged
        return staged
