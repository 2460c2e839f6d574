"""Where records come from, in chunks of whole lines with the number of the first one. Memory is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.errors import BadRequest, ResourceLimit
from omnigraph.write.lines import Lines
from omnigraph.write.streams import open_stream

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK_BYTES = 8 << 20
CHUNK_RECORDS = 4096
LINE_BYTES_MAX = 32 << 20

Chunk = tuple[int, "Sequence[bytes] | list[dict[str, Any]]"]


@dataclass(frozen=True)
class Source:
    """Chunks of an input, to be read once: number of the first line, and lines, or records that are dicts."""

    name: str
    word: str
    """What the input is counted in: lines of a text, or records."""

    size: int | None
    """The bytes of the input, as they are stored, if that is known."""

    consumed: Callable[[], int]
    """How many of them have been read."""

    chunks: Iterator[Chunk]
    close: Callable[[], None]
    """Let go of the file; happens by itself when all chunks have been read."""

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks


def open_lines(
    source: object,
    options: dict[str, str] | None = None,
    *,
    chunk_bytes: int = CHUNK_BYTES,
    line_bytes_max: int = LINE_BYTES_MAX,
) -> Source:
    """Open a path, a URI, `-`, bytes, a file object, or an iterable of records: dicts, or JSON texts.

    What is missing or unreadable is known when this returns.
    """
    if _is_iterable(source):
        name = f"the {type(source).__name__} given"
        return Source(name, "record", None, lambda: 0, _records(cast("Iterable[object]", source)), lambda: None)
    stream = open_stream(source, options)

    def chunks() -> Iterator[Chunk]:
        try:
            yield from split_lines(stream.read, chunk_bytes, line_bytes_max)
        finally:
            stream.close()

    return Source(stream.name, "line", stream.size, stream.consumed, chunks(), stream.close)


def _is_iterable(source: object) -> bool:
    if isinstance(source, Mapping):
        raise BadRequest("a dict is no input: give a list of records")
    is_bytes_or_name = isinstance(source, str | bytes | bytearray | memoryview) or hasattr(source, "__fspath__")
    return isinstance(source, Iterable) and not is_bytes_or_name and not hasattr(source, "read")


def split_lines(
    read: Callable[[int], bytes], chunk_bytes: int = CHUNK_BYTES, line_bytes_max: int = LINE_BYTES_MAX
) -> Iterator[tuple[int, Lines]]:
    """Cut bytes into chunks of whole lines."""
    number, rest, rest_bytes = 1, list[bytes](), 0
    while block := read(chunk_bytes):
        end = block.rfind(b"\n") + 1
        if not end:
            rest.append(block)
            rest_bytes += len(block)
            _check_length(rest_bytes, line_bytes_max)
            continue
        _check_length(rest_bytes + block.find(b"\n"), line_bytes_max)
        lines = Lines(b"".join((*rest, memoryview(block)[:end])))
        if chunk_bytes > line_bytes_max:
            _check_length(lines.longest, line_bytes_max)
        yield number, lines
        number += len(lines)
        rest = [block[end:]]
        rest_bytes = len(rest[0])
    last = b"".join(rest)
    _check_length(len(last), line_bytes_max)
    if last:
        yield number, Lines(last + b"\n")


def _check_length(size: int, limit: int) -> None:
    if size > limit:
        raise ResourceLimit("graph_batch_line_bytes", limit=limit, actual=size)


# -- records -------------------------------------------------------------------------------------------


def _records(items: Iterable[object]) -> Iterator[Chunk]:
    iterator, number = iter(items), 1
    while taken := list(islice(iterator, CHUNK_RECORDS)):
        for kind, run in groupby(taken, key=_kind):
            chunk = list(run)
            if kind == "other":
                what = type(chunk[0]).__name__
                raise BadRequest(f"record {number} is a {what}: a record is a dict, or JSON as text or bytes")
            yield number, cast("Any", [_READ[kind](item) for item in chunk])
            number += len(chunk)


def _kind(item: object) -> str:
    if isinstance(item, Mapping):
        return "dict"
    if isinstance(item, str):
        return "text"
    return "bytes" if isinstance(item, bytes | bytearray | memoryview) else "other"


def _as_dict(item: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", item) if type(item) is dict else dict(item)


def _as_bytes(item: Any) -> bytes:
    # A lone surrogate becomes bytes that are not UTF-8, which the parser reports with its place.
    return item.encode("utf-8", "surrogatepass")


_READ: dict[str, Callable[[Any], Any]] = {"dict": _as_dict, "text": _as_bytes, "bytes": bytes}
