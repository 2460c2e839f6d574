"""Files of an export: for each type a folder with parts, `nodes/Person/part-00000.parquet`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from omnigraph.export.frames import csv_frames, file_schema, parquet_frames
from omnigraph.export.lines import json_lines
from omnigraph.model.errors import BadRequest
from omnigraph.schema import TypeKind
from omnigraph.storage.sink import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnigraph.export.rows import Records, TableRows
    from omnigraph.schema import EdgeType, NodeType

FORMATS = ("jsonl", "parquet", "csv")
PART_ROWS = 1_000_000
_SUFFIXES = {None: "", "gzip": ".gz", "zstd": ".zst"}
_FOLDERS = {TypeKind.NODE: "nodes", TypeKind.EDGE: "edges"}


@dataclass(frozen=True)
class FilePlan:
    """Where files go and what they look like. Plain data: tasks on other machines get it."""

    folder: str
    format: str = "jsonl"
    compression: str | None = None
    part_rows: int = PART_ROWS
    options: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise BadRequest(f"unknown format {self.format!r}: use {', '.join(FORMATS)}")
        if self.compression not in _SUFFIXES:
            raise BadRequest(f"unknown compression {self.compression!r}: use gzip or zstd")

    def name(self, table: NodeType | EdgeType, part: str) -> str:
        """A part's name below the folder."""
        packed = "" if self.format == "parquet" else _SUFFIXES[self.compression]
        return f"{_FOLDERS[table.kind]}/{table.name}/part-{part}.{self.format}{packed}"


@dataclass(frozen=True)
class ExportedFile:
    """A file that was written."""

    name: str
    table_key: str
    rows: int


def write_files(table: TableRows, plan: FilePlan, part: str = "") -> list[ExportedFile]:
    """Write the rows of a table in as many parts as they need; none if there are no rows."""
    files: list[ExportedFile] = []
    pieces = _PIECES[plan.format](table)
    first = next(pieces, None)
    while first is not None:
        name = plan.name(table.table, f"{part}{len(files):05d}")
        rows, first = _write_part(table, plan, name, first, pieces)
        files.append(ExportedFile(name, table.key, rows))
    return files


def _write_part(
    table: TableRows, plan: FilePlan, name: str, first: _Piece, pieces: Iterator[_Piece]
) -> tuple[int, _Piece | None]:
    """Write pieces until the part is full; give its rows, and the piece that no longer fits."""
    rows = 0
    piece: _Piece | None = first
    with write_file(f"{plan.folder.rstrip('/')}/{name}", plan.options or None) as file, ExitStack() as stack:
        writer = _WRITERS[plan.format](file, table, plan, stack)
        while piece is not None and (rows == 0 or rows + len(piece) <= plan.part_rows):
            writer(piece)
            rows += len(piece)
            piece = next(pieces, None)
    return rows, piece


class _Piece(Protocol):
    def __len__(self) -> int: ...


def _lines_to(file: IO[bytes], table: TableRows, plan: FilePlan, stack: ExitStack) -> Callable[[Any], None]:
    del table
    out = _packed(file, plan, stack)

    def write(records: Records) -> None:
        out.write(b"".join(json_lines(records)))

    return write


def _csv_to(file: IO[bytes], table: TableRows, plan: FilePlan, stack: ExitStack) -> Callable[[Any], None]:
    from pyarrow import csv

    schema = pa.schema([pa.field(name, pa.large_string()) for name in file_schema(table.table).names])
    style = csv.WriteOptions(quoting_style="all_valid")  # nothing is null, "" is empty
    writer = stack.enter_context(csv.CSVWriter(_packed(file, plan, stack), schema, write_options=style))
    return lambda rows: writer.write_table(rows.cast(schema))


def _parquet_to(file: IO[bytes], table: TableRows, plan: FilePlan, stack: ExitStack) -> Callable[[Any], None]:
    from pyarrow import parquet

    schema = file_schema(table.table)
    writer = stack.enter_context(parquet.ParquetWriter(file, schema, compression=plan.compression or "zstd"))
    return lambda rows: writer.write_table(rows.cast(schema))


def _packed(file: IO[bytes], plan: FilePlan, stack: ExitStack) -> Any:
    sink = stack.enter_context(pa.PythonFile(file, mode="w"))
    return sink if plan.compression is None else stack.enter_context(pa.CompressedOutputStream(sink, plan.compression))


_PIECES: dict[str, Callable[[TableRows], Iterator[Any]]] = {
    "jsonl": lambda table: table.records(),
    "parquet": parquet_frames,
    "csv": csv_frames,
}
_WRITERS: dict[str, Callable[[IO[bytes], TableRows, FilePlan, ExitStack], Callable[[Any], None]]] = {
    "jsonl": _lines_to,
    "csv": _csv_to,
    "parquet": _parquet_to,
}
