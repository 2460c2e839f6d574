"""Indexes follow a table: segments for what a fold has made large, and everything at once when asked to optimize."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnigraph.search.indexes import SEGMENTS_MAX, Coverage, IndexSpec, build_of, coverage_of, declared_specs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.manifest import Catalogs
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import IndexBuild, Staged

ROWS_MIN = 4096
"""Fewer rows of a fragment are scanned faster than an index over them is kept."""
VECTORS_MIN = 256
"""Fewer vectors teach no centroids."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An index that cannot be built yet, and why."""

    column: str
    reason: str


@dataclass(frozen=True)
class FoldIndexer:
    """Indexes what a fold has made large. Each row is indexed a logarithmic number of times, as it is folded."""

    tables: Tables
    catalogs: Catalogs

    def __call__(self, table_key: str, handle: TableHandle, schema_hash: str) -> Staged | None:
        """Stage index segments on top of the folded version."""
        if not any(fragment.rows >= ROWS_MIN for fragment in handle.fragments()):
            return None
        specs = declared_specs(self.catalogs.get(schema_hash).catalog, table_key)
        builds: list[IndexBuild] = []
        for coverage in coverage_of(self.tables, handle, specs):
            large = [fragment for fragment in coverage.uncovered if fragment.rows >= ROWS_MIN]
            if large and obstacle(coverage, handle) is None:
                builds.append(build_of(coverage, large))
        return self.tables.stage_indexes(handle, builds) if builds else None


def wanted_builds(
    tables: Tables, handle: TableHandle, specs: Sequence[IndexSpec]
) -> tuple[list[IndexBuild], tuple[Pending, ...]]:
    """What brings all indexes of a table to full coverage, and what cannot be built yet; many segments become one."""
    builds: list[IndexBuild] = []
    pending: list[Pending] = []
    for coverage in coverage_of(tables, handle, specs):
        reason = obstacle(coverage, handle)
        anew = len(coverage.live) > SEGMENTS_MAX
        if reason is not None:
            pending.append(Pending(coverage.spec.column, reason))
        elif anew:
            builds.append(build_of(coverage, handle.fragments(), anew=True))
        elif coverage.uncovered or coverage.dead:
            builds.append(build_of(coverage, coverage.uncovered))
    return builds, tuple(pending)


def index_everything(
    tables: Tables, handle: TableHandle, specs: Sequence[IndexSpec]
) -> tuple[Staged | None, tuple[Pending, ...]]:
    """Bring all indexes of a table to full coverage."""
    builds, pending = wanted_builds(tables, handle, specs)
    return (tables.stage_indexes(handle, builds) if builds else None), pending


def together(first: Staged | None, second: Staged | None) -> Staged | None:
    """Two stagings on top of each other as one."""
    if first is None or second is None:
        return first or second
    return replace(second, base=first.base, files=(*first.files, *second.files))


def obstacle(coverage: Coverage, handle: TableHandle) -> str | None:
    """Why an index cannot be built, None if it can: a vector index learns from vectors."""
    if coverage.spec.form != "IVF_FLAT" or coverage.live or not coverage.rows:
        return None
    found = 0
    for batch in handle.batches([coverage.spec.column], where=f"`{coverage.spec.column}` IS NOT NULL"):
        found += batch.num_rows
        if found >= VECTORS_MIN:
            return None
    return f"{found} vectors are too few to learn from: {VECTORS_MIN} are needed; until then all are read"
