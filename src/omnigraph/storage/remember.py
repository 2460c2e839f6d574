"""Narrow columns of small immutable fragments, remembered by the process.

A data file never changes, so what was read from it, or written to it, stays true. With it a keyed write to a warm
table, or a check that endpoints exist, needs no read at all; without it Lance would read the column of every fragment
of the tail again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from omnigraph.storage.staged import FragmentIdentity

CACHE_BYTES_MAX = 64 * 2**20

ColumnId: TypeAlias = tuple[int, pa.DataType]
"""A field's id and type. Not its name: after a rename the same files have another column under the old name."""

Offsets: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint32]]


@dataclass(frozen=True)
class FragmentColumns:
    """Columns of a fragment's rows that are not deleted, in scan order, and each row's offset in the fragment."""

    offsets: Offsets
    columns: Mapping[ColumnId, pa.Array]

    def without(self, offsets: Iterable[int]) -> FragmentColumns:
        """What is left when these rows are deleted."""
        keep = ~np.isin(self.offsets, np.fromiter(offsets, dtype=np.uint32))
        mask = pa.array(keep)
        return FragmentColumns(self.offsets[keep], {name: one.filter(mask) for name, one in self.columns.items()})

    def joined(self, other: FragmentColumns) -> FragmentColumns:
        """The same rows with the columns of both."""
        return FragmentColumns(self.offsets, {**self.columns, **other.columns})

    def only(self, wanted: Container[ColumnId]) -> FragmentColumns:
        """The same rows with some of the columns."""
        return FragmentColumns(self.offsets, {name: one for name, one in self.columns.items() if name in wanted})

    @cached_property
    def size(self) -> int:
        """Bytes this takes."""
        return self.offsets.nbytes + sum(column.nbytes for column in self.columns.values())


def whole_fragment(columns: Mapping[ColumnId, pa.ChunkedArray]) -> FragmentColumns:
    """Columns of a fragment just written: row i is at offset i."""
    rows = len(next(iter(columns.values())))
    return FragmentColumns(np.arange(rows, dtype=np.uint32), {name: own(column) for name, column in columns.items()})


def own(column: pa.ChunkedArray) -> pa.Array:
    """A copy that keeps alive nothing but itself; a slice would hold the whole table it comes from."""
    taken = column.take(pa.array(np.arange(len(column))))
    return taken.chunk(0) if taken.num_chunks == 1 else pa.concat_arrays(taken.chunks or [pa.array([], column.type)])


class ColumnCache:
    """Columns by fragment; those of the least recently used fragments are forgotten first."""

    def __init__(self, bytes_max: int = CACHE_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._entries: OrderedDict[tuple[tuple[str, ...], str | None], FragmentColumns] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, fragment: FragmentIdentity) -> FragmentColumns | None:
        """What is remembered of a fragment."""
        with self._lock:
            name = (fragment.files, fragment.deletion)
            found = self._entries.get(name)
            if found is not None:
                self._entries.move_to_end(name)
            return found

    def put(self, fragment: FragmentIdentity, fresh: FragmentColumns) -> None:
        """Remember columns of a fragment, besides those remembered already."""
        if fresh.size > self._bytes_max // 4:
            return
        with self._lock:
            name = (fragment.files, fragment.deletion)
            known = self._entries.pop(name, None)
            merged = fresh if known is None else known.joined(fresh)
            self._bytes += merged.size - (0 if known is None else known.size)
            self._entries[name] = merged
            while self._bytes > self._bytes_max:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.size
