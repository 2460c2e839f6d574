"""A schema change from text to commit: tables are made, reshaped and dropped in the dark, then checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.manifest import StoredSchema, purge, table_location
from omnigraph.model.errors import BadRequest
from omnigraph.model.violations import Violations
from omnigraph.schema import plan_migration, schema_hash, table_key, table_schema
from omnigraph.schema.evolve import NoNulls
from omnigraph.write.columns import build_column
from omnigraph.write.data_checks import StoredRows, run_check

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.manifest import Commit, PublishPlan, Repository, WriteTxn
    from omnigraph.schema import EdgeType, MigrationPlan, NodeType
    from omnigraph.schema.evolve import UnsupportedChange

    Table = NodeType | EdgeType


class SchemaChangeRefused(BadRequest):
    """A schema change that cannot be made. Carries the reasons."""

    def __init__(self, refusals: tuple[UnsupportedChange, ...]) -> None:
        lines = [f"{refusal.entity}: {refusal}" for refusal in refusals]
        text = (
            lines[0] if len(lines) == 1 else "\n".join([f"{len(lines)} changes cannot be made", *map(_indented, lines)])
        )
        super().__init__(text, refusals=[refusal.to_json() for refusal in refusals])
        self.refusals = refusals


@dataclass(frozen=True)
class SchemaApplied:
    """What became of a schema change. Without steps nothing was to be done."""

    plan: MigrationPlan
    commit: Commit | None
    manifest_version: int

    @property
    def applied(self) -> bool:
        """Whether anything changed."""
        return self.commit is not None


def apply_schema(
    repository: Repository,
    text: str,
    *,
    branch: str,
    name: str = "<schema>",
    allow_data_loss: bool = False,
    actor: str | None = None,
) -> SchemaApplied:
    """Bring a branch to a schema: one commit, or none if nothing differs, or a refusal that changes nothing."""
    plans: list[MigrationPlan] = []

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        stored = repository.catalogs.get(txn.base.schema_hash)
        plan = plan_migration(stored.catalog, text, name, allow_data_loss)
        plans.append(plan)
        if not plan.supported:
            raise SchemaChangeRefused(plan.refusals)
        if not plan.changes:
            return None
        kept = kept_tables(plan)
        check_nulls(txn, plan, kept)
        unique = repository.parts.runtime.ids.ulid()[-12:]
        _stage(txn, plan, kept, unique, allow_data_loss=allow_data_loss)
        check_data(txn, plan, kept)
        new_hash = schema_hash(plan.catalog)
        repository.catalogs.put(new_hash, StoredSchema(text, plan.catalog))
        return txn.plan("schema_apply", actor=actor, schema_hash=new_hash)

    published = repository.write(prepare, branch, fresh=True)
    if allow_data_loss and published is not None:
        _purge(repository, plans[-1], published.commit)
    if published is None:
        return SchemaApplied(plans[-1], None, repository.base_state(branch, fresh=False).number)
    return SchemaApplied(plans[-1], published.commit, published.state.number)


def _purge(repository: Repository, plan: MigrationPlan, commit: Commit) -> None:
    """What was dropped for good is taken out of the past as well."""
    losing = [table_key(old) for old, new in kept_tables(plan).values() if _loses(old, new)]
    keys = [*_dropped(plan), *losing]
    if keys:
        before = repository.snapshot(commit.branch, commit.parents[0]).state
        purge(repository, frozenset(before.table(key).location for key in keys))


def _dropped(plan: MigrationPlan) -> list[str]:
    staying = {table.id for table in plan.catalog.tables}
    return [table_key(table) for table in plan.previous.tables if table.id not in staying]


def _loses(old: Table, new: Table) -> bool:
    """Whether a property of a table is gone."""
    return not old.properties_by_id.keys() <= new.properties_by_id.keys()


def kept_tables(plan: MigrationPlan) -> dict[str, tuple[Table, Table]]:
    """Tables that stay, before and after, by the key they have afterwards. Stable ids tell which is which."""
    before = {table.id: table for table in plan.previous.tables}
    return {table_key(new): (before[new.id], new) for new in plan.catalog.tables if new.id in before}


def _stage(
    txn: WriteTxn, plan: MigrationPlan, kept: dict[str, tuple[Table, Table]], unique: str, *, allow_data_loss: bool
) -> None:
    """Stage every table that comes, changes or goes."""
    for table in plan.catalog.tables:
        key = table_key(table)
        if key in kept:
            move_table(txn, *kept[key], allow_data_loss=allow_data_loss)
        else:
            txn.create(key, table_location(key, unique), table_schema(table))
    for key in _dropped(plan):
        txn.drop(key)


def move_table(txn: WriteTxn, old: Table, new: Table, *, allow_data_loss: bool) -> None:
    """Bring one table to its new name and columns, touching no more than has to be touched."""
    old_key, new_key = table_key(old), table_key(new)
    target = table_schema(new)
    if table_schema(old).equals(target):
        if old_key != new_key:
            txn.rename(old_key, new_key)
        return
    known = old.properties_by_id
    renames = {
        after: before
        for declared in new.properties
        if declared.id in known and known[declared.id].name != declared.name
        for after, before in zip(declared.columns, known[declared.id].columns, strict=True)
    }
    fills = {
        declared.name: build_column([declared.default], declared.type).array[0]
        for declared in new.properties
        if declared.id not in known and declared.default is not None
    }
    rewrite = allow_data_loss and _loses(old, new)
    txn.reshape(new_key, target, renames=renames, fills=fills, source=old_key, rewrite=rewrite)


def check_nulls(txn: WriteTxn, plan: MigrationPlan, kept: dict[str, tuple[Table, Table]]) -> None:
    """What becomes required has values already: checked first, because no such column can be written otherwise."""
    violations = Violations()

    def read(key: str, columns: tuple[str, ...]) -> pa.Table:
        old, new = kept[key]
        names = {p.name: old.properties_by_id[p.id].name for p in new.properties if p.id in old.properties_by_id}
        txn.depends_on(table_key(old), "added", "changed")
        rows = txn.snapshot.table(table_key(old)).scan([names.get(name, name) for name in columns])
        return rows.rename_columns(list(columns))

    for check in plan.data_checks:
        if isinstance(check, NoNulls) and check.table in kept:
            run_check(check, StoredRows(plan.catalog, read), violations)
    violations.raise_if_any()


def check_data(txn: WriteTxn, plan: MigrationPlan, kept: dict[str, tuple[Table, Table]]) -> None:
    """Hold the rows, as the steps leave them, against what the steps ask of them."""
    violations = Violations()

    def read(key: str, columns: tuple[str, ...]) -> pa.Table:
        if key in kept:
            txn.depends_on(table_key(kept[key][0]), "added", "changed")
        return txn.table(key).scan(list(columns))

    for check in plan.data_checks:
        if not isinstance(check, NoNulls):
            run_check(check, StoredRows(plan.catalog, read), violations)
    violations.raise_if_any()


def _indented(line: str) -> str:
    return f"  {line}"
