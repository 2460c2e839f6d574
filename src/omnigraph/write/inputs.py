"""What a load is given, and the rows it holds: records from anywhere, frames, Parquet and CSV files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest
from omnigraph.schema import table_key
from omnigraph.write.batches import Batches, read_ahead
from omnigraph.write.files import DataFile, data_files
from omnigraph.write.frames import frame_batches, frame_rows, is_frame
from omnigraph.write.ids import fresh_ids
from omnigraph.write.places import first_of_file
from omnigraph.write.progress import Stage
from omnigraph.write.sources import open_lines
from omnigraph.write.tabular import Dialect, read_csv, read_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from omnigraph.model.clock import Ids
    from omnigraph.schema import Catalog, EdgeType, NodeType
    from omnigraph.write.ids import NewIds
    from omnigraph.write.progress import Progress
    from omnigraph.write.sources import Source

FORMATS = ("jsonl", "csv", "tsv", "parquet")
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_PACKED = (".gz", ".zst", ".bz2")
READING = Stage("reading", "bytes")


@dataclass(frozen=True)
class Input:
    """What a caller wants loaded."""

    source: object
    type_name: str | None = None
    """The type of the rows, for sources whose rows do not say."""
    mapping: Mapping[str, str] = field(default_factory=dict[str, str])
    format: str | None = None
    strict: bool = True
    options: dict[str, str] | None = None


def read_input(
    given: Input, ids: Ids, progress: Progress | None = None
) -> Callable[[Catalog], Iterable[tuple[Batches, str]]]:
    """A reader for what is given: it types the rows for a schema, chunk by chunk."""
    new_ids = fresh_ids(ids)
    kind = kind_of(given)
    if kind == "jsonl":
        insist_on_records(given)
        return lambda catalog: _records(given, catalog, new_ids, progress)
    return lambda catalog: _frames(given, kind, catalog, new_ids, progress)


def insist_on_records(given: Input) -> None:
    """Refuse what only rows in columns need."""
    if given.type_name is not None or given.mapping:
        raise BadRequest("records name their types themselves: type and mapping are for frames, CSV and Parquet")


def kind_of(given: Input) -> str:
    """What an input is: `jsonl`, `csv`, `tsv`, `parquet`, `frame` or `frames`."""
    if given.format is not None and given.format not in FORMATS:
        raise BadRequest(f"unknown format {given.format!r}: use {', '.join(FORMATS)}")
    if isinstance(given.source, Mapping):
        return "frames"
    if is_frame(given.source):
        return "frame"
    if given.format is not None:
        return given.format
    kinds = {_by_name(file.uri) for file in data_files(given.source, given.options) or ()}
    if len(kinds) > 1:
        raise BadRequest(
            f"{given.source} has files of several formats ({', '.join(sorted(kinds))}): load one at a time"
        )
    return kinds.pop() if kinds else _by_name(given.source)


def _by_name(source: object) -> str:
    """The format a file's name stands for; records if it stands for none."""
    name = (
        PurePosixPath(str(source).partition("?")[0])
        if isinstance(source, str) or hasattr(source, "__fspath__")
        else None
    )
    while name is not None and name.suffix in _PACKED:
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower(), "jsonl") if name is not None else "jsonl"


# -- records ---------------------------------------------------------------------------------------------


def _records(
    given: Input, catalog: Catalog, new_ids: NewIds, progress: Progress | None
) -> Iterator[tuple[Batches, str]]:
    files = data_files(given.source, given.options)
    if files is None:
        yield from read_records(open_lines(given.source, given.options), given.strict, catalog, new_ids, progress)
        return
    for index, file in enumerate(files):
        source = open_lines(file.uri, given.options)
        named = replace(source, word=file.word(source.word))
        start = first_of_file(index)
        yield from read_records(named, given.strict, catalog, new_ids, progress, start)


