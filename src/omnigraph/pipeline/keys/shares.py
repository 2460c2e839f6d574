"""Cutting rows into shares by what their keys say: rows of one key meet in one share, wherever they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

SHARES_MAX = 1 << 16
_BLOCK_ROWS = 1 << 16
"""So many texts are hashed at once: it takes several numbers for each."""
_WORD = 8
_WORDS_MAX = 8
"""Texts with the same length, end and so many words at their start share a hash: it only decides a share."""
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(_WORD + 1)], np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)


def shares_of(columns: Sequence[pa.Array], count: int) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    """The share of each row, by the texts of its columns."""
    assert count <= SHARES_MAX
    rows = len(columns[0])
    found = np.zeros(rows, np.uint16)
    for start in range(0, rows if count > 1 else 0, _BLOCK_ROWS):
        mixed: Hashes | np.uint64 = np.uint64(0)
        for column in columns:
            mixed = _mixed(mixed ^ hashes(column.slice(start, _BLOCK_ROWS)))
        found[start : start + _BLOCK_ROWS] = (mixed >> np.uint64(32)) % np.uint64(count)
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


def hashes(values: pa.Array) -> Hashes:
    """A number for each value, the same for the same text in every process. Null is a text of its own."""
    if pa.types.is_temporal(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    whole = cast("pa.Array", values.cast(pa.string()).cast(pa.large_string()))
    buffers = whole.buffers()
    offsets = np.frombuffer(cast("pa.Buffer", buffers[1]), np.int64)[whole.offset : whole.offset + len(whole) + 1]
    found = _of_bytes(offsets, buffers[2]) if len(whole) else np.empty(0, np.uint64)
    if whole.null_count:
        found[np.asarray(pc.is_null(whole))] = _ODD
    return found


def _of_bytes(offsets: np.ndarray[tuple[int], np.dtype[np.int64]], data: pa.Buffer | None) -> Hashes:
    start, end = int(offsets[0]), int(offsets[-1])
    bytes_ = np.zeros(end - start + _WORD, np.uint8)
    if data is not None:
        bytes_[: end - start] = np.frombuffer(data, np.uint8)[start:end]
    words = np.ndarray((end - start + 1,), "<u8", bytes_, strides=(1,))  # the word that starts at each byte
    starts, lengths = offsets[:-1] - start, np.diff(offsets)
    found = _mixed(lengths.astype(np.uint64) + _ODD)
    longest = int(lengths.max())
    for at in range(0, min(longest, _WORD * _WORDS_MAX), _WORD):
        rows = np.flatnonzero(lengths > at)
        word = words[starts[rows] + at] & _MASKS[np.minimum(lengths[rows] - at, _WORD)]
        found[rows] = _mixed(found[rows] ^ word)
    if longest > _WORD * _WORDS_MAX:
        rows = np.flatnonzero(lengths > _WORD * _WORDS_MAX)
        found[rows] = _mixed(found[rows] ^ words[starts[rows] + lengths[rows] - _WORD])
    return found


def _mixed(values: Hashes) -> Hashes:
    with np.errstate(over="ignore"):
        values = values * _ODD
    return values ^ (values >> np.uint64(29))
