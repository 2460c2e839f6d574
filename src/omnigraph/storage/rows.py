"""Rows with their addresses, a batch at a time; a blob comes as its size, and its bytes by address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from omnigraph.model.compute import pc
from omnigraph.storage import blobs
from omnigraph.storage.addresses import ADDRESS, rows_at
from omnigraph.storage.lance_door import drain, lance_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.storage.handles import LanceTable

BATCH_ROWS = 8192
BLOB_BYTES = 16 << 20
"""So many bytes of blobs are in memory at once, or one blob."""


def addressed_rows(
    table: LanceTable, columns: Sequence[str], fragments: Sequence[int] | None, where: str | None = None
) -> Iterator[pa.Table]:
    """Columns and the address of rows, in scan order. In place of a blob stands how many bytes it has, or null."""
    how: dict[str, Any] = {} if fragments is None else {"fragments": [table.fragment(one) for one in fragments]}
    if where is not None:
        how["filter"] = where
    with lance_errors(f"read table {table.ref.location} at version {table.ref.version}"):
        scanner = table.dataset.scanner(
            columns=list(columns), with_row_address=True, batch_size=BATCH_ROWS, scan_in_order=True, **how
        )
        for batch in scanner.to_batches():
            drain(table.dataset)
            yield _with_sizes(pa.table(batch), table.schema)
        drain(table.dataset)


def blob_bytes(table: LanceTable, column: str, addresses: Sequence[int]) -> list[bytes]:
    """The bytes of blobs that are there, in the order of their addresses as given. Only those are read."""
    if not addresses:
        return []
    rows = rows_at(table, [column], addresses, "blobs")
    found = dict(zip(rows.column(ADDRESS).to_pylist(), rows.column(column).to_pylist(), strict=True))
    return [cast("bytes", found[address]) for address in addresses]


def within_blob_bytes(rows: pa.Table, blobs: Sequence[str]) -> Iterator[pa.Table]:
    """Cut rows, in which sizes stand in place of blobs, so that the blobs of each piece fit into memory."""
    if not blobs:
        yield rows
        return
    start = held = 0
    for row, sizes in enumerate(zip(*(rows.column(name).to_pylist() for name in blobs), strict=True)):
        size = sum(cast("int", each or 0) for each in sizes)
        if row > start and held + size > BLOB_BYTES:
            yield rows.slice(start, row - start)
            start, held = row, 0
        held += size
    if start < rows.num_rows:
        yield rows.slice(start)


def _with_sizes(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    for place, name in enumerate(rows.schema.names):
        if name in schema.names and blobs.is_blob(schema.field(name)):
            sizes = [pc.struct_field(chunk, "size") for chunk in rows.column(name).chunks]
            rows = rows.set_column(place, name, pa.chunked_array(sizes, pa.uint64()))
    return rows
