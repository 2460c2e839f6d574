"""Whole lines of a text, cut only where somebody asks for one: most are read together and never looked at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_BREAK = 10


class Lines(Sequence[bytes]):
    """The lines of a text, without their ends. Every line of `text` ends in a line break."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    @cached_property
    def starts(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Where each line starts in the text, and where the last one ends."""
        breaks = np.flatnonzero(np.frombuffer(self.text, np.uint8) == LINE_BREAK)
        starts = np.zeros(len(breaks) + 1, np.int32)
        np.add(breaks, 1, out=starts[1:], casting="same_kind")
        return starts

    @cached_property
    def column(self) -> pa.BinaryArray:
        """The lines as Arrow's, with their ends; they share the text."""
        buffers = [None, pa.py_buffer(self.starts), pa.py_buffer(self.text)]
        return pa.BinaryArray.from_buffers(pa.binary(), len(self), buffers)

    @property
    def longest(self) -> int:
        """The bytes of the longest line."""
        return int(np.diff(self.starts).max()) - 1

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.text[:-1].split(b"\n")) if self.text else iter(())

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Lines: ...
    def __getitem__(self, index: int | slice) -> bytes | Lines:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            assert step == 1, "lines stay in their order"
            return Lines(self.text[self.starts[start] : self.starts[max(start, stop)]])
        at = range(len(self))[index]
        return self.text[self.starts[at] : self.starts[at + 1] - 1]
