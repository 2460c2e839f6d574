"""`optimize` in tasks: small fragments become large ones and indexes grow, piece by piece wherever there is room.

A task writes files that belong to no version yet; the driver makes one version of each table and all of them visible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from omnigraph.manifest import pinned
from omnigraph.pipeline.counting import RowCounter
from omnigraph.pipeline.jobs import each
from omnigraph.pipeline.slices import TableSlice, open_slice
from omnigraph.search.indexes import SEGMENTS_MAX
from omnigraph.search.optimize import publish_optimized, wanted_indexes
from omnigraph.search.upkeep import together, wanted_builds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from omnigraph.manifest import Repository
    from omnigraph.search.indexes import IndexSpec
    from omnigraph.search.optimize import OptimizedTable, StagedTable
    from omnigraph.storage.interface import TableHandle
    from omnigraph.storage.staged import IndexBuild
    from omnigraph.storage.tiers import Fold
    from omnigraph.write.progress import Progress

SEGMENT_ROWS = 1_000_000
"""Rows of a segment that one task is given, if an index may have more segments than one."""


@dataclass(frozen=True)
class Piece:
    """A part of the work on one table: fragments to be written as one, or an index segment."""

    key: str
    table: TableSlice
    work: Fold | IndexBuild

    @property
    def rows(self) -> int:
        """How much there is to do."""
        return self.work.rows


@dataclass(frozen=True)
class Upkeep:
    """One run, on one branch."""

    session: SparkSession
    repository: Repository
    progress: Progress | None = None

    def compacted(self, handles: dict[str, TableHandle]) -> dict[str, StagedTable]:
        """Tables with fewer and larger fragments, of those for which it is worth it."""
        tables = self.repository.parts.tables
        folds = {key: tables.compaction(handle) for key, handle in handles.items()}
        pieces = [self._piece(key, handles[key], fold) for key, some in folds.items() for fold in some]
        written = self._written(pieces, "compacting")
        return {
            key: (tables.stage_folds(handles[key], some, _fragments(pieces, written, key)), ())
            for key, some in folds.items()
            if some
        }

    def indexed(
        self, handles: dict[str, TableHandle], specs: dict[str, tuple[IndexSpec, ...]]
    ) -> dict[str, StagedTable]:
        """Tables with indexes that cover them, and what cannot be built yet."""
        tables = self.repository.parts.tables
        wanted = {key: wanted_builds(tables, handle, specs[key]) for key, handle in handles.items()}
        builds = {
            key: [part for build in some for part in divided(build, handles[key])] for key, (some, _) in wanted.items()
        }
        pieces = [
            self._piece(key, handles[key], build) for key, some in builds.items() for build in some if build.fragments
        ]
        written = self._written(pieces, "indexing")
        found: dict[str, StagedTable] = {}
        for key, some in builds.items():
            segments = [data for piece, data in zip(pieces, written, strict=True) if piece.key == key]
            staged = tables.stage_segments(handles[key], some, segments) if some else None
            found[key] = staged, wanted[key][1]
        return found

    def _piece(self, key: str, handle: TableHandle, work: Fold | IndexBuild) -> Piece:
        parts = self.repository.parts
        return Piece(key, TableSlice(parts.uri, handle.ref.location, handle.ref.version, (), dict(parts.options)), work)

    def _written(self, pieces: Sequence[Piece], stage: str) -> list[bytes]:
        """What each piece of work has written; the largest ones begin."""
        order = sorted(range(len(pieces)), key=lambda number: -pieces[number].rows)
        todo, counter = [pieces[number] for number in order], RowCounter(self.session)

        def work(number: int) -> bytes:
            done = run_piece(todo[number])
            counter.add(todo[number].rows)
            return done

        name = f"omnigraph-{stage}-{self.repository.parts.runtime.ids.ulid()}"
        found = each(self.session, len(todo), work, name, counter.report(self.progress, stage))
        return [data for _, data in sorted(zip(order, found, strict=True))]


def optimize_in_tasks(
    session: SparkSession, repository: Repository, branch: str, progress: Progress | None = None
) -> tuple[OptimizedTable, ...]:
    """Compact every table of a branch and bring its indexes to full coverage."""
    snapshot, upkeep = repository.snapshot(branch), Upkeep(session, repository, progress)
    specs = wanted_indexes(repository, snapshot)
    with pinned(repository, snapshot.state):
        handles = {key: snapshot.table(key) for key in specs}
        compacted = upkeep.compacted(handles)
        for key, (staged, _) in compacted.items():
            if staged is not None:
                handles[key] = repository.parts.tables.open(staged.ref)
        indexed = upkeep.indexed(handles, specs)
        both = {key: (together(compacted.get(key, (None, ()))[0], one), left) for key, (one, left) in indexed.items()}
        return publish_optimized(repository, snapshot, both)


def run_piece(piece: Piece) -> bytes:
    """Write what a piece of work is about; on whichever machine."""
    from omnigraph.storage.staged import IndexBuild

    tables, handle = open_slice(piece.table)
    if isinstance(piece.work, IndexBuild):
        return tables.write_segment(handle, piece.work)
    return orjson.dumps(tables.write_fold(handle, piece.work))


def divided(build: IndexBuild, handle: TableHandle) -> list[IndexBuild]:
    """A large segment as several: they add up, and each is written by a task of its own."""
    rows = {fragment.id: fragment.rows for fragment in handle.fragments()}
    size = max(SEGMENT_ROWS, -(-build.rows // (SEGMENTS_MAX // 2)))
    groups: list[list[int]] = [[]]
    for fragment in build.fragments:
        if groups[-1] and sum(rows[one] for one in groups[-1]) + rows[fragment] > size:
            groups.append([])
        groups[-1].append(fragment)
    return [
        replace(
            build,
            fragments=tuple(group),
            rows=sum(rows[one] for one in group),
            replaces=build.replaces if number == 0 else (),
        )
        for number, group in enumerate(groups)
    ]


def _fragments(pieces: Sequence[Piece], written: Sequence[bytes], key: str) -> list[str]:
    return [
        text for piece, data in zip(pieces, written, strict=True) if piece.key == key for text in orjson.loads(data)
    ]
