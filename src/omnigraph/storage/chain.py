"""The one primitive that needs atomicity: a numbered series of small immutable objects under one prefix.

Number n is created at most once, by whoever comes first. Numbers are dense and never deleted, so an absent number
always means "beyond the head". Knows nothing of graphs.

Names count down: in a store whose LIST is ordered, one page holds the newest numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.errors import CorruptObject, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnigraph.model.clock import Clock
    from omnigraph.storage.store import ObjectInfo, Store

NUMBER_MAX = 2**64 - 1
SUFFIX = ".arrow"
APPEND_TRIES_MAX = 8
RETRY_DELAY_S = 0.05


class AppendInDoubt(StoreUnavailable):
    """The store stopped answering: nobody can tell now whether the number is ours."""


@dataclass(frozen=True)
class Entry:
    """A number of the chain and what it holds."""

    number: int
    data: bytes


class Chain:
    """A numbered series of create-once objects, beginning at `first`."""

    def __init__(self, store: Store, prefix: str, clock: Clock, first: int = 0) -> None:
        self._store = store
        self._prefix = prefix
        self._clock = clock
        self._first = first

    def path(self, number: int) -> str:
        """Where a number lives."""
        return f"{self._prefix}/{NUMBER_MAX - number:020d}{SUFFIX}"

    def number(self, path: str) -> int | None:
        """The number an object name stands for, or None if it is not one of ours."""
        name = path.rpartition("/")[2].removesuffix(SUFFIX)
        return NUMBER_MAX - int(name) if len(name) == 20 and name.isdecimal() else None

    def read(self, number: int) -> bytes | None:
        """What a number holds; None beyond the head."""
        return self._store.get(self.path(number))

    def append(self, number: int, data: bytes, is_mine: Callable[[bytes], bool]) -> bytes | None:
        """Create a number. None: it is ours. Otherwise what somebody else put there first.

        An answer may get lost: the PUT landed, or will land later, or never. So after any doubt, and when the store
        says "exists" (which may be our own earlier try), the same bytes are put again until the number can be read;
        its content tells whose it is. After that the number is settled for good.
        """
        doubt: StoreUnavailable | None = None
        for attempt in range(APPEND_TRIES_MAX):
            if attempt:
                self._clock.sleep(RETRY_DELAY_S * 2**attempt)
            try:
                if self._store.create(self.path(number), data):
                    return None
                found = self.read(number)
            except StoreUnavailable as error:
                doubt = error
                continue
            if found is not None:
                return None if is_mine(found) else found
        raise AppendInDoubt(f"number {number} could not be settled: {doubt or 'the store contradicts itself'}")

    def refuses_second_create(self, number: int, data: bytes) -> bool:
        """Whether the store holds the condition: creating an existing number again, with its own bytes, must fail."""
        for attempt in range(APPEND_TRIES_MAX):
            try:
                return not self._store.create(self.path(number), data)
            except StoreUnavailable:
                if attempt == APPEND_TRIES_MAX - 1:
                    raise
                self._clock.sleep(RETRY_DELAY_S * 2**attempt)
        raise AssertionError("unreachable")

    def overwrite(self, number: int, data: bytes) -> None:
        """Replace what a number holds. Only for stripping: the number stays taken."""
        self._store.put(self.path(number), data)

    def head(self, known: Entry | None = None) -> Entry | None:
        """The newest entry; None if there is none. From a `known` entry seen before, only probes are needed."""
        start = known or self._look_for_start()
        if start is None:
            return None
        return self._climb(start)

    def entries(self) -> Iterator[tuple[int, ObjectInfo]]:
        """Every number with what the store says about its object, in no particular order."""
        for info in self._store.list(self._prefix):
            number = self.number(info.path)
            if number is not None:
                yield number, info

    def newest_listed(self) -> Entry | None:
        """The newest entry one LIST page shows: the head, unless the listing is stale. For those who append next."""
        if not self._store.lists_in_order:
            return self.head()
        return self._look_for_start()

    def _look_for_start(self) -> Entry | None:
        numbers = [self._first]
        if self._store.lists_in_order:
            listed = [self.number(info.path) for info in self._store.first_page(self._prefix)]
            numbers = [number for number in listed if number is not None]
            if not numbers:
                return None
        newest = max(numbers)
        data = self.read(newest)
        if data is None:
            if newest == self._first:
                return None
            raise CorruptObject(self.path(newest), "it is listed but cannot be read")
        return Entry(newest, data)

    def _climb(self, low: Entry) -> Entry:
        """Probe upward in doubling steps, then halve: one request at the head, logarithmic if far behind it."""
        step = 1
        while True:
            data = self.read(low.number + step)
            if data is None:
                break
            low = Entry(low.number + step, data)
            step *= 2
        high = low.number + step
        while high - low.number > 1:
            middle = (low.number + high) // 2
            data = self.read(middle)
            if data is None:
                high = middle
            else:
                low = Entry(middle, data)
        return low
