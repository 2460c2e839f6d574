"""Where keys are: the `id` column of small immutable fragments, remembered by the process.

A data file never changes, so what was read from it, or written to it, stays true. With it a keyed write to a warm
table needs no read at all; without it Lance would read the key column of every fragment of the tail again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from omnigraph.storage.staged import FragmentIdentity

CACHE_BYTES_MAX = 64 * 2**20


@dataclass(frozen=True)
class FragmentKeys:
    """The keys of a fragment's rows that are not deleted, and each row's offset in the fragment."""

    ids: pa.StringArray
    offsets: np.ndarray[tuple[int], np.dtype[np.uint32]]

    def without(self, offsets: Iterable[int]) -> FragmentKeys:
        """What is left when these rows are deleted."""
        keep = ~np.isin(self.offsets, np.fromiter(offsets, dtype=np.uint32))
        return FragmentKeys(self.ids.filter(keep), self.offsets[keep])

    def find(self, keys: pa.StringArray) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Offsets of the rows that have one of these keys."""
        hits = pc.is_in(self.ids, value_set=keys)  # pyright: ignore[reportAttributeAccessIssue]
        return self.offsets[np.asarray(hits)]

    @property
    def size(self) -> int:
        """Bytes this takes."""
        return self.ids.nbytes + self.offsets.nbytes


def whole_fragment(ids: pa.StringArray) -> FragmentKeys:
    """Keys of a fragment just written: row i is at offset i."""
    return FragmentKeys(ids, np.arange(len(ids), dtype=np.uint32))


class KeyCache:
    """Keys by fragment, least recently used ones forgotten first."""

    def __init__(self, bytes_max: int = CACHE_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._entries: OrderedDict[tuple[tuple[str, ...], str | None], FragmentKeys] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, fragment: FragmentIdentity) -> FragmentKeys | None:
        """The keys of a fragment, if they are remembered."""
        with self._lock:
            name = (fragment.files, fragment.deletion)
            found = self._entries.get(name)
            if found is not None:
                self._entries.move_to_end(name)
            return found

    def put(self, fragment: FragmentIdentity, keys: FragmentKeys) -> None:
        """Remember the keys of a fragment."""
        with self._lock:
            name = (fragment.files, fragment.deletion)
            if name in self._entries or keys.size > self._bytes_max // 4:
                return
            self._entries[name] = keys
            self._bytes += keys.size
            while self._bytes > self._bytes_max:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.size
