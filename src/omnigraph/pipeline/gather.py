"""What tasks have staged, as one delta: the columns that checks look at, in the order of the input."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc
from omnigraph.model.violations import Violations
from omnigraph.pipeline.keys.judge import StagedKeys, gather_keys
from omnigraph.pipeline.keys.plan import SplitKeys
from omnigraph.pipeline.staging import get_keys
from omnigraph.pipeline.tasks import GIVEN, POSITION, STORED, check_copied
from omnigraph.storage.parallel import run_parallel
from omnigraph.storage.staged import Uploaded
from omnigraph.storage.tables import LanceTables
from omnigraph.write.batches import Batches
from omnigraph.write.collected import CollectedRows
from omnigraph.write.delta import RowMode
from omnigraph.write.gathered import GatheredRows
from omnigraph.write.modes import LoadMode
from omnigraph.write.places import first_of_file, place_text
from omnigraph.write.rows import RowBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.manifest import Repository, WriteTxn
    from omnigraph.pipeline.keys.passes import Passes
    from omnigraph.pipeline.staging import StagedLoad, StagedTable
    from omnigraph.schema import Catalog
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Staged
    from omnigraph.storage.store import Store
    from omnigraph.write.delta import Deltas, TableDelta
    from omnigraph.write.gathered import Gathered

KEYS_HERE_MAX = 500_000
"""So many rows are judged in this process at most; the keys of more stay in tasks."""

ROW = "@row"
"""The number of a row among all that were uploaded for its table; -1 for one that was not."""


def gather(repository: Repository, catalog: Catalog, staged: StagedLoad, passes: Passes, *, is_new: bool) -> Gathered:
    """Put the reports of all tasks together. `is_new`: the branch is made for this load."""
    check_copied(report.copied_bytes for report in staged.reports)
    rows = sum(table.rows for report in staged.reports for table in report.tables.values())
    if rows <= KEYS_HERE_MAX:
        return _gather_rows(repository.parts.store, catalog, staged)
    tables = repository.parts.tables
    assert isinstance(tables, LanceTables)
    words, bases = dict(enumerate(staged.words)), split_bases(staged)
    violations = Violations()
    for report, base in zip(staged.reports, bases, strict=True):
        violations.merge(moved(report.violations, base, words))
    keys = StagedKeys(
        staged.load_id,
        tables.address,
        LoadMode(staged.mode),
        words,
        tuple(SplitKeys(one.split, base, one.tables) for one, base in zip(staged.reports, bases, strict=True)),
        tuple(report.numbers for report in staged.reports),
        _fragments(staged),
        staged.skip,
        is_new,
    )
    return gather_keys(passes, repository.parts.store, catalog, keys, violations)


def _gather_rows(store: Store, catalog: Catalog, staged: StagedLoad) -> GatheredRows:
    """Few rows: their keys fit into this process, whose look-ups cost less than a pass over the graph."""
    words = dict(enumerate(staged.words))
    collected = CollectedRows(is_checked=True)
    bases, counts = split_bases(staged), dict[str, int]()
    for report, base in zip(staged.reports, bases, strict=True):
        violations = moved(report.violations, base, words)
        found = run_parallel([partial(_keys_of, store, table) for table in report.tables.values()])
        tables: dict[str, RowBatch] = {}
        for key, rows in zip(report.tables, found, strict=True):
            tables[key] = _rows(rows, base, counts.get(key, 0))
            counts[key] = counts.get(key, 0) + pc.sum(rows.column(STORED)).as_py()
        collected.add(Batches(tables, violations), catalog, words[staged.splits[report.split]])
    uploads = Uploads(_fragments(staged), counts)
    mode = LoadMode(staged.mode)
    return GatheredRows(collected.deltas(mode), collected.violations, uploads.stage, staged.load_id, "spark")


def _keys_of(store: Store, table: StagedTable) -> pa.Table:
    return pa.concat_tables([get_keys(store, path) for path in table.keys])


def split_bases(staged: StagedLoad) -> list[int]:
    """What is to be added to positions within each split: tasks count from one, or two if their file has begun."""
    bases: list[int] = []
    file, before = -1, 0
    for report in staged.reports:
        index = staged.splits[report.split]
        if index != file:
            file, before = index, 0
        starts = staged.starts[report.split]
        bases.append(first_of_file(file) - 1 + before - (0 if starts else 1))
        before += report.numbers
    return bases


def moved(violations: Violations, base: int, words: dict[int, str]) -> Violations:
    """The same violations at their places in the whole input."""
    found = Violations()
    found.counts.update(violations.counts)
    for one in violations.kept:
        if one.place is None:
            found.kept.append(one)
        else:
            position = one.position + base
            found.kept.append(replace(one, position=position, place=place_text(words, position)))
    return found


def _rows(keys: pa.Table, base: int, first: int) -> RowBatch:
    is_stored = keys.column(STORED).to_numpy()
    numbers = np.where(is_stored, first + np.cumsum(is_stored) - 1, -1)
    keys = keys.append_column(ROW, pa.array(numbers))
    positions = keys.column(POSITION).to_numpy() + base
    given = pa.concat_arrays(keys.column(GIVEN).chunks) if keys.num_rows else pa.array([], pa.bool_())
    return RowBatch(keys.drop_columns([POSITION, GIVEN, STORED]), positions, given, Violations())


def _fragments(staged: StagedLoad) -> dict[str, list[str]]:
    fragments: dict[str, list[str]] = {}
    for report in staged.reports:
        for key, table in report.tables.items():
            fragments.setdefault(key, []).extend(table.fragments)
    return fragments


class Uploads:
    """The fragments of each table, and how many rows they have; deltas say which of these they want."""

    def __init__(self, fragments: dict[str, list[str]], counts: dict[str, int]) -> None:
        self._fragments = fragments
        self._counts = counts

    def stage(self, txn: WriteTxn, deltas: Deltas) -> bool:
        """Stage all tables that change; False if none does."""
        wanted = {key: delta for key, delta in deltas.items() if len(delta.ids) or delta.replaces}
        stages = {key: self._stage_of(txn, delta) for key, delta in wanted.items()}
        return any(staged is not None for staged in txn.stage_together(stages).values())

    def _stage_of(self, txn: WriteTxn, delta: TableDelta) -> Callable[[Tables, TableHandle], Staged | None]:
        how = Uploaded(left_out=self._left_out(delta), replaces_all=delta.replaces)
        if delta.mode in (RowMode.INSERT, RowMode.UPSERT):
            if txn.base.table(delta.key).row_count:
                how = replace(how, keys=delta.ids)
            else:
                txn.depends_on(delta.key, "added")
            if how.left_out:  # what it became cannot be moved onto another base
                txn.depends_on(delta.key, "added", "changed", "removed")
        fragments = self._fragments[delta.key]
        return lambda tables, handle: tables.stage_uploaded(handle, fragments, how)

    def _left_out(self, delta: TableDelta) -> list[int]:
        """Rows that were uploaded, and then found to be replaced by a later one, or wrong."""
        every = self._counts[delta.key]
        if every == len(delta.ids):
            return []
        return np.setdiff1d(np.arange(every), delta.rows.column(ROW).to_numpy(), assume_unique=True).tolist()
