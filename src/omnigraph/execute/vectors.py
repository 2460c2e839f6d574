"""The vectors of whole tables in memory: rough distances of all say which few may be the nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.bindings import Mask
    from omnigraph.execute.memory import SnapshotMemory

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
    Small = np.ndarray[tuple[int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_ROUNDING = 2.0**-23
"""What one step of a sum of 32-bit numbers may be off by."""
_TAME = (1e-12, 1e12)
"""Lengths whose squares neither vanish nor overflow among 32-bit numbers."""
_BLOCK_ROWS = 16_384


@dataclass(frozen=True)
class VectorColumn:
    """The vectors of a table that point anywhere: in which rows they are, and one over their lengths."""

    count: int
    parts: tuple[tuple[Numbers, Matrix], ...]
    inverses: tuple[Small, ...]
    is_tame: bool

    @property
    def nbytes(self) -> int:
        """Bytes it takes beside the column itself."""
        return sum(12 * len(rows) for rows, _ in self.parts)

    def near(self, goal: Floats, ordinals: Numbers, count: int) -> Mask | None:
        """Which of these rows may be among the `count` nearest, ties included; None if only exact numbers tell."""
        if not self.is_tame or not count:
            return None
        unit = (goal / np.sqrt(goal @ goal)).astype(np.float32)
        rough = np.full(self.count, np.inf, np.float32)
        for (rows, part), inverse in zip(self.parts, self.inverses, strict=True):
            rough[rows] = 1 - (part @ unit) * inverse
        distances = rough[ordinals]
        if count >= len(distances):
            return np.isfinite(distances)
        bound = np.partition(distances, count - 1)[count - 1]
        return np.isfinite(distances) & (distances <= bound + 4 * _ROUNDING * (len(goal) + 16))


def vectors_of(memory: SnapshotMemory, key: str, name: str) -> VectorColumn:
    """The vectors of a table."""

    def build(_: Sequence[VectorColumn]) -> VectorColumn:
        parts: list[tuple[Numbers, Matrix]] = []
        inverses: list[Small] = []
        start, is_tame = 0, True
        for chunk in cast("list[pa.FixedSizeListArray]", memory.columns(key, [name])[name].data.chunks):
            present = np.flatnonzero(np.asarray(chunk.is_valid()))
            given: Any = np.asarray(chunk.drop_null().flatten(), np.float32).reshape(len(present), chunk.type.list_size)
            lengths = _lengths(given)
            somewhere = lengths > 0
            if not somewhere.all():
                present, given, lengths = present[somewhere], given[somewhere], lengths[somewhere]
            is_tame = is_tame and bool(((lengths > _TAME[0]) & (lengths < _TAME[1])).all())
            parts.append((present + start, given))
            inverses.append((1 / lengths).astype(np.float32))
            start += len(chunk)
        return VectorColumn(start, tuple(parts), tuple(inverses), is_tame)

    return memory.derived(key, name, "vectors", build)


def _lengths(vectors: Matrix) -> Floats:
    found = [
        np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        for block in (vectors[start : start + _BLOCK_ROWS] for start in range(0, len(vectors), _BLOCK_ROWS))
    ]
    return np.concatenate(found) if found else np.empty(0)
