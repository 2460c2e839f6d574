"""Addresses of rows, as Lance has them: the number of a fragment, and in the lower half the row's offset in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from omnigraph.storage.lance_door import drain, lance_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.storage.handles import LanceTable

ADDRESS = "_rowaddr"
ADDRESS_FIELD = pa.field(ADDRESS, pa.uint64())
Addresses = np.ndarray[tuple[int], np.dtype[np.uint64]]
_SHIFT = np.uint64(32)
_OFFSET = np.uint64(0xFFFFFFFF)


def owners_of(addresses: np.ndarray[Any, np.dtype[np.uint64]]) -> Addresses:
    """The numbers of the fragments that rows are in."""
    return addresses >> _SHIFT


def offsets_of(addresses: np.ndarray[Any, np.dtype[np.uint64]]) -> Addresses:
    """Where rows are in their fragments."""
    return addresses & _OFFSET


def addresses_in(fragment: int, offsets: np.ndarray[Any, np.dtype[Any]]) -> Addresses:
    """The addresses of rows of one fragment."""
    return (np.uint64(fragment) << _SHIFT) | offsets


def join_address(fragment: int, offset: int) -> int:
    """The address of one row."""
    return fragment << 32 | offset


def split_address(address: int) -> tuple[int, int]:
    """The fragment of one row, and its offset there."""
    return address >> 32, address & 0xFFFFFFFF


def rows_at(table: LanceTable, columns: Sequence[str], addresses: Sequence[int], what: str = "rows") -> pa.Table:
    """Read the rows at these addresses. A filter on the address reads those rows only, deletions or not."""
    with lance_errors(f"read {what} of table {table.ref.location}"):
        rows = table.scanner(
            columns,
            filter=f"{ADDRESS} IN ({', '.join(map(str, addresses))})",
            fragments=[table.fragment(number) for number in sorted({split_address(one)[0] for one in addresses})],
            with_row_address=True,
        ).to_table()
        drain(table.dataset)
    return rows
