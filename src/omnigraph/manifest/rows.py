"""Rows of a manifest object: one Arrow IPC file with a format stamp and a checksum.

Every object of a chain, of the registry and of the lineage is written in this shape; the modules that own them say
what the rows mean.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from omnigraph.model.errors import CorruptObject, FormatTooNew

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FORMAT = 1
"""The shape of what is written now. Older shapes end here: `decode_rows` upgrades them."""

SCHEMA = pa.schema(
    [
        pa.field("object_id", pa.string(), nullable=False),
        pa.field("object_type", pa.string(), nullable=False),
        pa.field("location", pa.string()),
        pa.field("metadata", pa.string()),
        pa.field("base_objects", pa.list_(pa.string())),
        pa.field("table_key", pa.string()),
        pa.field("table_version", pa.uint64()),
        pa.field("table_branch", pa.string()),
        pa.field("row_count", pa.uint64()),
    ]
)
_STAMP = b"omnigraph.format"
_KIND = b"omnigraph.kind"
_CHECKSUM = b"omnigraph.checksum"
_WRITING = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
"""An object is small, and written with every commit: zstd saves a fifth of it and takes two milliseconds more."""
_READING = pa.ipc.IpcReadOptions(use_threads=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a manifest object."""

    object_id: str
    object_type: str
    location: str | None = None
    metadata: dict[str, Any] | None = None
    base_objects: tuple[str, ...] = ()
    table_key: str | None = None
    table_version: int | None = None
    table_branch: str | None = None
    row_count: int | None = None


def encode_rows(kind: str, rows: Iterable[Row]) -> bytes:
    """Write rows as an object of a kind."""
    columns: list[list[object]] = [[] for _ in SCHEMA]
    for row in rows:
        metadata = orjson.dumps(row.metadata).decode() if row.metadata is not None else None
        values = (
            row.object_id,
            row.object_type,
            row.location,
            metadata,
            list(row.base_objects),
            row.table_key,
            row.table_version,
            row.table_branch,
            row.row_count,
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    stamp = {_STAMP: str(FORMAT).encode(), _KIND: kind.encode(), _CHECKSUM: _checksum(columns)}
    schema = SCHEMA.with_metadata(stamp)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema, options=_WRITING) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=schema))
    return sink.getvalue().to_pybytes()


def decode_rows(data: bytes, where: str) -> tuple[str, list[Row]]:
    """Read an object back: its kind and rows. Refuses newer formats and anything damaged."""
    try:
        reader = pa.ipc.open_file(data, options=_READING)
        stamps = reader.schema.metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptObject(where, f"not a manifest object ({_gist(error)})") from error
    stamp = stamps.get(_STAMP, b"")
    if not stamp.isdigit():
        raise CorruptObject(where, "it has no format stamp")
    if int(stamp) > FORMAT:
        raise FormatTooNew(where, int(stamp), FORMAT)
    try:
        table = reader.read_all()
        table.validate(full=True)  # offsets that lead out of a buffer must not be followed
        columns = [column.to_pylist() for column in table.columns]
        if _checksum(columns) != stamps.get(_CHECKSUM):
            raise CorruptObject(where, "its checksum does not match")
        return stamps.get(_KIND, b"").decode(), [_row(values) for values in zip(*columns, strict=True)]
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise CorruptObject(where, _gist(error)) from error


def _row(values: Sequence[Any]) -> Row:
    object_id, object_type, location, metadata, base_objects, key, version, branch, count = values
    return Row(
        object_id,
        object_type,
        location,
        orjson.loads(metadata) if metadata is not None else None,
        tuple(base_objects or ()),
        key,
        version,
        branch,
        count,
    )


def _checksum(columns: Sequence[Sequence[object]]) -> bytes:
    return hashlib.blake2b(orjson.dumps(columns), digest_size=16).hexdigest().encode()


def _gist(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0][:200] or type(error).__name__
