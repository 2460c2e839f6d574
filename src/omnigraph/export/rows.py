"""The rows of one table as an export gives them: in the order of their ids, with the bytes of their blobs."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from omnigraph.export.order import in_order
from omnigraph.export.values import json_values
from omnigraph.model.types import MANAGED_PREFIX, blob_uri_column
from omnigraph.schema import table_key, table_schema
from omnigraph.storage.addresses import ADDRESS
from omnigraph.storage.rows import within_blob_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from omnigraph.schema import EdgeType, NodeType
    from omnigraph.storage.interface import TableHandle, Tables


@dataclass(frozen=True)
class TableRows:
    """A table of a snapshot, or some fragments of it, to be exported."""

    table: NodeType | EdgeType
    tables: Tables
    handle: TableHandle
    fragments: tuple[int, ...] | None = None

    @property
    def key(self) -> str:
        """The table, as `node:Person`."""
        return table_key(self.table)

    @cached_property
    def blobs(self) -> tuple[str, ...]:
        """Names of its Blob properties."""
        return tuple(each.name for each in self.table.properties if each.type.is_blob)

    def batches(self) -> Iterator[pa.Table]:
        """Rows by id, a batch at a time: sizes in place of blobs, and the address of each row."""
        rows = self.tables.read_rows(self.handle, table_schema(self.table).names, self.fragments)
        return in_order(rows, "id")

    def pieces(self) -> Iterator[tuple[pa.Table, dict[str, list[object]]]]:
        """Rows by id, and the texts of their blobs: few enough at a time that these fit into memory."""
        for rows in self.batches():
            for piece in within_blob_bytes(rows, self.blobs):
                yield piece, {name: self._blobs(piece, name) for name in self.blobs}

    def records(self) -> Iterator[Records]:
        """Rows by id as JSON values."""
        for rows, blobs in self.pieces():
            columns: dict[str, list[Any]] = {name: rows.column(name).to_pylist() for name in self.table.fields}
            for each in self.table.properties:
                if each.type.is_blob:
                    columns[each.name] = blobs[each.name]
                else:
                    columns[each.name] = json_values(rows.column(each.name), each.type)
            yield Records(self.table, columns)

    def _blobs(self, rows: pa.Table, name: str) -> list[object]:
        """Blobs as a load reads them: `base64:…` for bytes of the graph, else the address."""
        values: list[object] = rows.column(blob_uri_column(name)).to_pylist()
        sizes = rows.column(name).to_pylist()
        addresses = rows.column(ADDRESS).to_pylist()
        there = [row for row, size in enumerate(sizes) if size is not None]
        found = self.tables.read_blobs(self.handle, name, [cast("int", addresses[row]) for row in there])
        for row, data in zip(there, found, strict=True):
            values[row] = MANAGED_PREFIX + base64.b64encode(data).decode()
        return values


@dataclass(frozen=True)
class Records:
    """Rows of one table as JSON values by column."""

    table: NodeType | EdgeType
    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.columns["id"])
