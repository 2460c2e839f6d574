"""A write in the making: one captured snapshot, each table opened once, changes staged in the dark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.manifest.plan import PublishPlan, Read, TableChange
from omnigraph.manifest.snapshot import Snapshot
from omnigraph.model.errors import BadRequest, TableNotFound
from omnigraph.storage.parallel import run_parallel
from omnigraph.storage.staged import NO_FILLS, NO_RENAMES, Staged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa

    from omnigraph.manifest.state import State, TableState
    from omnigraph.model.clock import Runtime
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Aspect


class WriteTxn:
    """Stages changes against one snapshot and turns them into a plan. Not shared between threads."""

    def __init__(self, base: State, tables: Tables, runtime: Runtime, epoch: int, intent: str | None = None) -> None:
        self.snapshot = Snapshot(base, tables)
        self._tables = tables
        self._runtime = runtime
        self._epoch = epoch
        self._intent = intent
        self._staged: dict[str, Staged | None] = {}
        """By the key a table has from now on; None if only its name changes."""
        self._sources: dict[str, str] = {}
        """The keys that tables had, where they change."""
        self._dropped: dict[str, None] = {}
        self._reads: set[Read] = set()

    @property
    def base(self) -> State:
        """The state it reads."""
        return self.snapshot.state

    def table(self, key: str) -> TableHandle:
        """A table as this write sees it: what it staged itself, else the snapshot."""
        staged = self._staged.get(key)
        if staged is not None:
            return self._tables.open(self._settled(key, staged).ref)
        if key in self._gone and key not in self._staged:
            raise TableNotFound(key)
        return self.snapshot.table(self._sources.get(key, key))

    def find(self, key: str, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows of the snapshot whose `column` has one of these values; what this write staged is not among them."""
        return self.snapshot.find(key, column, values, columns)

    def depends_on(self, key: str, *aspects: Aspect) -> None:
        """Declare that this write holds only if the table's content did none of these since the snapshot."""
        self.base.table(key)
        self._reads.update(Read(key, aspect) for aspect in aspects)

    def append(self, key: str, rows: pa.Table) -> Staged:
        """Add rows. Whether their keys are free is for the caller to check and declare."""
        return self._keep(key, self._tables.stage_append(self._fresh(key), rows, loose=True))

    def change(self, key: str, upsert: pa.Table | None = None, delete: Iterable[str] = ()) -> Staged | None:
        """Insert or replace rows by id and delete rows by id; None if there is nothing to change."""
        staged = self._tables.stage_change(self._fresh(key), upsert, delete, loose=True)
        return self._keep(key, staged) if staged is not None else None

    def stage_together(
        self, stages: Mapping[str, Callable[[Tables, TableHandle], Staged | None]]
    ) -> dict[str, Staged | None]:
        """Stage changes to several tables side by side; None for a table that does not change."""
        tasks = [lambda key=key, stage=stage: stage(self._tables, self._fresh(key)) for key, stage in stages.items()]
        staged = dict(zip(stages, run_parallel(tasks), strict=True))
        for key, one in staged.items():
            if one is not None:
                self._keep(key, one)
        return staged

    def overwrite(self, key: str, rows: pa.Table) -> Staged:
        """Replace all rows."""
        return self._keep(key, self._tables.stage_overwrite(self._fresh(key), rows))

    def reshape(
        self,
        key: str,
        schema: pa.Schema,
        *,
        renames: Mapping[str, str] = NO_RENAMES,
        fills: Mapping[str, pa.Scalar] = NO_FILLS,
        source: str | None = None,
        rewrite: bool = False,
    ) -> Staged:
        """Give a table another schema, and another key if it had one (`source`) before.

        With `rewrite` no file is shared with what it was: a column that is gone is gone from the files too.
        """
        old = source or key
        self._check_fresh(old)
        self._check_untouched(key)
        staged = self._tables.stage_schema(self.snapshot.table(old), schema, renames=renames, fills=fills)
        if rewrite:
            staged = self._tables.stage_rewrite(staged)
        return self._keep(key, staged, old)

    def has_staged(self, key: str) -> bool:
        """Whether this write has a version of its own of a table."""
        return self._staged.get(key) is not None

    def amend(self, key: str, change: Callable[[Tables, TableHandle], Staged | None]) -> Staged | None:
        """Stage something more on top of what this write has staged of a table already."""
        staged = self._staged[key]
        assert staged is not None, f"{key} only changes its name"
        before = self._settled(key, staged)
        staged = change(self._tables, self._tables.open(before.ref))
        if staged is None:
            return None
        self._staged[key] = replace(
            before,
            ref=staged.ref,
            aspects=before.aspects | staged.aspects,
            row_count=staged.row_count,
            files=(*before.files, *staged.files),
        )
        return self._staged[key]

    def _settled(self, key: str, staged: Staged) -> Staged:
        """Give what is loose a version, for whoever wants to read it before it is published."""
        if staged.is_loose:
            staged = self._staged[key] = self._tables.rebase(staged, staged.base)
        return staged

    def adopt(self, key: str, table: TableState, aspects: Iterable[Aspect], source: str | None = None) -> Staged:
        """Take a table as another state of the graph has it: its files are shared, nothing is written.

        `source` is the key the table has in the snapshot; None if the snapshot has no such table.
        """
        self._check_untouched(key)
        if source is None:
            staged = Staged(table.ref, table.ref, "create", frozenset(aspects), table.row_count)
            return self._keep(key, staged)
        self._check_fresh(source)
        base = self.base.table(source)
        staged = Staged(base.ref, table.ref, "adopt", frozenset(aspects), table.row_count)
        return self._keep(key, staged, source)

    def rename(self, old: str, new: str) -> None:
        """Give a table another key. Its content stays where it is."""
        self._check_fresh(old)
        self._check_untouched(new)
        self._staged[new] = None
        self._sources[new] = old

    def create(self, key: str, location: str, schema: pa.Schema) -> Staged:
        """Add an empty table."""
        self._check_untouched(key)
        return self._keep(key, self._tables.create(location, schema))

    def drop(self, key: str) -> None:
        """Remove a table from the graph."""
        self._check_fresh(key)
        self._dropped[key] = None

    def plan(
        self,
        operation: str,
        *,
        actor: str | None = None,
        if_commit: str | None = None,
        merged: State | None = None,
        schema_hash: str | None = None,
    ) -> PublishPlan:
        """Everything the publisher needs."""
        return PublishPlan(
            base=self.base,
            commit_id=self._runtime.ids.ulid(),
            created_us=self._runtime.clock.now_us(),
            operation=operation,
            changes=self._changes(),
            reads=frozenset(self._reads),
            actor=actor,
            merged=merged,
            schema_hash=schema_hash,
            if_commit=if_commit,
            epoch=self._epoch,
            intent=self._intent,
        )

    @property
    def _gone(self) -> set[str]:
        """Keys of the snapshot that no longer mean the table they meant."""
        return {*self._dropped, *self._sources.values()}

    def _changes(self) -> tuple[TableChange, ...]:
        drops = [TableChange(key, None) for key in self._dropped]
        return (*drops, *(TableChange(key, staged, self._sources.get(key)) for key, staged in self._staged.items()))

    def _fresh(self, key: str) -> TableHandle:
        self._check_untouched(key)
        self._check_fresh(key)
        return self.snapshot.table(key)

    def _check_fresh(self, key: str) -> None:
        """A table of the snapshot is changed once in a write."""
        self.base.table(key)
        if key in {*self._dropped, *(self._sources.get(name, name) for name in self._staged)}:
            raise BadRequest(f"table {key} was changed already in this write; stage all its changes at once")

    def _check_untouched(self, key: str) -> None:
        """A name is given once in a write."""
        if key in self._staged:
            raise BadRequest(f"table {key} was changed already in this write; stage all its changes at once")

    def _keep(self, key: str, staged: Staged, source: str | None = None) -> Staged:
        self._staged[key] = staged
        if source is not None and source != key:
            self._sources[key] = source
        return staged
