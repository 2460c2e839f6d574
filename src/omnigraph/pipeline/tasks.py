"""What a task of a load does: read a split, type and check its rows, write fragments, report. No Spark in here."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc
from omnigraph.model.errors import ResourceLimit
from omnigraph.model.types import blob_uri_column
from omnigraph.model.violations import Violations, keeping_all
from omnigraph.pipeline.slices import shared_tables
from omnigraph.pipeline.splits import lines_of, local_path
from omnigraph.pipeline.staging import StagedTable, TaskReport, folder, put_keys
from omnigraph.storage.store import connect
from omnigraph.write.batches import read_batches
from omnigraph.write.blob_policy import COPIED_BYTES_MAX, BlobPolicy
from omnigraph.write.collected import respelt, row_mode
from omnigraph.write.delta import TableDelta
from omnigraph.write.ids import fresh_ids
from omnigraph.write.inputs import named_table, read_records, tables_of, typed_frames
from omnigraph.write.load import LoadLimits
from omnigraph.write.modes import LoadMode
from omnigraph.write.places import Places
from omnigraph.write.rows import concat_rows
from omnigraph.write.rules import check_values
from omnigraph.write.sources import open_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from omnigraph.model.clock import Ids
    from omnigraph.pipeline.splits import Split
    from omnigraph.schema import Catalog, EdgeType, NodeType
    from omnigraph.storage.address import Address
    from omnigraph.storage.staged import TableRef
    from omnigraph.write.batches import Batches
    from omnigraph.write.ids import NewIds
    from omnigraph.write.rows import RowBatch

FRAGMENT_BYTES = 128 << 20
"""So much of a table is written as one fragment: what a task holds in memory at most, for each table."""


@dataclass(frozen=True)
class TaskPlan:
    """Everything a task needs to know; travels to it with the code."""

    load_id: str
    kind: str
    splits: tuple[Split, ...]
    address: Address
    catalog: Catalog
    tables: Mapping[str, TableRef]
    mode: LoadMode
    strict: bool = True
    type_name: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict[str, str])
    options: dict[str, str] | None = None
    allowed_blobs: tuple[str, ...] = ()
    skip: bool = False
    limits: LoadLimits = LoadLimits()
    remaps: Mapping[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])


def run_split(plan: TaskPlan, index: int) -> TaskReport:
    """Do one split. A second attempt writes files of its own; whose report is taken decides whose files count."""
    split, counted = plan.splits[index], _Counted()
    with keeping_all(plan.skip):
        writer = SplitWriter(plan, index)
        for batches in _read(plan, split, writer.new_ids, counted):
            writer.add(batches, split.word)
        return writer.finish(counted.numbers)


def run_frames(plan: TaskPlan, index: int, batches: Iterable[pa.RecordBatch]) -> TaskReport:
    """Do one partition of a Spark DataFrame."""
    assert plan.type_name is not None
    table, counted = named_table(plan.catalog, plan.type_name), _Counted()
    with keeping_all(plan.skip):
        writer = SplitWriter(plan, index)
        frames = counted.frames(pa.Table.from_batches([batch]) for batch in batches)
        for typed in typed_frames(frames, table, plan.mapping, "frame", writer.new_ids):
            writer.add(typed, "row")
        return writer.finish(counted.numbers)


@dataclass
class _Counted:
    """Counts the lines or rows that pass."""

    numbers: int = 0

    def lines(self, chunks: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        for first, chunk in chunks:
            self.numbers += len(chunk)
            yield first, chunk

    def frames(self, frames: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for frame in frames:
            self.numbers += frame.num_rows
            yield frame


def _read(plan: TaskPlan, split: Split, new_ids: NewIds, counted: _Counted) -> Iterator[Batches]:
    if plan.kind != "jsonl":
        table = named_table(plan.catalog, split.type_name)
        frames = counted.frames(_frames(plan, split))
        yield from typed_frames(frames, table, plan.mapping, plan.kind, new_ids, word=split.word)
    elif split.end is not None:
        for first, lines in counted.lines(lines_of(split, plan.options)):
            yield read_batches(lines, first, plan.catalog, new_ids=new_ids, word=split.word)
    else:
        source = open_lines(split.uri, plan.options)
        counting = replace(source, chunks=counted.lines(source.chunks), word=split.word)
        for batches, _ in read_records(counting, plan.strict, plan.catalog, new_ids):
            yield batches


def _frames(plan: TaskPlan, split: Split) -> Iterator[pa.Table]:
    if split.groups is None:
        yield from tables_of(split.uri, plan.kind, plan.options)
        return
    from pyarrow import parquet

    path = local_path(split.uri)
    assert path is not None
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(row_groups=list(split.groups)):
            yield pa.Table.from_batches([batch])


class SplitWriter:
    """Takes typed rows, holds them until they fill a fragment, checks and writes them."""

    def __init__(self, plan: TaskPlan, index: int) -> None:
        self._plan = plan
        self._index = index
        self._unique = secrets.token_hex(6)  # two attempts at one split must not write the same files
        self._violations = Violations()
        self._pending: dict[str, list[RowBatch]] = {}
        self._bytes: dict[str, int] = {}
        self._tables: dict[str, _Written] = {}
        self._copied_bytes: dict[str, int] = {}
        self.new_ids = fresh_ids(_ids())

    def add(self, batches: Batches, word: str) -> None:
        """Take in what became of a chunk."""
        self._violations.merge(batches.violations)
        for key, rows in batches.tables.items():
            self._pending.setdefault(key, []).append(rows)
            self._tables.setdefault(key, _Written())  # in the order of the input
            self._bytes[key] = self._bytes.get(key, 0) + rows.table.nbytes
            if self._bytes[key] >= FRAGMENT_BYTES:
                self._flush(key, word)

    def finish(self, numbers: int) -> TaskReport:
        """Write what is left, and report."""
        word = self._plan.splits[self._index].word if self._plan.splits else "row"
        for key in list(self._pending):
            self._flush(key, word)
        tables = {key: written.staged() for key, written in self._tables.items() if written.rows}
        return TaskReport(self._index, numbers, tables, self._violations, self._copied_bytes)

    def _flush(self, key: str, word: str) -> None:
        batch = concat_rows(self._pending.pop(key))
        self._bytes[key] = 0
        if not len(batch):
            return
        table = _table(self._plan.catalog, key)
        written = self._tables[key]
        written.remap.update(batch.remap)
        rows = respelt(table, batch.table, dict(self._plan.remaps))
        places = Places({0: word}, batch.positions)
        delta = TableDelta(table, rows, row_mode(self._plan.mode, batch.given_id), places=places)
        check_values(delta, self._violations, batch.bad_cells)
        delta = self._with_blobs(key, delta)
        is_right = self._is_right(batch.positions)
        self._keep_keys(key, written, key_columns(delta, batch, is_right))
        written.uploaded += int(is_right.sum())
        written.bytes += batch.table.nbytes
        self._check_limits()
        rows = delta.rows if is_right.all() else delta.rows.filter(pa.array(is_right))
        if rows.num_rows and (self._plan.skip or not self._violations.total):
            tables = shared_tables(self._plan.address.uri, tuple(sorted(self._plan.address.options.items())))
            written.fragments += tables.upload(tables.open(self._plan.tables[key]), rows)

    def _is_right(self, positions: np.ndarray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which rows follow the rules of single rows: the others are never written."""
        wrong = [one.position for one in self._violations.kept if one.place is not None] if self._plan.skip else []
        return ~np.isin(positions, np.array(wrong, np.int64))

    def _with_blobs(self, key: str, delta: TableDelta) -> TableDelta:
        from omnigraph.write.streams import read_reference

        policy = BlobPolicy(self._plan.allowed_blobs, read_reference)
        keep = self._plan.mode is LoadMode.OVERWRITE
        admitted = policy.admit({key: delta}, self._violations, keep_references=keep)[key]
        for name, count in copied_bytes(delta, admitted).items():
            self._copied_bytes[name] = self._copied_bytes.get(name, 0) + count
        check_copied([self._copied_bytes])
        return admitted

    def _check_limits(self) -> None:
        tables = self._tables.values()
        self._plan.limits.check(sum(table.rows for table in tables), sum(table.bytes for table in tables))

    def _keep_keys(self, key: str, written: _Written, rows: pa.Table) -> None:
        """Files as they come: what a task holds does not grow with its split."""
        stem = f"{folder(self._plan.load_id)}/{self._index:06d}-{key.replace(':', '-')}"
        path = f"{stem}-{self._unique}-{len(written.keys)}.arrow"
        put_keys(connect(self._plan.address), path, rows)
        written.keys.append(path)
        written.rows += rows.num_rows
        written.given += int(np.asarray(rows.column(GIVEN)).sum())


