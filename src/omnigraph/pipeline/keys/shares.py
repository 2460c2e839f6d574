"""Cutting rows into shares by what their keys say: rows of one key meet in one share, wherever they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.model.hashes import BLOCK_ROWS, hashes, mixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.model.hashes import Hashes

SHARES_MAX = 1 << 16


def shares_of(columns: Sequence[pa.Array], count: int) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    """The share of each row, by the texts of its columns."""
    assert count <= SHARES_MAX
    rows = len(columns[0])
    found = np.zeros(rows, np.uint16)
    for start in range(0, rows if count > 1 else 0, BLOCK_ROWS):
        hashed: Hashes | np.uint64 = np.uint64(0)
        for column in columns:
            hashed = mixed(hashed ^ hashes(column.slice(start, BLOCK_ROWS)))
        found[start : start + BLOCK_ROWS] = (hashed >> np.uint64(32)) % np.uint64(count)
    return found


def cut(
    rows: pa.Table, shares: np.ndarray[tuple[int], np.dtype[np.uint16]], count: int
) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each share that has some, in their order."""
    if count == 1:
        if rows.num_rows:
            yield 0, rows
        return
    order = np.argsort(shares, kind="stable")  # by digits, since these are short numbers
    ends = np.cumsum(np.bincount(shares, minlength=count))
    rows, start = rows.combine_chunks(), 0
    for share, end in enumerate(ends.tolist()):
        if end > start:
            yield share, rows.take(pa.array(order[start:end])).combine_chunks()
        start = end
