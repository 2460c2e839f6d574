"""Blob columns: bytes that stay in the data file and are read only when asked for by name.

Lance keeps a blob's bytes apart from the other columns, and can read a part of one. By itself it would put large ones
into files of their own, which nothing here would sync, count or collect; so every blob is told to stay in the data
file of its rows. A blob that is null and one of no bytes are different, in the file as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from lance import blob_field

from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.model.types import BLOB_MARK, blob_uri_column
from omnigraph.storage.addresses import ADDRESS, split_address
from omnigraph.storage.lance_door import drain, lance_errors

if TYPE_CHECKING:
    from omnigraph.storage.handles import LanceTable

EXTENSION = "lance.blob.v2"
IN_FILE_BYTES_MAX = 2**40
"""Blobs up to this size stay in the data file: all of them."""
AS_BYTES = "all_binary"


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """What a blob is, without its bytes: null if it has neither a size nor an address."""

    size: int | None = None
    """Bytes the graph holds."""
    uri: str | None = None
    """Where it is, if it is held elsewhere."""

    @property
    def is_null(self) -> bool:
        """Whether there is no blob."""
        return self.size is None and self.uri is None


def is_blob(field: pa.Field) -> bool:
    """Whether a column holds blobs, as declared or as Lance reports it."""
    if getattr(field.type, "extension_name", None) == EXTENSION:
        return True
    return all((field.metadata or {}).get(key) == value for key, value in BLOB_MARK.items())


def check_blob(schema: pa.Schema, column: str) -> None:
    """Refuse a column that holds no blobs."""
    if column not in schema.names or not is_blob(schema.field(column)):
        raise BadRequest(f"{column} is no Blob")


def declared(schema: pa.Schema) -> pa.Schema:
    """The schema as it was asked for, from the one Lance reports."""
    return pa.schema([_declared(field) for field in schema])


def lance_schema_of(schema: pa.Schema) -> pa.Schema:
    """The schema as Lance keeps it."""
    return pa.schema([lance_field(field) for field in schema])


def lance_field(field: pa.Field) -> pa.Field:
    """A field as Lance keeps it."""
    if not is_blob(field):
        return field
    return blob_field(
        field.name,
        nullable=field.nullable,
        inline_size_threshold=IN_FILE_BYTES_MAX,
        dedicated_size_threshold=IN_FILE_BYTES_MAX,
    )


def to_write(schema: pa.Schema, table: pa.Schema) -> pa.Schema:
    """The schema of rows, marked so that Lance writes blobs as blobs and into the data file."""
    names = {field.name for field in table if is_blob(field)}
    marks = lance_field(pa.field("", pa.large_binary(), metadata=BLOB_MARK)).metadata or {}
    return pa.schema(
        [
            field.with_type(pa.large_binary()).with_metadata({**BLOB_MARK, **marks}) if field.name in names else field
            for field in schema
        ]
    )


def rows_to_write(rows: pa.Table | pa.RecordBatchReader, table: pa.Schema) -> pa.Table | pa.RecordBatchReader:
    """Rows as Lance takes them. Nothing is copied, and a reader is not read here."""
    if not any(is_blob(field) for field in table):
        return rows
    schema = to_write(rows.schema, table)
    if isinstance(rows, pa.Table):
        return rows.cast(schema)
    return pa.RecordBatchReader.from_batches(
        schema, (pa.table(batch).cast(schema).to_batches()[0] for batch in rows if batch.num_rows)
    )


def rows_read(rows: pa.Table, table: pa.Schema) -> pa.Table:
    """Rows with their schema as declared."""
    names = [name for name in rows.schema.names if name in table.names and is_blob(table.field(name))]
    for name in names:
        rows = rows.set_column(rows.schema.get_field_index(name), table.field(name), rows.column(name))
    return rows


def blob_info(table: LanceTable, address: int, column: str) -> BlobInfo:
    """Size or address of a blob; its bytes are not read."""
    names = [column, *(name for name in (blob_uri_column(column),) if name in table.schema.names)]
    with lance_errors(f"look at a blob of table {table.ref.location}"):
        rows = table.dataset.scanner(
            columns=names, filter=f"{ADDRESS} = {address}", fragments=[table.fragment(split_address(address)[0])]
        ).to_table()
        drain(table.dataset)
    row = cast("dict[str, Any]", rows.to_pylist()[0])
    found = row[column]
    return BlobInfo(found["size"] if found is not None else None, row.get(blob_uri_column(column)))


def read_blob(table: LanceTable, address: int, column: str, offset: int, length: int | None) -> bytes:
    """A part of a blob; only that part is read."""
    if offset < 0 or (length is not None and length < 0):
        raise BadRequest("a part of a blob has no negative offset or length")
    with lance_errors(f"read a blob of table {table.ref.location}"):
        (blob,) = table.dataset.take_blobs(column, addresses=[address])
        if blob is None:
            drain(table.dataset)
            raise NotFound(f"{column} of this row holds no bytes")
        size = blob.size()
        count = max(0, size - offset) if length is None else max(0, min(length, size - offset))
        data = blob.read_range(offset, count) if count else b""
        drain(table.dataset)
    return data


def _declared(field: pa.Field) -> pa.Field:
    return pa.field(field.name, pa.large_binary(), field.nullable, BLOB_MARK) if is_blob(field) else field
