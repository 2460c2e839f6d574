"""Three states of a graph into one: every table merged, the outcome validated, and staged."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from omnigraph.history.conflicts import MergeConflict, SchemaConflict
from omnigraph.history.ground import MergeGround
from omnigraph.history.merge_tables import TableMerge, merge_table
from omnigraph.history.resolve import NO_RESOLUTION
from omnigraph.history.structure import Structure
from omnigraph.history.tablediff import DELETE, INSERT, UPDATE
from omnigraph.history.versions import Version, Versions
from omnigraph.history.views import ALL_SHARED, Side, View, view_of
from omnigraph.manifest import table_location
from omnigraph.model.violations import ValidationFailed, Violations
from omnigraph.schema import table_key, table_schema
from omnigraph.storage.parallel import run_parallel
from omnigraph.storage.staged import ALL_ASPECTS
from omnigraph.write.delta import RowMode, TableDelta
from omnigraph.write.migrate import check_data, check_nulls, kept_tables, move_table
from omnigraph.write.rules import check_values
from omnigraph.write.stage import stage
from omnigraph.write.validate import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.history.diff import Differ
    from omnigraph.history.resolve import Resolution
    from omnigraph.history.schemas import MergedSchema
    from omnigraph.history.tablediff import TableDiff
    from omnigraph.history.versions import CorrectedBase
    from omnigraph.history.views import Table
    from omnigraph.manifest import State, WriteTxn
    from omnigraph.storage.staged import Aspect

ROUNDS_MAX = 64
"""Settling a conflict may bring up another, of another entity; each round settles all that are known."""
EVERY_VIOLATION = 2**31
APPENDED_ROWS = 10_000
_ASPECTS: dict[int, Aspect] = {INSERT: "added", UPDATE: "changed", DELETE: "removed"}


class ThreeWay:
    """One merge. `run` decides about every entity, `stage` holds the outcome against the rules and stages it."""

    def __init__(
        self, differ: Differ, schema: MergedSchema, base: State, ours: State, theirs: State, what: str
    ) -> None:
        repository = differ.repository
        self._differ = differ
        self._schema = schema
        self.base, self.ours, self.theirs = (view_of(repository, state) for state in (base, ours, theirs))
        self._what = what
        self._same_schema = base.schema_hash == ours.schema_hash == theirs.schema_hash
        self._may_share = True
        self.shared = ALL_SHARED if self._same_schema else self.base.catalog.next_id
        self.versions = {table_key(table): self._versions(table) for table in schema.stored.catalog.tables}
        self.merges: dict[str, TableMerge] = {}
        self.conflicts: list[MergeConflict] = []
        self.open_conflicts: list[MergeConflict] = []
        self._adopted: dict[str, Versions] = {}
        self._insist_on_no_lost_changes()

    def _versions(self, table: Table) -> Versions:
        base, ours, theirs = (
            Version(view, counterpart(view, table, self.shared)) for view in (self.base, self.ours, self.theirs)
        )
        return Versions(table, base, ours, theirs, self.shared)

    def _insist_on_no_lost_changes(self) -> None:
        """A type that one side dropped must not be one the other has written to."""
        reasons: list[str] = []
        for side_view in (self.ours, self.theirs):
            kept = {self._of(versions, side_view) for versions in self.versions.values()}
            for side in side_view.sides():
                before = counterpart(self.base, side.table, self.shared)
                if side.key not in kept and (before is None or before.state.ref != side.state.ref):
                    reasons.append(f"{side.table.name} was dropped on one side, and its rows changed on the other")
        if reasons:
            raise SchemaConflict(self._what, reasons)

    def _of(self, versions: Versions, view: View) -> str | None:
        version = versions.ours if view is self.ours else versions.theirs
        return version.side.key if version.side is not None else None

    # -- deciding --------------------------------------------------------------------------------------

    @property
    def touched(self) -> list[str]:
        """Tables that the merge is about."""
        return [*self.merges, *(key for key in self._adopted if key not in self.merges)]

    def run(self, resolution: Resolution, corrections: Mapping[str, CorrectedBase]) -> None:
        """Decide about every entity their side changed."""
        self._may_share = self._schema.plan is None or resolution == NO_RESOLUTION
        keys = [key for key, versions in self.versions.items() if key in corrections or self._is_changed(versions)]
        merged = run_parallel([partial(self._run_table, key, resolution, corrections.get(key)) for key in keys])
        for key, merge in zip(keys, merged, strict=True):
            if merge is None:
                continue
            self.conflicts += merge.conflicts
            self.open_conflicts += merge.open_conflicts
            self.merges[key] = merge
            if key not in corrections and not merge.conflicts and self._may_adopt(merge.versions):
                self._adopted[key] = merge.versions

    def _is_changed(self, versions: Versions) -> bool:
        before, after = versions.base.side, versions.theirs.side
        return after is not None and (before is None or before.state.ref != after.state.ref)

    def _run_table(self, key: str, resolution: Resolution, corrected: CorrectedBase | None) -> TableMerge | None:
        versions = self.versions[key]
        theirs = self._diff(versions.base, versions.theirs)
        if not len(theirs) and corrected is None:
            return None
        ours = None if _is_as_base(versions) else self._diff(versions.base, versions.ours)
        return merge_table(versions, theirs, ours, resolution, corrected)

    def _diff(self, base: Version, side: Version) -> TableDiff:
        return self._differ.table(base.view, base.side, side.view, side.side, self.shared)

    def _may_adopt(self, versions: Versions) -> bool:
        """Whether their table can be taken as it is: ours is as the base's, and theirs has the columns wanted."""
        theirs = versions.theirs.side
        assert theirs is not None
        return self._may_share and _is_as_base(versions) and table_schema(theirs.table).equals(versions.schema)

    # -- validating and staging ------------------------------------------------------------------------

    def stage(self, txn: WriteTxn, resolution: Resolution, *, write: bool) -> bool:
        """Bring our side into the outcome's schema, hold the outcome against the rules, and stage it.

        Conflicts that are open already keep it from being staged, but not from being looked at as a whole.
        """
        try:
            self._move_tables(txn)
        except ValidationFailed as failed:
            self._note_violations(failed, resolution)
            return False
        tables = self._differ.repository.parts.tables
        base_keys = {
            key: versions.ours.side.key for key, versions in self.versions.items() if versions.ours.side is not None
        }
        ground = MergeGround(txn, tables, base_keys)
        settled = self._settle_all(ground, resolution) and not self.open_conflicts
        if not settled or (not write and self._schema.plan is None):
            return False
        try:
            return self._write(txn)
        except ValidationFailed as failed:
            self._note_violations(failed, NO_RESOLUTION)
            return False

    def _move_tables(self, txn: WriteTxn) -> None:
        plan = self._schema.plan
        if plan is None:
            return
        kept = kept_tables(plan)
        check_nulls(txn, plan, {key: pair for key, pair in kept.items() if key not in self._adopted})
        for key, versions in self.versions.items():
            ours, theirs = versions.ours.side, versions.theirs.side
            if key in self._adopted:
                self._adopt(txn, key, versions)
            elif ours is not None:
                move_table(txn, ours.table, versions.table, allow_data_loss=False)
            elif theirs is not None:
                unique = self._differ.repository.parts.runtime.ids.ulid()[-12:]
                txn.create(key, table_location(key, unique), versions.schema)
        staying = {versions.ours.side.key for versions in self.versions.values() if versions.ours.side is not None}
        for side in self.ours.sides():
            if side.key not in staying:
                txn.drop(side.key)

    def _adopt(self, txn: WriteTxn, key: str, versions: Versions) -> None:
        ours, theirs = versions.ours.side, versions.theirs.side
        assert theirs is not None
        if ours is None:
            txn.adopt(key, theirs.state, ALL_ASPECTS)
            return
        diff = self._diff(versions.base, versions.theirs)
        aspects: list[Aspect] = [aspect for op, aspect in _ASPECTS.items() if diff.count(op)]
        txn.adopt(key, theirs.state, aspects, ours.key)

    def _settle_all(self, ground: MergeGround, resolution: Resolution) -> bool:
        """Hold the outcome against the rules; where a side was chosen do as it says, and look again."""
        for _ in range(ROUNDS_MAX):
            try:
                self._validate(ground)
            except ValidationFailed as failed:
                if not self._note_violations(failed, resolution):
                    return False
            else:
                return True
        return False

    def _validate(self, ground: MergeGround) -> None:
        violations = Violations(EVERY_VIOLATION)
        deltas: dict[str, TableDelta] = {key: merge.delta() for key, merge in self.merges.items()}
        if not self._same_schema:
            for delta in deltas.values():
                check_values(delta, violations)
        validate(self._schema.stored.catalog, ground, deltas, violations)

    def _note_violations(self, failed: ValidationFailed, resolution: Resolution) -> bool:
        """Turn violations into conflicts; whether all of them were settled."""
        structure = Structure(self.versions, self.merges)
        settled = True
        for violation in failed.violations:
            conflict = structure.conflict(violation)
            if conflict.key not in {one.key for one in self.conflicts}:
                self.conflicts.append(conflict)
            take = resolution.choice(conflict).take
            if take is not None and structure.settle(violation, take):
                if self._schema.plan is None:
                    self._adopted = {}  # a table in which something was settled is no longer as theirs
                continue
            self.open_conflicts.append(conflict)
            settled = False
        return settled

    def _write(self, txn: WriteTxn) -> bool:
        changed = self._schema.plan is not None
        if self._schema.plan is None:
            for key, versions in self._adopted.items():
                self._adopt(txn, key, versions)
                changed = True
        rest = {key: self._to_stage(txn, key, merge) for key, merge in self.merges.items() if key not in self._adopted}
        changed = stage(txn, rest) or changed
        if self._schema.plan is not None:
            check_data(txn, self._schema.plan, kept_tables(self._schema.plan))
        return changed

    def _to_stage(self, txn: WriteTxn, key: str, merge: TableMerge) -> TableDelta:
        """Many new rows are appended without looking for their ids, as long as nobody else adds rows meanwhile."""
        delta = merge.delta()
        if not merge.is_all_new or delta.rows.num_rows < APPENDED_ROWS or txn.has_staged(key):
            return delta
        txn.depends_on(key, "added")
        return replace(delta, mode=RowMode.FRESH)


def _is_as_base(versions: Versions) -> bool:
    """Whether our side has the table as the base does."""
    base, ours = versions.base.side, versions.ours.side
    if base is None or ours is None:
        return base is ours
    if base.state.ref == ours.state.ref:
        return True
    same_chain = versions.base.view.state.chain == versions.ours.view.state.chain
    return same_chain and base.state.same_content(ours.state)


def counterpart(view: View, table: Table, shared_below: int) -> Side | None:
    """Find a table of the outcome as a view has it: by id as far as ids are shared, else by name."""
    for side in view.sides():
        if side.table.kind != table.kind:
            continue
        if min(side.table.id, table.id) < shared_below:
            if side.table.id == table.id:
                return side
        elif side.table.name == table.name:
            return side
    return None
