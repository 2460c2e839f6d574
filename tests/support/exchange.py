"""Requests that passed a proxy, and how many of which kind."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qs

from tests.support.http1 import Head


@dataclass(eq=False)
class Exchange:
    """One request: `status` is what its client got (None: nothing), `landed` what the server said."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    start_s: float
    end_s: float | None = None
    status: int | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    fault: str | None = None
    landed: list[int] = field(default_factory=list)

    @classmethod
    def begin(cls, head: Head) -> Self:
        path, _, query = head.target.partition("?")
        return cls(head.method, path, query, head.headers, start_s=time.monotonic())

    def finish(self) -> None:
        if self.end_s is None:
            self.end_s = time.monotonic()

    @property
    def kind(self) -> str:
        """get, head, put, list, delete or post; a delete of many is one delete."""
        query = parse_qs(self.query, keep_blank_values=True)
        if self.method == "GET" and "list-type" in query and "/" not in self.path.strip("/"):
            return "list"
        if self.method == "POST" and "delete" in query:
            return "delete"
        return self.method.lower()

    def __str__(self) -> str:
        asked = f"{self.path}?{self.query}" if self.query else self.path
        fault = f" ({self.fault})" if self.fault else ""
        return f"{self.kind.upper()} {asked} {self.status or 'unanswered'}{fault}"


class Counts:
    """The part of a proxy's record that one `counting` block covers."""

    def __init__(self, exchanges: Sequence[Exchange], first: int) -> None:
        self._all = exchanges
        self._first = first
        self._last: int | None = None

    def close(self) -> None:
        self._last = len(self._all)

    @property
    def exchanges(self) -> Sequence[Exchange]:
        return self._all[self._first : self._last]

    @property
    def requests(self) -> int:
        return len(self.exchanges)

    @property
    def gets(self) -> int:
        return self._of("get")

    @property
    def heads(self) -> int:
        return self._of("head")

    @property
    def puts(self) -> int:
        return self._of("put")

    @property
    def lists(self) -> int:
        return self._of("list")

    @property
    def deletes(self) -> int:
        return self._of("delete")

    @property
    def posts(self) -> int:
        return self._of("post")

    @property
    def log(self) -> list[str]:
        return [str(exchange) for exchange in self.exchanges]

    @property
    def hops(self) -> int:
        """Length of the longest chain of requests each of which started after the one before it had ended.

        Parallel requests that happen not to overlap count apart: give the proxy a latency where that matters.
        """
        hops, free_s = 0, float("-inf")
        spans = ((float("inf") if each.end_s is None else each.end_s, each.start_s) for each in self.exchanges)
        for end_s, start_s in sorted(spans):
            if start_s >= free_s:
                hops, free_s = hops + 1, end_s
        return hops

    def __repr__(self) -> str:
        return "\n".join([f"{self.requests} requests, {self.hops} hops", *self.log])

    def _of(self, kind: str) -> int:
        return sum(exchange.kind == kind for exchange in self.exchanges)
