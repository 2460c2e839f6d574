"""Numbers for texts, many at a time: the same for the same text in every process."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

BLOCK_ROWS = 1 << 16
"""So many texts are hashed at once: it takes several numbers for each."""
_WORD = 8
_WORDS_MAX = 8
"""Texts with the same length, end and so many words at their start share a hash: whoever asks bears with it."""
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(_WORD + 1)], np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)


def are_distinct(texts: pa.Array) -> bool:
    """Whether no text is there twice. Where all hashes differ all texts do; only if two agree, texts are compared."""
    parts = [hashes(texts.slice(start, BLOCK_ROWS)) for start in range(0, len(texts), BLOCK_ROWS)]
    found = np.sort(np.concatenate(parts)) if parts else np.empty(0, np.uint64)
    return bool((found[1:] != found[:-1]).all()) or len(pc.unique(texts)) == len(texts)


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
    found = mixed(lengths.astype(np.uint64) + _ODD)
    longest = int(lengths.max())
    for at in range(0, min(longest, _WORD * _WORDS_MAX), _WORD):
        rows = np.flatnonzero(lengths > at)
        word = words[starts[rows] + at] & _MASKS[np.minimum(lengths[rows] - at, _WORD)]
        found[rows] = mixed(found[rows] ^ word)
    if longest > _WORD * _WORDS_MAX:
        rows = np.flatnonzero(lengths > _WORD * _WORDS_MAX)
        found[rows] = mixed(found[rows] ^ words[starts[rows] + lengths[rows] - _WORD])
    return found


def mixed(values: Hashes) -> Hashes:
    """Spread what is in a few bits over many."""
    with np.errstate(over="ignore"):
        values = values * _ODD
    return values ^ (values >> np.uint64(29))
