"""How an input is cut into pieces that tasks read side by side: byte ranges of lines, row groups, whole files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from omnigraph.storage.fetch import fetch_range, object_size
from omnigraph.write.files import DataFile, data_files
from omnigraph.write.inputs import kind_of, type_of_rows
from omnigraph.write.sources import CHUNK_BYTES, split_lines
from omnigraph.write.streams import open_stream, packed_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnigraph.write.inputs import Input
    from omnigraph.write.lines import Lines

SPLIT_BYTES_MIN = 4 << 20
SPLIT_BYTES_MAX = 32 << 20
SPLITS_PER_CORE = 3
_TAIL_BYTES = 64 << 10
_OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "azure")


@dataclass(frozen=True)
class Split:
    """A piece of an input."""

    file: int
    """Which file of the input, counted from zero: positions of rows say it."""
    uri: str
    word: str
    """What its rows are counted in."""
    start: int = 0
    end: int | None = None
    """The lines that start in these bytes; without an end the whole file."""
    size: int = 0
    """The bytes of the whole file, if the split is a range of it."""
    groups: tuple[int, ...] | None = None
    """Row groups of a Parquet file; None: all."""
    type_name: str = ""
    """The type of rows that do not name it themselves."""


@dataclass(frozen=True)
class Measured:
    """A file with its size, if that is known, and whether it can be cut into ranges of lines."""

    file: DataFile
    size: int | None
    is_plain: bool


def input_size(given: Input) -> int | None:
    """The bytes of an input as they are stored; None where nobody knows before reading."""
    sizes = [_measure(file, given.options).size for file in files_of(given)]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def plan_splits(given: Input, cores: int, *, split_bytes: int | None = None) -> list[Split]:
    """Cut an input: each core gets several pieces, none too small to be worth a task or too large for its memory."""
    kind = kind_of(given)
    unit = "line" if kind == "jsonl" else "row"
    measured = [_measure(file, given.options) for file in files_of(given)]
    total = sum(one.size or 0 for one in measured)
    wanted = split_bytes or min(SPLIT_BYTES_MAX, max(SPLIT_BYTES_MIN, total // (SPLITS_PER_CORE * max(1, cores))))
    splits: list[Split] = []
    for index, one in enumerate(measured):
        word = one.file.word(unit)
        type_name = "" if kind == "jsonl" else type_of_rows(given, one.file)
        if kind == "parquet":
            pieces = _row_groups(one.file.uri, wanted)
            splits += [Split(index, one.file.uri, word, groups=groups, type_name=type_name) for groups in pieces]
        elif kind == "jsonl" and given.strict and one.is_plain and one.size is not None and one.size > wanted:
            count = max(1, round(one.size / wanted))
            bounds = [one.size * number // count for number in range(count + 1)]
            splits += [Split(index, one.file.uri, word, start, end, one.size) for start, end in pairwise(bounds)]
        else:
            splits.append(Split(index, one.file.uri, word, type_name=type_name))
    return splits


def files_of(given: Input) -> list[DataFile]:
    """The files of an input, by name."""
    return data_files(given.source, given.options) or [DataFile(str(given.source))]


def _measure(file: DataFile, options: dict[str, str] | None) -> Measured:
    """Size and kind of a file; what is missing or unreadable is raised here, before anything is started."""
    path = local_path(file.uri)
    if path is None and file.uri.partition("://")[0].lower() in _OBJECT_STORES:
        size = object_size(file.uri, options)
        start = fetch_range(file.uri, 0, min(4, size), options) if size else b""
        return Measured(file, size, packed_as(file.uri, start) is None)
    stream = open_stream(file.uri, options)
    stream.close()
    return Measured(file, stream.size, stream.path is not None)


def local_path(uri: str) -> Path | None:
    """The file of this machine that an address names, if it is one."""
    if "://" not in uri:
        return Path(uri).expanduser()
    return Path(unquote(urlsplit(uri).path)) if uri.lower().startswith("file://") else None


def _row_groups(uri: str, wanted: int) -> list[tuple[int, ...] | None]:
    """Runs of row groups of about the wanted size; a file that is elsewhere is read whole."""
    path = local_path(uri)
    if path is None:
        return [None]
    from pyarrow import parquet

    try:
        metadata = parquet.read_metadata(path)
    except (OSError, ValueError):
        return [None]  # the task that reads it says what is wrong
    runs: list[list[int]] = []
    taken = wanted
    for group in range(metadata.num_row_groups):
        if taken >= wanted:
            runs.append([])
            taken = 0
        runs[-1].append(group)
        taken += metadata.row_group(group).total_byte_size
    return [tuple(run) for run in runs] or [None]


# -- reading a range of lines ------------------------------------------------------------------------------


def lines_of(split: Split, options: dict[str, str] | None = None) -> Iterator[tuple[int, Lines]]:
    """Whole lines that start within a split's bytes, in chunks, with the number of the first one.

    Numbers count within the split. They start with 2 unless the split starts with its file: only there a line 1 is.
    """
    assert split.end is not None
    path = local_path(split.uri)
    if path is not None:
        with path.open("rb") as file:

            def part(start: int, end: int) -> bytes:
                file.seek(start)
                return file.read(end - start)

            yield from _numbered(split, part)
        return
    yield from _numbered(split, lambda start, end: fetch_range(split.uri, start, end, options))


def _numbered(split: Split, part: Callable[[int, int], bytes]) -> Iterator[tuple[int, Lines]]:
    blocks = _blocks(split, part)
    for first, lines in split_lines(lambda _: next(blocks, b"")):
        yield first + (split.start > 0), lines


def _blocks(split: Split, part: Callable[[int, int], bytes]) -> Iterator[bytes]:
    """The bytes from the first line that starts in the range to the end of the last one."""
    assert split.end is not None
    at, is_inside = max(0, split.start - 1), split.start == 0
    while at < split.end:
        block = part(at, min(at + CHUNK_BYTES, split.end))
        if not block:
            return
        at += len(block)
        if not is_inside:
            cut = block.find(b"\n")
            is_inside, block = cut >= 0, block[cut + 1 :] if cut >= 0 else b""
        if block:
            yield block
        if at >= split.end and is_inside and (not block or block.endswith(b"\n")):
            return  # the next line starts in the next split
    if not is_inside:
        return
    while at < split.size and (block := part(at, min(at + _TAIL_BYTES, split.size))):
        cut = block.find(b"\n")
        yield block if cut < 0 else block[: cut + 1]
        if cut >= 0:
            return
        at += len(block)
