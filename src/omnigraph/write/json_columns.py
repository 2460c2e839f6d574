"""Lines of NDJSON straight to columns, without an object for any of them: where every line is as it should be.

Arrow's parser is stricter than a load in most things. Where it is not, or cannot tell what a load has to, nothing is
read here and None is the answer: then the lines are looked at one by one, which is what finds out what is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema.arrow import arrow_type, table_key
from omnigraph.schema.catalog import EdgeType
from omnigraph.write.casts import cast_column
from omnigraph.write.columns import Column, build_column
from omnigraph.write.compute import pc
from omnigraph.write.shapes import EDGE_KEYS, NODE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.schema.catalog import Catalog, NodeType, Property
    from omnigraph.write.lines import Lines

types: Any = pa.types

TYPES_MAX = 32
"""So many types may take turns in one chunk."""
BLOCK_BYTES = 1 << 20
"""So much of a text is parsed at a time, by each core."""

_START = re.compile(rb'\{"(?P<word>type|edge)": ?"(?P<name>[^"\\]*)"[,}]')
ENDS = {"src": "from", "dst": "to"}
_BRACE = ord("}")
_JSON_TYPES = {
    **dict.fromkeys((ScalarType.F32, ScalarType.VECTOR), pa.float64()),
    **dict.fromkeys((ScalarType.DATE, ScalarType.DATE_TIME), pa.string()),
}


@dataclass(frozen=True)
class TypedColumns:
    """The records of one table: their numbers among the lines, their columns, and their ids if they have some."""

    table: NodeType | EdgeType
    numbers: np.ndarray
    columns: dict[str, Column]
    ids: pa.Array | None


def read_columns(lines: Lines, catalog: Catalog) -> list[TypedColumns] | None:
    """Read lines of which nothing is to be reported; None if there is a doubt about any of them."""
    if not len(lines) or not _end_in_objects(lines):
        return None
    found: dict[str, TypedColumns] = {}
    for group in _by_head(lines):
        table = _table_of(group.head, catalog)
        if table is None or table_key(table) in found:
            return None
        read = _read(group, table, max(BLOCK_BYTES, lines.longest + 1))
        if read is None:
            return None
        found[table_key(table)] = read
    return list(found.values()) if sum(len(each.numbers) for each in found.values()) == len(lines) else None


def _end_in_objects(lines: Lines) -> bool:
    """Whether each line ends in `}`. In JSON no value goes on after `}` and a line break with the `{` of the next."""
    text = np.frombuffer(lines.text, np.uint8)
    return bool((text[lines.starts[1:] - 2] == _BRACE).all())


@dataclass(frozen=True)
class _Group:
    """Lines that start alike, naming their type: the first one and its start, their numbers, and all as one text."""

    head: re.Match[bytes]
    first: bytes
    numbers: np.ndarray
    text: pa.Buffer


def _by_head(lines: Lines) -> Iterator[_Group]:
    rest = np.arange(len(lines))
    for _ in range(TYPES_MAX):
        first = lines[int(rest[0])]
        head = _START.match(first)
        if head is None:
            return
        alike = pc.starts_with(lines.column, head.group())
        numbers = np.flatnonzero(alike.to_numpy(zero_copy_only=False))
        text = pa.py_buffer(lines.text) if len(numbers) == len(lines) else _joined(lines.column.filter(alike))
        yield _Group(head, first, numbers, text)
        rest = np.setdiff1d(rest, numbers, assume_unique=True)
        if not len(rest):
            return


def _joined(lines: pa.BinaryArray) -> pa.Buffer:
    _, offsets, text = lines.buffers()
    ends = np.frombuffer(offsets, np.int32)
    return text[int(ends[lines.offset]) : int(ends[lines.offset + len(lines)])]


def _table_of(head: re.Match[bytes], catalog: Catalog) -> NodeType | EdgeType | None:
    name = head["name"].decode(errors="replace")
    return catalog.node(name) if head["word"] == b"type" else catalog.edge(name)


# -- one table -------------------------------------------------------------------------------------------


def _read(group: _Group, table: NodeType | EdgeType, block_bytes: int) -> TypedColumns | None:
    if any(each.type.is_blob for each in table.properties):
        return None
    record, data = _keys(table, group.first)
    shape = record if data is None else [*record, pa.field("data", pa.struct(data))]
    rows = _parse(group.text, pa.schema(shape), block_bytes)
    if rows is None or rows.num_rows != len(group.numbers):
        return None
    given = {key: rows.column(key).combine_chunks() for key in rows.column_names}
    values = {} if data is None else dict(zip((each.name for each in data), given["data"].flatten(), strict=True))
    whole = [*given.values(), *(values[name] for name in _all_or_none(table) & values.keys())]
    if any(column.null_count for column in whole):
        return None
    columns = {end: Column(given[said]) for end, said in ENDS.items() if said in given}
    for each in table.properties:
        column = _column(each, values.get(each.name), rows.num_rows)
        if column is None:
            return None
        columns[each.name] = column
    return TypedColumns(table, group.numbers, columns, values.get("id"))


def _keys(table: NodeType | EdgeType, first: bytes) -> tuple[list[pa.Field], list[pa.Field] | None]:
    """The keys of a record and those of its data, with the types that JSON has for them.

    A column is null both where there is a null and where there is no key. Where that is not the same, either every
    record has the key or none: the first one decides, and the parser refuses a key that it is not told of.
    """
    record = [pa.field(key, pa.string()) for key in (EDGE_KEYS if isinstance(table, EdgeType) else NODE_KEYS)[:-1]]
    if not _is_in("data", first):
        return record, None
    data = [pa.field("id", pa.string()), *(pa.field(each.name, _json_type(each.type)) for each in table.properties)]
    left_out = {key for key in _all_or_none(table) if not _is_in(key, first)}
    return record, [field for field in data if field.name not in left_out]


def _is_in(key: str, line: bytes) -> bool:
    return b'"%s"' % key.encode() in line


def _all_or_none(table: NodeType | EdgeType) -> set[str]:
    return {"id", *(each.name for each in table.properties if each.default is not None)}


def _column(declared: Property, values: pa.Array | None, count: int) -> Column | None:
    """A property's values; None if one of them has to be looked at by itself."""
    if values is None:
        column = build_column([declared.default] * count, declared.type)
    else:
        column = cast_column(values, declared.type) if _is_plain(values) else None
    return column if isinstance(column, Column) and not column.bad else None


def _json_type(declared: PropType) -> pa.DataType:
    single = _JSON_TYPES.get(declared.scalar) or arrow_type(PropType(declared.scalar))
    return pa.list_(single) if declared.is_list or declared.is_vector else single


def _parse(text: pa.Buffer, shape: pa.Schema, block_bytes: int) -> pa.Table | None:
    options = arrow_json.ParseOptions(explicit_schema=shape, unexpected_field_behavior="error")
    reading = arrow_json.ReadOptions(block_size=block_bytes)
    try:
        rows = arrow_json.read_json(pa.BufferReader(text), reading, options)
        rows.validate(full=True)  # texts are UTF-8: the parser takes any bytes
    except pa.ArrowException:
        return None
    return rows


def _is_plain(values: pa.Array) -> bool:
    """Whether no number is one that JSON does not have (Arrow reads `NaN`), or a zero whose sign means nothing."""
    items = values.flatten() if types.is_nested(values.type) else values
    if not types.is_floating(items.type):
        return True
    numbers = items.to_numpy(zero_copy_only=False)[items.is_valid().to_numpy(zero_copy_only=False)]
    return bool(np.isfinite(numbers).all() and not np.signbit(numbers[numbers == 0]).any())
