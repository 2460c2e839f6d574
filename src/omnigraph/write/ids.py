"""New ids in large numbers: a load makes one for each edge, so making one must cost next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnigraph.model.clock import Ids

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]
_TIME_CHARACTERS = 10


def fresh_ids(ids: Ids) -> Callable[[], str]:
    """Give a function that makes ULIDs, each greater than the one before as long as the clock does not go back.

    A run of 2^20 ids shares its time and sixty random bits; the last twenty bits count.
    """
    return _runs(ids).__next__


def _runs(ids: Ids) -> Iterator[str]:
    while True:
        head = ids.ulid()[:_TIME_CHARACTERS] + "".join(_PAIRS[int(ids.random() * 1024)] for _ in range(6))
        for high in _PAIRS:
            start = head + high
            for low in _PAIRS:
                yield start + low
