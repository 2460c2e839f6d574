"""New ids in large numbers: a load makes one for each edge, so making one must cost next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.model.clock import Ids

    NewIds = Callable[[int], pa.StringArray]
    """Gives so many new ids."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = np.frombuffer("".join(high + low for high in _ALPHABET for low in _ALPHABET).encode(), np.uint16)
_CHARACTERS = 26
_TIME_CHARACTERS = 10
_RUN = len(_PAIRS) ** 2


def fresh_ids(ids: Ids) -> NewIds:
    """Give a function that makes ULIDs, each greater than the one before as long as the clock does not go back.

    A run of 2^20 ids shares its time and sixty random bits; the last twenty bits count.
    """
    head, used = b"", _RUN

    def take(count: int) -> pa.StringArray:
        nonlocal head, used
        parts: list[pa.StringArray] = []
        while count:
            if used == _RUN:
                head, used = ids.ulid()[:_TIME_CHARACTERS].encode() + _random(ids), 0
            taken = min(count, _RUN - used)
            parts.append(_run(head, used, taken))
            used, count = used + taken, count - taken
        return pa.concat_arrays(parts) if parts else pa.array([], pa.string())

    return take


def _random(ids: Ids) -> bytes:
    return b"".join(_PAIRS[int(ids.random() * len(_PAIRS))].tobytes() for _ in range(6))


def _run(head: bytes, first: int, count: int) -> pa.StringArray:
    """Ids that start alike and count up, written as one text, two characters at a time."""
    numbers = np.arange(first, first + count, dtype=np.int32)
    texts = np.empty((count, _CHARACTERS // 2), np.uint16)
    texts[:, :-2] = np.frombuffer(head, np.uint16)
    texts[:, -2] = _PAIRS[numbers // len(_PAIRS)]
    texts[:, -1] = _PAIRS[numbers % len(_PAIRS)]
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(_CHARACTERS)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(texts))
