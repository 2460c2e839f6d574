"""What travels from tasks that read keys to tasks that judge them: small tables, each for one unit of the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FACTS = "unit int, fact string, split int, data binary"
_BATCH_BYTES = 2 << 20

NEW = "new"
"""Rows of the load: their id or tuple, where they are in the input (`at`) and among the rows of their split (`row`)."""
STORED = "stored"
"""Rows of the graph, with their address."""
END = "end"
"""Ids at which edges of the load end, each once."""
KEPT_END = "kept_end"
"""Ids at which edges end that the graph has and keeps, each once."""
SOURCE = "source"
"""Edges of the load by source: how many, and the last of them."""
KEPT_SOURCE = "kept_source"
"""Edges that the graph has and keeps, by source."""
LOST_SOURCE = "lost_source"
"""Sources of edges that the graph has no longer afterwards."""
TALLY = "tally"
"""How many rows of a split are written, and which of those that were uploaded are not."""
ERROR = "error"
"""An error that trying again would not mend."""


@dataclass(frozen=True)
class Fact:
    """A table for a unit; `split` is where its rows come from, -1 for the graph."""

    unit: int
    name: str
    split: int
    data: bytes

    def rows(self) -> pa.Table:
        """The table."""
        return pa.ipc.open_stream(self.data).read_all()


def packed(unit: int, name: str, split: int, rows: pa.Table) -> Fact:
    """A fact of a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(rows)
    return Fact(unit, name, split, sink.getvalue().to_pybytes())


def to_batches(facts: Iterable[Fact]) -> Iterator[pa.RecordBatch]:
    """As rows of Spark, a bounded number of bytes at a time."""
    held: list[Fact] = []
    size = 0
    for fact in facts:
        held.append(fact)
        size += len(fact.data)
        if size >= _BATCH_BYTES:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def from_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[list[Fact]]:
    """The facts of one unit after the other; they come sorted by unit."""
    held: list[Fact] = []
    for batch in batches:
        for index in range(batch.num_rows):
            unit, name, split, data = (batch.column(one)[index].as_py() for one in range(4))
            if held and held[-1].unit != unit:
                yield held
                held = []
            held.append(Fact(unit, name, split, data))
    if held:
        yield held


def _batch(facts: list[Fact]) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "unit": pa.array([fact.unit for fact in facts], pa.int32()),
            "fact": pa.array([fact.name for fact in facts], pa.string()),
            "split": pa.array([fact.split for fact in facts], pa.int32()),
            "data": pa.array([fact.data for fact in facts], pa.binary()),
        }
    )
