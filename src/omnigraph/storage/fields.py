"""Lance's field messages: how a column keeps its id, and so its data, under another name.

A field id can be given through Lance's own form of a schema only, one protobuf message per field, as its pickling
makes it. Messages are edited here field by field; what is not understood is passed on as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa
from lance.schema import LanceSchema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ColumnFields: TypeAlias = tuple[bytes, ...]
"""A column's message, then those of what is inside it."""

_NAME, _ID, _PARENT, _NULLABLE = 2, 3, 4, 6
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NO_PARENT = -1
_WIDTH = {_FIXED64: 8, _FIXED32: 4}


def columns_of(schema: LanceSchema) -> dict[str, ColumnFields]:
    """The columns of a schema by name."""
    _, messages = _parts(schema)
    columns: list[list[bytes]] = []
    for message in messages:
        if _number(message, _PARENT) == _NO_PARENT:
            columns.append([])
        columns[-1].append(message)
    return {column_name(tuple(column)): tuple(column) for column in columns}


def schema_of(columns: Sequence[ColumnFields], like: LanceSchema) -> LanceSchema:
    """A schema of these columns."""
    build, (metadata, *_) = cast("tuple[Any, tuple[Any, ...]]", like.__reduce__())
    return build(metadata, *(message for column in columns for message in column))


def column_name(column: ColumnFields) -> str:
    """What a column is called."""
    return next(cast("bytes", value) for number, _, value in _read(column[0]) if number == _NAME).decode()


def called(column: ColumnFields, name: str, *, nullable: bool) -> ColumnFields:
    """The same column, with the same data, under this name."""
    top = _write(column[0], {_NAME: name.encode(), _NULLABLE: int(nullable)})
    return (top, *column[1:])


def fresh(field: pa.Field, first_id: int) -> ColumnFields:
    """A new column, with ids from `first_id` on."""
    _, messages = _parts(LanceSchema.from_pyarrow(pa.schema([field])))
    ids = {_number(message, _ID): first_id + place for place, message in enumerate(messages)}
    ids[_NO_PARENT] = _NO_PARENT
    return tuple(
        _write(message, {_ID: ids[_number(message, _ID)], _PARENT: ids[_number(message, _PARENT)]})
        for message in messages
    )


def _parts(schema: LanceSchema) -> tuple[str, tuple[bytes, ...]]:
    _, (metadata, *messages) = cast("tuple[object, tuple[Any, ...]]", schema.__reduce__())
    return metadata, tuple(messages)


def _number(message: bytes, number: int) -> int:
    found = [cast("int", value) for which, _, value in _read(message) if which == number]
    value = found[-1] if found else 0
    return value - 2**64 if value >= 2**63 else value


def _read(message: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Number, wire type and value of each field of a message."""
    place = 0
    while place < len(message):
        tag, place = _read_varint(message, place)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, place = _read_varint(message, place)
            yield number, wire, value
            continue
        size = _WIDTH.get(wire)
        if size is None:
            size, place = _read_varint(message, place)
        yield number, wire, message[place : place + size]
        place += size


def _write(message: bytes, changes: Mapping[int, int | bytes]) -> bytes:
    kept = [(number, wire, value) for number, wire, value in _read(message) if number not in changes]
    for number, value in changes.items():
        kept.append((number, _BYTES if isinstance(value, bytes) else _VARINT, value))
    parts: list[bytes] = []
    for number, wire, value in kept:
        parts.append(_varint(number << 3 | wire))
        if isinstance(value, int):
            parts.append(_varint(value))
        else:
            parts.extend([_varint(len(value)), value] if wire == _BYTES else [value])
    return b"".join(parts)


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def _varint(value: int) -> bytes:
    value &= 2**64 - 1
    parts: list[int] = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
