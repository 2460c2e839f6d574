"""How different things are: words in letters, vectors in direction."""

from __future__ import annotations

import numpy as np

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def within(left: str, right: str, edits: int) -> bool:
    """Whether a word becomes the other by at most so many letters put in, left out or exchanged (Levenshtein)."""
    if abs(len(left) - len(right)) > edits:
        return False
    if left == right:
        return True
    before = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        now = [row]
        for column, other in enumerate(right, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (letter != other)))
        if min(now) > edits:
            return False
        before = now
    return before[-1] <= edits


def cosine_distances(vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]], query: Floats) -> Floats:
    """Cosine distance of each vector from one: 0 for the same direction, 2 for the opposite; nan without a direction.

    Every row is summed by itself, in the same order: its distance does not depend on which others are asked for.
    """
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    length = np.sqrt(np.einsum("i,i->", query, query))
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = 1.0 - np.einsum("ij,j->i", wide, query) / (lengths * length)
    return np.where((lengths > 0) & (length > 0), np.clip(distances, 0.0, 2.0), np.nan)
