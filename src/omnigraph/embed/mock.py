"""Vectors for tests and examples: always the same for the same text, and nobody has to be asked."""

from __future__ import annotations

import numpy as np

from omnigraph.model.hashing import fnv1a64

_MASK = 2**64 - 1


def mock_vector(text: str, dimension: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Numbers drawn from the hash of a text by xorshift, not yet of length 1."""
    seed = fnv1a64(text)
    drawn = np.empty(dimension, np.float64)
    for at in range(dimension):
        seed ^= (seed << 13) & _MASK
        seed ^= seed >> 7
        seed ^= (seed << 17) & _MASK
        drawn[at] = float(seed) / float(_MASK)
    return drawn.astype(np.float32) * np.float32(2) - np.float32(1)