def read_records(
    source: Source,
    strict: bool,
    catalog: Catalog,
    new_ids: NewIds,
    progress: Progress | None = None,
    start: int = 1,
) -> Iterator[tuple[Batches, str]]:
    """Type the records of one source, chunk by chunk; `start` is the position of its first line."""
    chunks = iter(source) if strict or source.word == "record" else _whole(source)
    numbered = ((first + start - 1, cast("Sequence[bytes]", chunk)) for first, chunk in chunks)
    for batches in read_ahead(numbered, catalog, new_ids=new_ids, strict=strict, word=source.word):
        if progress is not None:
            progress(READING, source.consumed(), source.size)
        yield batches, source.word


def _whole(source: Source) -> Iterator[tuple[int, list[bytes]]]:
    """Values may span lines, and so chunks: everything is one chunk."""
    lines = [line for _, chunk in source for line in cast("Sequence[bytes]", chunk)]
    if lines:
        yield 1, lines


# -- frames ----------------------------------------------------------------------------------------------


def _frames(
    given: Input, kind: str, catalog: Catalog, new_ids: NewIds, progress: Progress | None
) -> Iterator[tuple[Batches, str]]:
    for type_name, frame, start, word in each_frame(given, kind):
        table, done = named_table(catalog, type_name), 0
        for batches in typed_frames(frame, table, given.mapping, kind, new_ids, start, word):
            done += sum(len(rows) for rows in batches.tables.values())
            if progress is not None:
                progress(f"reading {type_name}", done, None)
            yield batches, word


def typed_frames(
    frame: Iterable[pa.Table],
    table: NodeType | EdgeType,
    mapping: Mapping[str, str],
    kind: str,
    new_ids: NewIds,
    start: int = 1,
    word: str = "row",
) -> Iterator[Batches]:
    """Type the rows of one frame, batch by batch; `start` is the position of its first row."""
    for batch in frame:
        is_text = kind in ("csv", "tsv")
        rows = frame_rows(table, batch, mapping, new_ids=new_ids, first_row=start, text=is_text, word=word)
        start += batch.num_rows
        yield Batches({table_key(table): rows}, rows.violations)


def each_frame(given: Input, kind: str) -> Iterator[tuple[str, Iterator[pa.Table], int, str]]:
    """Type names, their frames, the positions of the first rows, and what these are counted in."""
    if kind == "frames":
        for name, frame in cast("Mapping[str, Any]", given.source).items():
            if not is_frame(frame):
                what = type(frame).__name__
                raise BadRequest(
                    f"{name!r} is given as a {what}: a frame is Arrow, pandas or polars; records are a list"
                )
            yield name, frame_batches(frame), 1, "row"
        return
    files = data_files(given.source, given.options) if kind != "frame" else None
    if files is None:
        yield type_of_rows(given), tables_of(given.source, kind, given.options), 1, "row"
        return
    for index, file in enumerate(files):
        name = type_of_rows(given, file)
        yield name, tables_of(file.uri, kind, given.options), first_of_file(index), file.word("row")


def type_of_rows(given: Input, file: DataFile | None = None) -> str:
    """The type of what is in a file: as it is asked for, or as the folder of an export says."""
    found = given.type_name or (file.type_name if file is not None else None)
    if found is None:
        raise BadRequest('the rows do not say what they are: name their type, as type="Person" or --type Person')
    return found


def tables_of(source: object, kind: str, options: dict[str, str] | None) -> Iterator[pa.Table]:
    """The rows of a frame or of a file."""
    if kind == "frame":
        return frame_batches(source)
    if kind == "parquet":
        return read_parquet(source, options)
    return read_csv(source, options, dialect=Dialect("\t") if kind == "tsv" else Dialect())


def named_table(catalog: Catalog, name: str) -> NodeType | EdgeType:
    """The node or edge type of this name; `node:` or `edge:` before it tells apart two types of one name."""
    kind, _, rest = name.rpartition(":")
    found = {"": catalog.node(name) or catalog.edge(name), "node": catalog.node(rest), "edge": catalog.edge(rest)}.get(
        kind
    )
    if found is None:
        hint = suggest(name, [*catalog.node_types, *catalog.edge_types])
        raise BadRequest(f"there is no node or edge type {name!r}{f'; {hint}' if hint else ''}")
    return found
