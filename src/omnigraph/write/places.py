"""Where rows come from: the word a place is counted in, and numbers that tell several files apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

_NUMBER_BITS = 40
_NUMBER_MASK = (1 << _NUMBER_BITS) - 1


def first_of_file(index: int) -> int:
    """The position of the first line of a file: lines of a later file have greater positions."""
    return index << _NUMBER_BITS | 1


def file_of(position: int) -> int:
    """Which file a position is in, counted from zero."""
    return position >> _NUMBER_BITS


def number_of(position: int) -> int:
    """The number of a line or row within its file."""
    return position & _NUMBER_MASK


@dataclass(frozen=True)
class Places:
    """Where rows come from: a position for each row, and for each file a word, which give `line 3`."""

    words: Mapping[int, str]
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]]

    def text(self, index: int) -> str:
        """The place of one row."""
        return place_text(self.words, int(self.numbers[index]))


def place_text(words: Mapping[int, str], position: int) -> str:
    """The place a position stands for."""
    return f"{words[file_of(position)]} {number_of(position)}"
