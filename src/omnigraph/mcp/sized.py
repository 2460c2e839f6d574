"""Answers sized for models: enough to work with, and a word on what was left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import orjson

from omnigraph.client.documents import read_document

if TYPE_CHECKING:
    from omnigraph.execute.result import Result

ROWS_MAX = 200
ANSWER_BYTES_MAX = 48 * 1024
TEXT_MAX = 2000
ITEMS_MAX = 32


def sized_result(result: Result, rows_max: int) -> dict[str, Any]:
    """Rows for a model: some of them, and how many there are."""
    total = len(result)
    shown = replace(result, table=result.table.slice(0, min(rows_max, ROWS_MAX)))
    document = read_document(shown)
    document["rows"] = _fitting([cut(row) for row in document["rows"]])
    document["row_count"] = total
    if len(document["rows"]) < total:
        document["truncated"] = True
        document["note"] = (
            f"{len(document['rows'])} of {total} rows are shown: "
            "narrow the match, aggregate, or page with limit and offset"
        )
    return document


def sized_list(items: list[Any], limit: int, word: str) -> dict[str, Any]:
    """A list for a model: the first ones, and how many there are."""
    shown = _fitting([cut(item) for item in items[:limit]])
    document: dict[str, Any] = {word: shown}
    if len(shown) < len(items):
        document["truncated"] = True
        document["note"] = f"the first {len(shown)} of {len(items)} are shown"
    return document


def _fitting(items: list[Any]) -> list[Any]:
    size = 0
    for number, item in enumerate(items):
        size += len(orjson.dumps(item, default=str))
        if size > ANSWER_BYTES_MAX and number:
            return items[:number]
    return items


def cut(value: Any) -> Any:
    """A value without what would fill a model's window: long texts, vectors, bytes."""
    if isinstance(value, str):
        more = len(value) - TEXT_MAX
        return value if more <= 0 else f"{value[:TEXT_MAX]}… ({more} more characters)"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        shown = [cut(item) for item in items[:ITEMS_MAX]]
        return shown if len(items) <= ITEMS_MAX else [*shown, f"… ({len(items) - ITEMS_MAX} more)"]
    if isinstance(value, dict):
        return {name: cut(item) for name, item in cast("dict[str, Any]", value).items()}
    return value
