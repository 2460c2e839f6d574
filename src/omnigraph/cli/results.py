"""The rows of a query as text: `table`, `kv`, `csv`, `jsonl` and `json`."""

from __future__ import annotations

import csv
import json
import sys
from enum import StrEnum
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from omnigraph.cli import render
from omnigraph.cli.operator import read_operator
from omnigraph.client.documents import mutation_document, read_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from omnigraph.execute.result import Result
    from omnigraph.write.mutate import MutationResult

COLUMN_WIDTH_MAX = 80


class ReadFormat(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    KV = "kv"
    CSV = "csv"
    JSONL = "jsonl"
    JSON = "json"


def print_answer(answer: Result | MutationResult, form: str) -> None:
    """Print what a stored query did."""
    from omnigraph.execute.result import Result

    if isinstance(answer, Result):
        print_result(answer, ReadFormat(form))
    else:
        render.print_json(mutation_document(answer))


def print_result(result: Result, form: ReadFormat) -> None:
    """Print the rows of a query."""
    _PRINTERS[form](result)


def _header(result: Result) -> str:
    count = len(result)
    place = f"branch {result.branch}" if result.branch is not None else f"snapshot {result.snapshot}"
    return f"{count} {'row' if count == 1 else 'rows'} from {place} via {result.query_name}"


def _print_table(result: Result) -> None:
    _say([_header(result)])
    if not len(result):
        return
    defaults = read_operator().defaults
    lay = _wrapped if defaults.table_cell_layout == "wrap" else _cut
    rows = [[_cell(value) for value in row.values()] for row in result.rows]
    columns = list(result.columns)
    width_max = defaults.table_max_column_width or COLUMN_WIDTH_MAX
    widths = [min(width_max, max(map(len, each))) for each in zip(columns, *rows, strict=True)]
    _say([*_lines(columns, widths, lay), "-+-".join("-" * width for width in widths)])
    for row in rows:
        _say(_lines(row, widths, lay))


def _lines(cells: list[str], widths: list[int], lay: Callable[[str, int], list[str]]) -> Iterator[str]:
    """A row of a table, in as many lines as its cells need."""
    laid = [lay(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for pieces in zip_longest(*laid, fillvalue=""):
        yield " | ".join(piece.ljust(width) for piece, width in zip(pieces, widths, strict=True)).rstrip()


def _cut(text: str, width: int) -> list[str]:
    return [text if len(text) <= width else text[: width - 1] + "…"]


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width) or [""]


def _cell(value: Any) -> str:
    from omnigraph.execute.html import shown

    return "null" if value is None else " ".join(shown(value).splitlines())


def _print_kv(result: Result) -> None:
    from omnigraph.execute.html import shown

    _say([_header(result)])
    for number, row in enumerate(result.rows, 1):
        _say([f"row {number}"])
        _say(f"{name}: {'null' if value is None else shown(value)}" for name, value in row.items())


def _print_csv(result: Result) -> None:
    from omnigraph.execute.html import shown

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(result.columns)
    for row in result.rows:
        writer.writerow("" if value is None else shown(value) for value in row.values())


def _print_jsonl(result: Result) -> None:
    document = read_document(result)
    head = {"kind": "metadata", **{name: document[name] for name in ("query_name", "target", "row_count")}}
    _say(json.dumps(line, ensure_ascii=False) for line in (head, *document["rows"]))


def _print_json(result: Result) -> None:
    render.print_json(read_document(result))


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


_PRINTERS: dict[ReadFormat, Callable[[Result], None]] = {
    ReadFormat.TABLE: _print_table,
    ReadFormat.KV: _print_kv,
    ReadFormat.CSV: _print_csv,
    ReadFormat.JSONL: _print_jsonl,
    ReadFormat.JSON: _print_json,
}
