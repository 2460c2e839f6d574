"""A result as HTML, for notebooks."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from omnigraph.execute.result import plain
from omnigraph.query import ir

if TYPE_CHECKING:
    from omnigraph.execute.result import Result

ROWS_MAX = 50
TEXT_MAX = 200


def result_html(result: Result) -> str:
    """A table of the first rows; above it a drawing, if the rows have nodes or paths."""
    table = result.table.slice(0, ROWS_MAX)
    heads = "".join(f"<th>{escape(name)}</th>" for name in result.columns)
    rows = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in table.to_pylist())
    more = len(result) - table.num_rows
    note = f"<p>{len(result):,} rows{f', of which {more:,} are not shown' if more else ''}</p>"
    return f"{_drawing(result)}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note}"


def _drawing(result: Result) -> str:
    if not any(isinstance(kind, ir.NodeValue | ir.PathValue) for kind in result.types):
        return ""
    return result.picture().svg


def _cell(value: Any) -> str:
    if value is None:
        return "<td><i>null</i></td>"
    align = ' style="text-align: right"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"<td{align}>{escape(shown(value, TEXT_MAX))}</td>"


def shown(value: Any, width: int | None = None) -> str:
    """A value in a cell: a node by its id, anything else as JSON writes it, cut if it is long."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, float) and plain(value) is None:
        text = str(value)
    else:
        told = plain(value)
        text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    return text if width is None or len(text) <= width else text[: max(0, width - 1)] + "…"
