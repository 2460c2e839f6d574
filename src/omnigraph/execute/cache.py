"""What is kept in memory of snapshots: bounded by bytes, shared by the process and its threads.

A value belongs to a family, such as one column of one table, and to a version of it. Versions never change, so a value
stays true for ever; a new version is made from an earlier one of its family where that is cheaper than anew.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, OrderedDict
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Family = tuple[str, ...]
Version = tuple[object, ...]
SIZE_VARIABLE = "OMNIGRAPH_CACHE_BYTES"
"""The variable of the environment that says how large the cache of the process may grow."""
_MEMORY_SHARE = 4
"""By default the cache may take this part of the machine's memory."""
_FALLBACK_BYTES = 1 << 30


class Sized(Protocol):
    """Something that knows how many bytes it takes."""

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        ...


V = TypeVar("V", bound=Sized)


@dataclass(frozen=True, slots=True)
class _Key:
    family: Family
    version: Version


class SnapshotCache:
    """Values by family and version; the least recently used go first. Each is built by one thread at a time."""

    def __init__(self, bytes_max: int | None = None) -> None:
        self.bytes_max = bytes_max if bytes_max is not None else _default_bytes()
        self._bytes = 0
        self._entries: OrderedDict[_Key, Sized] = OrderedDict()
        self._families: dict[Family, list[Version]] = {}
        self._tables: Counter[str] = Counter()
        self._building: dict[_Key, _Turn] = {}
        self._lock = threading.Lock()
        self._spent: dict[str, float] = {}

    def spend(self, names: Collection[str], cost: float) -> float:
        """Note what was spent on doing without some tables in memory, and tell how much that is by now."""
        with self._lock:
            for name in names:
                self._spent[name] = self._spent.get(name, 0.0) + cost
            return min((self._spent[name] for name in names), default=0.0)

    @property
    def bytes(self) -> int:
        """Bytes of everything kept."""
        return self._bytes

    def holds(self, table: str) -> bool:
        """Whether there is anything of a table, whose name is what its families begin with."""
        with self._lock:
            return table in self._tables

    def peek(self, family: Family, version: Version) -> Sized | None:
        """The value, if it is there. Nothing is built, and it counts as no use."""
        with self._lock:
            return self._entries.get(_Key(family, version))

    def earlier(self, family: Family) -> list[Sized]:
        """The values of all versions that are there, the newest first."""
        with self._lock:
            versions = self._families.get(family, [])
            return [self._entries[_Key(family, version)] for version in reversed(versions)]

    def get(self, family: Family, version: Version, build: Callable[[Sequence[V]], V]) -> V:
        """The value; built if it is not there, given those of other versions, the newest first."""
        return self.get_all([family], version, lambda earlier: {family: build(earlier[family])})[family]

    def get_all(
        self,
        families: Sequence[Family],
        version: Version,
        build: Callable[[Mapping[Family, Sequence[V]]], Mapping[Family, V]],
    ) -> dict[Family, V]:
        """Values of several families at one version. Those that are not there are built together."""
        found: dict[Family, V] = {}
        missing = self._take(families, version, found)
        if not missing:
            return found
        with ExitStack() as turns:
            for family in sorted(missing):  # in one order, so that nobody waits for who waits for him
                turns.enter_context(self._turn(_Key(family, version)))
            missing = self._take(missing, version, found)
            if missing:
                built = build({family: cast("list[V]", self.earlier(family)) for family in missing})
                for family in missing:
                    found[family] = built[family]
                    self._keep(_Key(family, version), built[family])
        return {family: found[family] for family in families}

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self._families.clear()
            self._tables.clear()
            self._bytes = 0

    # -- inside ----------------------------------------------------------------------------------------

    def _take(self, families: Sequence[Family], version: Version, found: dict[Family, Any]) -> list[Family]:
        """Put the values that are there into `found`; the rest is returned."""
        missing: list[Family] = []
        with self._lock:
            for family in dict.fromkeys(families):
                key = _Key(family, version)
                value = self._entries.get(key)
                if value is None:
                    missing.append(family)
                else:
                    self._entries.move_to_end(key)
                    found[family] = value
        return missing

    def _turn(self, key: _Key) -> _Turn:
        with self._lock:
            turn = self._building.get(key)
            if turn is None:
                turn = self._building[key] = _Turn(lambda: self._end_turn(key))
            turn.users += 1
            return turn

    def _end_turn(self, key: _Key) -> None:
        with self._lock:
            turn = self._building[key]
            turn.users -= 1
            if not turn.users:
                del self._building[key]

    def _keep(self, key: _Key, value: Sized) -> None:
        size = value.nbytes
        if size > self.bytes_max:
            return
        with self._lock:
            self._entries[key] = value
            if key.family not in self._families:
                self._families[key.family] = []
                self._tables[key.family[0]] += 1
            self._families[key.family].append(key.version)
            self._bytes += size
            while self._bytes > self.bytes_max:
                self._drop(*self._entries.popitem(last=False))

    def _drop(self, key: _Key, value: Sized) -> None:
        self._bytes -= value.nbytes
        versions = self._families[key.family]
        versions.remove(key.version)
        if not versions:
            del self._families[key.family]
            self._tables[key.family[0]] -= 1
            if not self._tables[key.family[0]]:
                del self._tables[key.family[0]]


class _Turn:
    """Who builds a value, and who waits for it."""

    def __init__(self, end: Callable[[], None]) -> None:
        self.users = 0
        self._lock = threading.Lock()
        self._end = end

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self._end()


def _default_bytes() -> int:
    given = os.environ.get(SIZE_VARIABLE, "")
    if given:
        if not given.isdigit():
            raise BadRequest(f"{SIZE_VARIABLE} is {given!r}: give a number of bytes", variable=SIZE_VARIABLE)
        return int(given)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MEMORY_SHARE
    except (AttributeError, ValueError, OSError):
        return _FALLBACK_BYTES


_shared: list[SnapshotCache] = []
_shared_lock = threading.Lock()


def shared_cache() -> SnapshotCache:
    """The cache of this process."""
    with _shared_lock:
        if not _shared:
            _shared.append(SnapshotCache())
        return _shared[0]


def _forget_after_fork() -> None:
    """A forked process may have inherited locks that nobody will release: it starts with an empty cache."""
    global _shared_lock
    _shared_lock = threading.Lock()
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
