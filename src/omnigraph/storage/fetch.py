"""Reads one object by its address, wherever it is: what data is loaded from need not be part of a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import TYPE_CHECKING

import obstore

from omnigraph.model.errors import NotFound
from omnigraph.storage import meter
from omnigraph.storage.address import parse_address
from omnigraph.storage.store import connect, connect_to_object, store_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from obstore.store import ObjectStore

PIECE_BYTES = 8 << 20


@dataclass(frozen=True)
class Fetched:
    """An object that is read piece by piece."""

    size: int
    pieces: Iterator[bytes]


def fetch(uri: str, options: dict[str, str] | None = None) -> Fetched:
    """Open an object in an object store. The first request is made at once, so that a missing object is known."""
    backend, name = connect_to_object(parse_address(uri, options))
    with store_errors(f"read {uri}"):
        meter.count("head")
        try:
            found = obstore.head(backend, name)
        except FileNotFoundError as error:
            raise NotFound(f"there is no object at {uri}", uri=uri) from error
    return Fetched(found["size"], _pieces(backend, name, uri, found["size"], found["e_tag"]))


def matching_objects(pattern: str, options: dict[str, str] | None = None) -> list[str]:
    """The addresses of the objects that a pattern like `s3://bucket/folder/*.jsonl` matches.

    `*` stays in a folder, and `**` is any number of folders.
    """
    address = parse_address(pattern, options)
    parts = address.prefix.split("/")
    fixed = list(takewhile(lambda part: not any(sign in part for sign in "*?["), parts[:-1]))
    wanted = parts[len(fixed) :]
    folder = replace(address, prefix="/".join(fixed))
    found: list[str] = []
    for info in connect(folder).list(""):
        names = info.path.split("/")
        if _match(names, wanted):
            found.append(folder.child(info.path))
    return found


def _match(names: Sequence[str], wanted: Sequence[str]) -> bool:
    if not wanted:
        return not names
    if wanted[0] == "**":
        return any(_match(names[skipped:], wanted[1:]) for skipped in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], wanted[0]) and _match(names[1:], wanted[1:])


def object_size(uri: str, options: dict[str, str] | None = None) -> int:
    """The bytes of an object, without reading it."""
    return fetch(uri, options).size


def fetch_range(uri: str, start: int, end: int, options: dict[str, str] | None = None) -> bytes:
    """A part of an object."""
    backend, name = connect_to_object(parse_address(uri, options))
    with store_errors(f"read bytes {start} to {end} of {uri}"):
        meter.count("get")
        return bytes(obstore.get_range(backend, name, start=start, end=end))


def _pieces(backend: ObjectStore, name: str, uri: str, size: int, tag: str | None) -> Iterator[bytes]:
    """Ask for one range after the other: a time limit then is one of each piece, not of the whole object."""
    for start in range(0, size, PIECE_BYTES):
        wanted = (start, min(start + PIECE_BYTES, size))
        with store_errors(f"read bytes {wanted[0]} to {wanted[1]} of {uri}"):
            meter.count("get")
            # The tag makes sure that all pieces are of one object, if it is replaced meanwhile.
            options: obstore.GetOptions = {"range": wanted, "if_match": tag} if tag else {"range": wanted}
            piece = bytes(obstore.get(backend, name, options=options).bytes())
            meter.count_bytes(len(piece))
        yield piece
