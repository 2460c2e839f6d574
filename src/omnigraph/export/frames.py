"""Rows as columns for Parquet and CSV, under the names and in the forms that a load of such files reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from omnigraph.export.values import json_values
from omnigraph.schema import table_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnigraph.export.rows import TableRows
    from omnigraph.model.types import PropType
    from omnigraph.schema import EdgeType, NodeType

_ENDS_SAID = {"src": "from", "dst": "to"}


def parquet_frames(table: TableRows) -> Iterator[pa.Table]:
    """Typed columns; a Blob is text as in JSONL, because its bytes may be the graph's or be elsewhere."""
    yield from _frames(table, lambda column, _: column)


def csv_frames(table: TableRows) -> Iterator[pa.Table]:
    """Columns of text: lists and vectors as JSON, days and times as ISO 8601."""
    yield from _frames(table, _texts)


def file_schema(table: NodeType | EdgeType) -> pa.Schema:
    """The columns of a Parquet file."""
    stored = table_schema(table)
    ends = [pa.field(_ENDS_SAID.get(name, name), pa.string(), nullable=False) for name in table.fields]
    return pa.schema([*ends, *(_file_field(stored.field(each.name), each.type) for each in table.properties)])


def _file_field(field: pa.Field, declared: PropType) -> pa.Field:
    return pa.field(field.name, pa.large_string()) if declared.is_blob else field.with_metadata(None)


def _frames(table: TableRows, form: Callable[[Any, PropType], Any]) -> Iterator[pa.Table]:
    for rows, blobs in table.pieces():
        columns: dict[str, Any] = {_ENDS_SAID.get(name, name): rows.column(name) for name in table.table.fields}
        for each in table.table.properties:
            if each.type.is_blob:
                columns[each.name] = pa.array(blobs[each.name], pa.large_string())
            else:
                columns[each.name] = form(rows.column(each.name), each.type)
        yield pa.table(columns)


def _texts(column: Any, declared: PropType) -> pa.Array:
    values = json_values(column, declared)
    if declared.is_list or declared.is_vector:
        texts = [None if value is None else orjson.dumps(value).decode() for value in values]
    else:
        texts = [_text(value) for value in values]
    return pa.array(texts, pa.large_string())


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
