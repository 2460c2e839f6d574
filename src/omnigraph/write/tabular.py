"""Parquet and CSV files as frames, batch by batch."""

from __future__ import annotations

import csv
import io
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from omnigraph.model.errors import BadRequest
from omnigraph.write.frames import BATCH_ROWS
from omnigraph.write.streams import as_file, open_stream

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from omnigraph.write.streams import Stream

_BLOCK_BYTES = 1 << 20
_SPOOL_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str = ","
    quote: str = '"'


def read_parquet(
    source: object, options: dict[str, str] | None = None, *, batch_rows: int = BATCH_ROWS
) -> Iterator[pa.Table]:
    """Read a Parquet file; what is not a file of this machine is copied to a temporary one, to be read in any order."""
    from pyarrow import parquet  # costs time that most commands need not spend

    stream = open_stream(source, options)
    with _closing(stream, "Parquet"), tempfile.SpooledTemporaryFile(_SPOOL_BYTES) as spool:
        if stream.path is None:
            while block := stream.read(_BLOCK_BYTES):
                spool.write(block)
            spool.seek(0)
        with parquet.ParquetFile(spool if stream.path is None else stream.path) as file:
            for batch in file.iter_batches(batch_rows):
                yield pa.Table.from_batches([batch])


def read_csv(
    source: object, options: dict[str, str] | None = None, *, dialect: Dialect | None = None
) -> Iterator[pa.Table]:
    """Read a CSV file with a header; all columns are text, nothing between two delimiters is null, `""` is not."""
    from pyarrow import csv as arrow_csv

    dialect = dialect or Dialect()
    stream = open_stream(source, options)
    with _closing(stream, "CSV"):
        start = stream.read(_BLOCK_BYTES)
        names = _header(start, dialect, stream.name)
        pieces = iter([start])
        whole = as_file(lambda count: next(pieces, b"") or stream.read(count))
        reader = arrow_csv.open_csv(
            pa.PythonFile(whole, mode="r"),
            read_options=arrow_csv.ReadOptions(block_size=8 * _BLOCK_BYTES),
            parse_options=arrow_csv.ParseOptions(
                delimiter=dialect.delimiter, quote_char=dialect.quote, newlines_in_values=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        for batch in reader:
            table = pa.Table.from_batches([batch])
            for first in range(0, table.num_rows, BATCH_ROWS):
                yield table.slice(first, BATCH_ROWS)


def _header(start: bytes, dialect: Dialect, name: str) -> list[str]:
    if len(dialect.delimiter) != 1 or len(dialect.quote) != 1:
        raise BadRequest("the delimiter and the quote of a CSV file are one character each")
    text = io.StringIO(start.decode("utf-8-sig", "replace"), newline="")
    header = next(csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote), [])
    if not header:
        raise BadRequest(f"{name} has no header: its first line names the columns")
    return header


@contextmanager
def _closing(stream: Stream, kind: str) -> Generator[None]:
    try:
        yield
    except (pa.ArrowException, csv.Error, OSError) as error:
        raise BadRequest(f"{stream.name} cannot be read as {kind}: {_gist(error)}") from None
    finally:
        stream.close()


def _gist(error: Any) -> str:
    return str(error).strip().split("\n", 1)[0][:300]