def copied_bytes(before: TableDelta, after: TableDelta) -> dict[str, int]:
    """How many bytes were copied in place of references, by property."""
    found: dict[str, int] = {}
    for declared in before.table.properties:
        uri = blob_uri_column(declared.name)
        if declared.type.is_blob and uri in before.rows.schema.names:
            was, now = before.rows.column(uri), after.rows.column(uri)
            copied = after.rows.column(declared.name).filter(pc.and_(pc.is_valid(was), pc.is_null(now)))
            if len(copied):
                found[f"{before.key}.{declared.name}"] = pc.sum(pc.binary_length(copied)).as_py() or 0
    return found


def check_copied(counts: Iterable[Mapping[str, int]]) -> None:
    """Refuse references to more bytes than a load may copy, for each property."""
    totals: dict[str, int] = {}
    for each in counts:
        for name, count in each.items():
            totals[name] = totals.get(name, 0) + count
            if totals[name] > COPIED_BYTES_MAX:
                raise ResourceLimit("external Blob object bytes", limit=COPIED_BYTES_MAX, actual=totals[name])


@dataclass
class _Written:
    rows: int = 0
    given: int = 0
    uploaded: int = 0
    bytes: int = 0
    keys: list[str] = field(default_factory=list[str])
    fragments: list[str] = field(default_factory=list[str])
    remap: dict[str, str] = field(default_factory=dict[str, str])

    def staged(self) -> StagedTable:
        return StagedTable(
            self.rows,
            tuple(self.keys),
            self.given,
            self.uploaded,
            self.bytes,
            tuple(self.fragments),
            self.remap,
        )


POSITION, GIVEN, STORED = "@position", "@given", "@stored"


def key_columns(delta: TableDelta, batch: RowBatch, is_stored: np.ndarray) -> pa.Table:
    """What checks of several rows look at: ids, ends, members of `@unique`; and where each row was and is."""
    members = {name for names in delta.table.uniques for name in names}
    wanted = [name for name in delta.rows.schema.names if name in members or name in delta.table.fields]
    positions = pa.array(np.asarray(batch.positions, np.int64))
    keys = delta.rows.select(wanted).append_column(POSITION, positions).append_column(GIVEN, batch.given_id)
    return keys.append_column(STORED, pa.array(is_stored))


def _table(catalog: Catalog, key: str) -> NodeType | EdgeType:
    found = catalog.tables_by_key.get(key)
    assert found is not None
    return found


@cache
def _ids() -> Ids:
    from omnigraph.model.clock import SystemRuntime

    random.seed()  # workers are forked, and must not go on where their parent was
    return SystemRuntime().ids
