"""Rows in the order of a text column, whatever their number: sorted runs on a disk, merged batch by batch."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from omnigraph.model.compute import pc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RUN_BYTES = 64 << 20
BATCH_ROWS = 8192


def in_order(batches: Iterable[pa.Table], key: str, *, run_bytes: int = RUN_BYTES) -> Iterator[pa.Table]:
    """The rows of all batches by `key`, in batches. Holds `run_bytes` and one batch of each run; the rest is on a disk.

    The key is unique, or at least the rows of one key are alike.
    """
    with tempfile.TemporaryDirectory(prefix="omnigraph-") as folder:
        runs: list[Path] = []
        rows: list[pa.Table] = []
        for batch in batches:
            rows.append(batch)
            if sum(table.nbytes for table in rows) >= run_bytes:
                runs.append(_spill(_sorted(rows, key), Path(folder) / f"{len(runs)}.arrow"))
                rows = []
        last = _sorted(rows, key).to_batches(BATCH_ROWS) if rows else []
        streams = [iter(last), *map(_read, runs)]
        yield from _merged([_Run(stream, key) for stream in streams], key)


def _sorted(rows: list[pa.Table], key: str) -> pa.Table:
    whole = pa.concat_tables(rows).combine_chunks()
    return whole.take(pc.sort_indices(whole.column(key)))


def _spill(rows: pa.Table, path: Path) -> Path:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=BATCH_ROWS)
    return path


def _read(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as reader:
        yield from reader


class _Run:
    """A sorted run, read batch by batch."""

    def __init__(self, batches: Iterator[pa.RecordBatch], key: str) -> None:
        self._batches = batches
        self._key = key
        self.rows: pa.Table | None = None
        self._fill()

    def _fill(self) -> None:
        while self.rows is None or not self.rows.num_rows:
            batch = next(self._batches, None)
            if batch is None:
                self.rows = None
                return
            self.rows = pa.table(batch)

    @property
    def last(self) -> str:
        """The greatest key that is in memory."""
        assert self.rows is not None
        return cast("str", self.rows.column(self._key)[-1].as_py())

    def take_up_to(self, bound: str) -> pa.Table:
        """Give away the rows up to a key."""
        assert self.rows is not None
        keys = self.rows.column(self._key)
        count = cast("int", pc.sum(pc.less_equal(keys, pa.scalar(bound, keys.type)), min_count=0).as_py())
        taken, self.rows = self.rows.slice(0, count), self.rows.slice(count)
        self._fill()
        return taken


def _merged(runs: list[_Run], key: str) -> Iterator[pa.Table]:
    """No run has more in store below the least of what the runs end with in memory: up to there all is known."""
    while live := [run for run in runs if run.rows is not None]:
        if len(live) == 1 and live[0].rows is not None:
            yield live[0].take_up_to(live[0].last)
            continue
        bound = min(run.last for run in live)
        taken = [rows for run in live if (rows := run.take_up_to(bound)).num_rows]
        yield _sorted(taken, key)
