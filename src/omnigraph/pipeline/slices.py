"""Tables cut into slices that tasks on other machines read: plain data that travels, and what it becomes there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from omnigraph.storage.address import parse_address
from omnigraph.storage.addresses import ADDRESS
from omnigraph.storage.rows import within_blob_bytes
from omnigraph.storage.staged import TableRef
from omnigraph.storage.store import connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from omnigraph.storage.interface import TableHandle
    from omnigraph.storage.staged import FragmentIdentity
    from omnigraph.storage.tables import LanceTables

SLICE_ROWS = 500_000


@dataclass(frozen=True)
class TableSlice:
    """Some fragments of a table at an exact version."""

    uri: str
    location: str
    version: int
    fragments: tuple[int, ...]
    options: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def ref(self) -> TableRef:
        """The table at its version."""
        return TableRef(self.location, self.version)


def cut(
    handle: TableHandle, uri: str, options: Mapping[str, str] | None = None, rows: int = SLICE_ROWS
) -> list[TableSlice]:
    """Cut a table along its fragments; small ones stay together. At least one slice, which may be empty."""
    groups: list[list[FragmentIdentity]] = [[]]
    for fragment in handle.fragments():
        if groups[-1] and sum(each.rows for each in groups[-1]) + fragment.rows > rows:
            groups.append([])
        groups[-1].append(fragment)
    ref = handle.ref
    return [
        TableSlice(uri, ref.location, ref.version, tuple(each.id for each in group), dict(options or {}))
        for group in groups
    ]


def travelling_options(address: object, options: dict[str, str] | None) -> dict[str, str] | None:
    """Credentials for an address as this process knows them: the environment of a worker may be older, or another."""
    if not isinstance(address, str) or "://" not in address:
        return options
    if address.partition("://")[0].lower() in ("http", "https", "file"):
        return options
    return parse_address(address, options).options


def open_slice(piece: TableSlice) -> tuple[LanceTables, TableHandle]:
    """The table a slice is of."""
    tables = shared_tables(piece.uri, tuple(sorted(piece.options.items())))
    return tables, tables.open(piece.ref)


@lru_cache(maxsize=8)
def shared_tables(uri: str, options: tuple[tuple[str, str], ...]) -> LanceTables:
    """One set of tables for a process, which many tasks share."""
    from omnigraph.storage.tables import LanceTables

    address = parse_address(uri, dict(options) or None)
    return LanceTables(address, connect(address))


def read_slice(piece: TableSlice, columns: Sequence[str], where: str | None = None) -> Iterator[pa.Table]:
    """Columns of a slice in scan order, with the bytes of blobs if those are asked for."""
    if not piece.fragments:
        return
    tables, handle = open_slice(piece)
    blobs = [name for name in columns if pa.types.is_large_binary(handle.schema.field(name).type)]
    for rows in tables.read_rows(handle, columns, piece.fragments, where):
        for part in within_blob_bytes(rows, blobs):
            yield _with_blobs(tables, handle, part, blobs).select(list(columns))


def _with_blobs(tables: LanceTables, handle: TableHandle, rows: pa.Table, blobs: Sequence[str]) -> pa.Table:
    addresses = cast("list[int]", rows.column(ADDRESS).to_pylist())
    for name in blobs:
        is_there = rows.column(name).is_valid().to_pylist()
        wanted = [address for address, there in zip(addresses, is_there, strict=True) if there]
        found = iter(tables.read_blobs(handle, name, wanted))
        values = pa.array([next(found) if there else None for there in is_there], pa.large_binary())
        rows = rows.set_column(rows.schema.get_field_index(name), name, values)
    return rows
