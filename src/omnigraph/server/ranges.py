"""Conditions and ranges of HTTP, as far as blobs need them (RFC 9110)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = re.compile(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')
_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*")


@dataclass(frozen=True)
class Range:
    """Bytes from `start` up to and with `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """How many."""
        return self.end - self.start + 1


class Unsatisfiable(Exception):
    """No byte lies in the range."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(f"no byte lies between {start} and {end}")
        self.start, self.end = start, end


def parse_range(header: str | None, size: int) -> Range | None:
    """The one range that is asked for; None if the whole is to be sent, as for several ranges or unknown units."""
    match = _RANGE.fullmatch(header) if header is not None else None
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if first == "":
        length = int(last)
        if length == 0 or size == 0:
            raise Unsatisfiable(size, size)
        return Range(max(0, size - length), size - 1)
    start = int(first)
    end = min(int(last), size - 1) if last else size - 1
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable(start, int(last) if last else start)
    return Range(start, end)


def any_matches(header: str, etag: str, *, weak: bool) -> bool:
    """Whether a list of tags, or `*`, has this one. Strong comparison: a weak tag never matches."""
    if header.strip() == "*":
        return True
    return any(tag == etag and (weak or not is_weak) for is_weak, tag in _TAG.findall(header))


def is_exactly(header: str, etag: str) -> bool:
    """Whether it is this one strong tag and nothing else."""
    return header.strip() == etag
