"""Columns of whole tables in memory: Arrow arrays in scan order, extended by what a new version appends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.execute.access import Numbers
    from omnigraph.storage.interface import TableHandle
    from omnigraph.storage.staged import FragmentIdentity

Fragments = tuple["FragmentIdentity", ...]


@dataclass(frozen=True)
class Column:
    """One column of a table, and of which fragments it was read."""

    fragments: Fragments
    chunks: tuple[pa.Array, ...]
    type: pa.DataType

    @cached_property
    def data(self) -> pa.ChunkedArray:
        """The whole column."""
        return pa.chunked_array(list(self.chunks), self.type)

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def __len__(self) -> int:
        return sum(len(chunk) for chunk in self.chunks)

    @cached_property
    def _starts(self) -> Numbers:
        return np.cumsum([0, *(len(chunk) for chunk in self.chunks)])

    def value(self, row: int) -> Any:
        """The value of one row."""
        number = 0 if len(self.chunks) == 1 else int(np.searchsorted(self._starts, row, side="right")) - 1
        return self.chunks[number][int(row - self._starts[number])].as_py()

    def take(self, ordinals: Numbers) -> pa.Array:
        """The values of rows; -1 is null."""
        lacks = len(ordinals) > 0 and int(ordinals.min()) < 0
        indices = pa.array(ordinals, mask=ordinals < 0) if lacks else pa.array(ordinals)
        if not self.chunks:
            return pa.nulls(len(ordinals), self.type)
        if len(self.chunks) == 1:
            return self.chunks[0].take(indices)
        return self._take_of_several(ordinals, indices if lacks else None)

    def _take_of_several(self, ordinals: Numbers, nullable: pa.Array | None) -> pa.Array:
        """Arrow would copy all chunks into one first; so each chunk is asked apart."""
        owners = np.searchsorted(self._starts, ordinals, side="right") - 1
        wanted = [np.flatnonzero(owners == number) for number in range(len(self.chunks))]
        pieces = [
            chunk.take(pa.array(ordinals[rows] - self._starts[number]))
            for number, (chunk, rows) in enumerate(zip(self.chunks, wanted, strict=True))
        ]
        places = np.empty(len(ordinals), np.int64)
        places[np.concatenate(wanted)] = np.arange(sum(map(len, wanted)))
        mask = None if nullable is None else ordinals < 0
        return pa.concat_arrays(pieces).take(pa.array(places, mask=mask))

    def first(self, rows: int) -> tuple[pa.Array, ...]:
        """The chunks of the first rows, without copying them."""
        found: list[pa.Array] = []
        for chunk in self.chunks:
            if rows > 0:
                found.append(chunk.slice(0, rows))
                rows -= len(found[-1])
        return tuple(found)


def common_start(one: Fragments, other: Fragments) -> int:
    """How many fragments two versions of a table begin with alike."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def rows_of(fragments: Fragments) -> int:
    """How many rows fragments have."""
    return sum(fragment.rows for fragment in fragments)


def read_columns(table: TableHandle, earlier: Mapping[str, Sequence[Column]]) -> dict[str, Column]:
    """Read columns of a table, given columns of other versions: what they begin with alike is not read again."""
    fragments = tuple(table.fragments())
    bases = {name: _best(columns, fragments) for name, columns in earlier.items()}
    found: dict[str, Column] = {}
    for known in sorted({known for known, _ in bases.values()}):
        names = [name for name, (count, _) in bases.items() if count == known]
        rows = table.scan(names, fragments=fragments[known:] if known else None)
        for name in names:
            base = bases[name][1]
            before = () if base is None else base.first(rows_of(fragments[:known]))
            fresh = [chunk for chunk in cast("Any", rows.column(name)).chunks if len(chunk)]
            found[name] = Column(fragments, _merged([*before, *fresh], len(before)), table.schema.field(name).type)
    return found


def _best(columns: Sequence[Column], fragments: Fragments) -> tuple[int, Column | None]:
    best: tuple[int, Column | None] = (0, None)
    for column in columns:
        count = common_start(column.fragments, fragments)
        if count > best[0]:
            best = (count, column)
    return best


def _merged(chunks: Sequence[pa.Array], known: int) -> tuple[pa.Array, ...]:
    """Few chunks: what is new becomes one, and joins those before it that are not at least twice as large.

    So a row is copied a logarithmic number of times, however often single rows are appended.
    """
    found = list(chunks[:known])
    fresh = list(chunks[known:])
    if not fresh:
        return tuple(found)
    size = sum(map(len, fresh))
    while found and len(found[-1]) < 2 * size:
        size += len(found[-1])
        fresh.insert(0, found.pop())
    return (*found, pa.concat_arrays(fresh) if len(fresh) > 1 else fresh[0])


def ranks_of(values: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """For each value its place among all of them in order."""
    places = np.empty(len(values), np.int32)
    places[order_of(values)] = np.arange(len(values), dtype=np.int32)
    return places


def order_of(values: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The places of values in their order."""
    return np.asarray(pc.sort_indices(values)).astype(np.int32)
