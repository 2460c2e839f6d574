"""Adjacency on the disk: who is whose neighbour, saved beside the graph so that a new process need not sort edges.

Derived state, like an index: a file names the versions it was made of, and has sums of its arrays. One that is missing
or damaged, or was made of something else, is not used; nobody has to know. Files are written behind a query that had
to sort many edges, never on the way of a commit, and `cleanup` removes those of versions that no branch shows.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnigraph.execute.adjacency import Adjacency
from omnigraph.execute.endpoints import Origin
from omnigraph.manifest.topology import topology_folder, topology_path
from omnigraph.model.errors import OmniGraphError
from omnigraph.storage.mapped import read_mapped
from omnigraph.storage.staged import FragmentIdentity, TableRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from omnigraph.storage.store import Store

EDGES_MIN = 100_000
"""Fewer edges are read and sorted about as fast as a file is opened and checked."""
KEPT = 3
"""Files of one edge table and direction; older ones are deleted when one is written."""
_MAGIC = b"OGADJ001"
_LENGTHS = struct.Struct("<II")
_ALIGNMENT = 64
_BLOCK = 4096
_ARRAYS = (("offsets", np.int64), ("targets", np.int32), ("edges", np.int32))


@dataclass(frozen=True, slots=True)
class TopologyKey:
    """What an adjacency was made of: an edge table and its node tables at their versions, and in which direction."""

    edge: TableRef
    source: TableRef
    target: TableRef
    direction: str

    @property
    def path(self) -> str:
        """Where its file is."""
        return topology_path(self.edge, self.source, self.target, self.direction)


@dataclass(frozen=True)
class Saved:
    """An adjacency as a file has it."""

    adjacency: Adjacency
    origin: Origin


class Topology:
    """The adjacency files of one graph."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self, key: TopologyKey) -> Saved | None:
        """The saved adjacency, if there is a sound one."""
        return self._read(key.path, [astuple(ref) for ref in (key.edge, key.source, key.target)])

    def size(self, key: TopologyKey) -> int | None:
        """How many bytes the file has, None if there is none."""
        try:
            info = self._store.stat(key.path)
        except OmniGraphError:
            return None
        return None if info is None else info.size

    @property
    def is_local(self) -> bool:
        """Whether files are mapped, not fetched."""
        return not self._store.lists_in_order

    def earlier(self, key: TopologyKey) -> Iterator[Saved]:
        """Sound adjacencies of other versions, the newest first."""
        for path in self._others(key):
            found = self._read(path, None)
            if found is not None:
                yield found

    def save(self, key: TopologyKey, adjacency: Adjacency, origin: Origin) -> None:
        """Write a file behind the caller's back. What goes wrong there is nobody's loss."""
        _in_background(lambda: self._write(key, adjacency, origin))

    def _read(self, path: str, refs: list[tuple[Any, ...]] | None) -> Saved | None:
        try:
            data = read_mapped(self._store, path)
        except OmniGraphError:
            return None
        return None if data is None else decode(data, refs)

    def _write(self, key: TopologyKey, adjacency: Adjacency, origin: Origin) -> None:
        self._store.put(key.path, encode(key, adjacency, origin))
        self._store.delete(self._others(key)[KEPT - 1 :])

    def _others(self, key: TopologyKey) -> list[str]:
        """Files of the same edges in the same direction at other versions, the newest first."""
        try:
            listed = list(self._store.list(topology_folder(key.edge)))
        except OmniGraphError:
            return []
        mine = [info for info in listed if info.path.endswith(f".{key.direction}") and info.path != key.path]
        return [info.path for info in sorted(mine, key=lambda info: -info.modified_us)]


# -- the file ------------------------------------------------------------------------------------------


def encode(key: TopologyKey, adjacency: Adjacency, origin: Origin) -> bytes:
    """Magic, lengths and sum of the header, the header as JSON, then the arrays, each aligned."""
    arrays = [np.ascontiguousarray(getattr(adjacency, name), kind) for name, kind in _ARRAYS]
    header = {
        "refs": [astuple(ref) for ref in (key.edge, key.source, key.target)],
        "simple": adjacency.is_simple,
        "origin": [[astuple(one) for one in part] for part in (origin.edges, origin.sources, origin.targets)],
        "arrays": [[len(array), _sum(array)] for array in arrays],
    }
    text = json.dumps(header).encode()
    parts = [_MAGIC, _LENGTHS.pack(len(text), zlib.crc32(text)), text]
    size = sum(map(len, parts))
    for array in arrays:
        padding = -size % _ALIGNMENT
        parts += [bytes(padding), cast("bytes", array.data.cast("B") if len(array) else b"")]
        size += padding + array.nbytes
    return b"".join(parts)


def decode(data: memoryview, refs: list[tuple[Any, ...]] | None) -> Saved | None:
    """Read a file; None if it is damaged, of another format, or not made of these versions."""
    try:
        return _decoded(data, refs)
    except (ValueError, KeyError, TypeError, IndexError, struct.error):
        return None


def _decoded(data: memoryview, refs: list[tuple[Any, ...]] | None) -> Saved | None:
    start = len(_MAGIC) + _LENGTHS.size
    length, checksum = _LENGTHS.unpack(data[len(_MAGIC) : start])
    text = bytes(data[start : start + length])
    if bytes(data[: len(_MAGIC)]) != _MAGIC or len(text) != length or zlib.crc32(text) != checksum:
        return None
    header = json.loads(text)
    if refs is not None and [tuple(ref) for ref in header["refs"]] != refs:
        return None
    arrays: list[Any] = []
    at = start + length
    for (_, kind), (count, expected) in zip(_ARRAYS, header["arrays"], strict=True):
        at += -at % _ALIGNMENT
        array = np.frombuffer(data, kind, count, at)
        if _sum(array) != expected:
            return None
        arrays.append(array)
        at += array.nbytes
    origin = Origin(*(tuple(_fragment(*one) for one in part) for part in header["origin"]))
    return Saved(Adjacency(*arrays, is_simple=header["simple"]), origin)


def _fragment(number: int, files: list[str], deletion: str | None, rows: int, size: int) -> FragmentIdentity:
    return FragmentIdentity(number, tuple(files), deletion, rows, size)


def _sum(array: np.ndarray[Any, Any]) -> int:
    """A checksum that costs little more than reading: sums of blocks, and the order of these."""
    raw = array.view(np.uint8)
    whole = len(raw) - len(raw) % _BLOCK
    blocks = raw[:whole].view(np.uint64).reshape(-1, _BLOCK // 8).sum(axis=1, dtype=np.uint64)
    return zlib.crc32(raw[whole:].tobytes(), zlib.crc32(blocks.tobytes()))


# -- writing behind ------------------------------------------------------------------------------------

_writers: list[ThreadPoolExecutor] = []
_pending: list[Future[None]] = []


def _in_background(write: Callable[[], None]) -> None:
    def safely() -> None:
        try:
            write()
        except OmniGraphError:
            return

    if not _writers:
        _writers.append(ThreadPoolExecutor(1, thread_name_prefix="omnigraph-topology"))
    _pending[:] = [future for future in _pending if not future.done()]
    _pending.append(_writers[0].submit(safely))


def wait_for_writes() -> None:
    """Wait until everything that is to be saved so far is."""
    for future in _pending:
        future.result()


def _forget_after_fork() -> None:
    """A forked process has no threads of its parent."""
    _writers.clear()
    _pending.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
