"""Requests by kind, sequential hops and bytes: always on, and cheap.

Every store call and every Lance call reports here. Whoever wants to know opens a `Meter`; meters nest, and each
sees what happens inside it on its own thread, and on the threads that work for it (`parallel`).
"""

from __future__ import annotations

import contextvars
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from types import TracebackType

Kind = Literal["get", "head", "put", "list", "delete"]


@dataclass
class Meter:
    """What was asked of the store while this was open."""

    counts: Counter[str] = field(default_factory=Counter[str])
    hops: int = 0
    bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _token: contextvars.Token[tuple[Meter, ...]] | None = field(default=None, repr=False)

    @property
    def requests(self) -> int:
        """All requests."""
        return sum(self.counts.values())

    @property
    def gets(self) -> int:
        """Reads of objects or parts of objects, looks (HEAD) included."""
        return self.counts["get"] + self.counts["head"]

    @property
    def puts(self) -> int:
        """Writes."""
        return self.counts["put"]

    @property
    def lists(self) -> int:
        """LIST pages."""
        return self.counts["list"]

    @property
    def deletes(self) -> int:
        """Delete requests; one may delete many objects."""
        return self.counts["delete"]

    def counters(self) -> dict[str, int]:
        """The counters a logical operation reports about itself."""
        return {"storage.ops": self.requests, "storage.stages": self.hops, "storage.bytes": self.bytes}

    def add(self, kind: str, requests: int, hops: int) -> None:
        """Count requests that took so many sequential hops."""
        with self._lock:
            self.counts[kind] += requests
            self.hops += hops

    def add_bytes(self, size: int) -> None:
        """Count bytes moved."""
        with self._lock:
            self.bytes += size

    def add_hops(self, hops: int) -> None:
        """Count hops of a parallel section."""
        with self._lock:
            self.hops += hops

    def __enter__(self) -> Self:
        self._token = _open_meters.set((*_open_meters.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        _open_meters.reset(self._token)


_open_meters: contextvars.ContextVar[tuple[Meter, ...]] = contextvars.ContextVar("open_meters", default=())


def open_meters() -> tuple[Meter, ...]:
    """Those who want to know what this thread does."""
    return _open_meters.get()


def count(kind: Kind, requests: int = 1, hops: int | None = None) -> None:
    """Report requests; each is its own hop unless told otherwise."""
    for meter in _open_meters.get():
        meter.add(kind, requests, requests if hops is None else hops)


def count_bytes(size: int) -> None:
    """Report bytes moved."""
    for meter in _open_meters.get():
        meter.add_bytes(size)


def count_hops(hops: int) -> None:
    """Report hops of requests that are counted apart."""
    for meter in _open_meters.get():
        meter.add_hops(hops)
