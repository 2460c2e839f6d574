"""`optimize`: large fragments, full indexes. And `status`: how far the indexes have come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from omnigraph.model.names import MAIN
from omnigraph.search.indexes import coverage_of, declared_specs
from omnigraph.search.upkeep import Pending, index_everything, obstacle, together
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.manifest import Repository, Snapshot
    from omnigraph.search.indexes import IndexSpec
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Staged

_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class OptimizedTable:
    """What was done for one table."""

    key: str
    fragments_removed: int
    fragments_added: int
    is_committed: bool
    """False if there was nothing to do, or somebody else wrote to the table meanwhile."""
    is_lost: bool
    version: int
    """The version that is visible now."""
    pending: tuple[Pending, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """One index of one table, and how far it has come."""

    table: str
    column: str
    form: str
    rows: int
    covered_rows: int
    segments: int
    reason: str | None
    """Why it cannot be built yet."""

    @property
    def state(self) -> str:
        """Whether it covers the table: ready, partial, missing or pending. Answers are the same with all of them."""
        if self.covered_rows == self.rows:
            return "ready"
        if self.reason is not None:
            return "pending"
        return "partial" if self.covered_rows else "missing"


def optimize(repository: Repository, branch: str = MAIN) -> tuple[OptimizedTable, ...]:
    """Compact every table of a branch and bring its indexes to full coverage: one entry, and no commit.

    Nobody waits for it: what is written meanwhile stays, and a table that was written to is left for the next time.
    """
    snapshot = repository.snapshot(branch)
    return publish_optimized(repository, snapshot, _stage_all(repository, snapshot))


StagedTable = tuple["Staged | None", "tuple[Pending, ...]"]
"""A table as it will be, and what could not be indexed yet."""


def wanted_indexes(repository: Repository, snapshot: Snapshot) -> dict[str, tuple[IndexSpec, ...]]:
    """The indexes that tables should have, by table."""
    catalog = repository.catalogs.get(snapshot.schema_hash).catalog
    return {key: declared_specs(catalog, key) for key in sorted(snapshot.state.tables)}


def stage_optimized(tables: Tables, handle: TableHandle, specs: Sequence[IndexSpec]) -> StagedTable:
    """Compact a table and index all of it. Nobody sees it yet."""
    compacted = tables.stage_compaction(handle)
    indexed, pending = index_everything(tables, handle if compacted is None else tables.open(compacted.ref), specs)
    return together(compacted, indexed), pending


def publish_optimized(
    repository: Repository, snapshot: Snapshot, staged: Mapping[str, StagedTable]
) -> tuple[OptimizedTable, ...]:
    """Make optimized tables visible, but those that were written to since the snapshot."""
    changed = {key: one for key, (one, _) in staged.items() if one is not None}
    published = repository.publish_upkeep(snapshot.state, changed)
    return tuple(
        _report(repository, snapshot, key, one, pending, key in published) for key, (one, pending) in staged.items()
    )


def index_status(repository: Repository, snapshot: Snapshot) -> tuple[IndexStatus, ...]:
    """How far every index of a snapshot has come."""
    tables = repository.parts.tables
    found: list[IndexStatus] = []
    for key, specs in wanted_indexes(repository, snapshot).items():
        handle = snapshot.table(key)
        for each in coverage_of(tables, handle, specs):
            reason = None if each.is_complete else obstacle(each, handle)
            found.append(
                IndexStatus(key, each.spec.column, each.spec.form, each.rows, each.covered_rows, len(each.live), reason)
            )
    return tuple(found)


def _stage_all(repository: Repository, snapshot: Snapshot) -> dict[str, StagedTable]:
    tables, wanted = repository.parts.tables, wanted_indexes(repository, snapshot)
    keys = list(wanted)
    staged: dict[str, StagedTable] = {}
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        done = run_parallel([partial(stage_optimized, tables, snapshot.table(key), wanted[key]) for key in part])
        staged.update(zip(part, done, strict=True))
    return staged


def _report(
    repository: Repository,
    snapshot: Snapshot,
    key: str,
    staged: Staged | None,
    pending: tuple[Pending, ...],
    is_committed: bool,
) -> OptimizedTable:
    before = snapshot.state.table(key).ref
    if staged is None or not is_committed:
        return OptimizedTable(key, 0, 0, False, staged is not None, before.version, pending)
    old, new = (
        {fragment.files for fragment in repository.parts.tables.open(ref).fragments()} for ref in (before, staged.ref)
    )
    return OptimizedTable(key, len(old - new), len(new - old), True, False, staged.ref.version, pending)
