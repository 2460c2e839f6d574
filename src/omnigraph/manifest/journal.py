"""A chain whose newest entry is the whole truth: branches and the registry are journals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from omnigraph.manifest.state import Stripped
from omnigraph.model.errors import CorruptObject, StoreUnsafe
from omnigraph.storage.chain import Chain, Entry

if TYPE_CHECKING:
    from omnigraph.model.clock import Clock
    from omnigraph.storage.store import Store


class Numbered(Protocol):
    """What an entry must say about itself."""

    @property
    def number(self) -> int:
        """Its number in the chain."""
        ...

    @property
    def entry(self) -> str:
        """Unique to it."""
        ...


T = TypeVar("T", bound=Numbered)


@dataclass
class Place:
    """The store of a graph, and what this process has learnt about it."""

    store: Store
    clock: Clock
    is_safe: bool = False
    """Whether it was seen to refuse a second create."""


class Journal(ABC, Generic[T]):
    """A chain with a cached head. Shared by the threads of a process."""

    def __init__(self, place: Place, prefix: str, first: int) -> None:
        self.place = place
        self.first = first
        self.chain = Chain(place.store, prefix, place.clock, first)
        self._head: tuple[T, bytes] | None = None

    @abstractmethod
    def encode(self, value: T) -> bytes:
        """To bytes."""

    @abstractmethod
    def decode(self, data: bytes, number: int) -> T | Stripped:
        """From bytes; checks that the object is what its name says."""

    @abstractmethod
    def missing(self) -> Exception:
        """What to say when the chain has no entry at all."""

    @property
    def cached(self) -> T | None:
        """The newest entry seen, without asking."""
        return self._head[0] if self._head is not None else None

    def head(self) -> T:
        """The newest entry now: one probe if an entry was seen before."""
        known = self._head
        entry = self.chain.head(Entry(known[0].number, known[1]) if known is not None else None)
        if entry is None:
            raise self.missing()
        return self._advance(entry)

    def head_to_append(self) -> T:
        """The entry to build on: the cached one, else what one listing shows. The append finds out the rest."""
        if self._head is not None:
            return self._head[0]
        entry = self.chain.newest_listed()
        if entry is None:
            raise self.missing()
        return self._advance(entry)

    def read(self, number: int) -> T | Stripped:
        """The entry at a number."""
        data = self.chain.read(number)
        if data is None:
            raise CorruptObject(self.chain.path(number), "it is missing")
        return self.decode(data, number)

    def append(self, value: T) -> T | None:
        """Publish an entry at its number. None: it is ours. Otherwise the newest entry, to look again."""
        self._insist_on_safe_store()
        data = self.encode(value)
        found = self.chain.append(
            value.number, data, lambda other: self.decode(other, value.number).entry == value.entry
        )
        if found is None:
            self._keep(value, data)
            return None
        newest = self.chain.head(Entry(value.number, found))
        assert newest is not None
        return self._advance(newest)

    def _insist_on_safe_store(self) -> None:
        """Once per process: creating the head again, with its own bytes, must be refused. One request, no trace."""
        if self.place.is_safe or self._head is None:
            return
        value, data = self._head
        if not self.chain.refuses_second_create(value.number, data):
            raise StoreUnsafe(
                self.chain.path(value.number),
                "the store accepts a second create of one key, so writers would overwrite each other's commits",
            )
        self.place.is_safe = True

    def _advance(self, entry: Entry) -> T:
        known = self._head
        if known is not None and known[0].number >= entry.number:
            return known[0]
        decoded = self.decode(entry.data, entry.number)
        if isinstance(decoded, Stripped):  # far behind: the head itself is never stripped
            fresh = self.chain.head(entry)
            if fresh is None or fresh.number == entry.number:
                raise CorruptObject(self.chain.path(entry.number), "the newest entry was stripped")
            return self._advance(fresh)
        self._keep(decoded, entry.data)
        return decoded

    def _keep(self, value: T, data: bytes) -> None:
        known = self._head
        if known is None or known[0].number < value.number:
            self._head = (value, data)
