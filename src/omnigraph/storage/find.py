"""Where the rows with given keys are, at the least cost: remembered, read once, or asked of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.model.errors import BadRequest
from omnigraph.storage.keys import FragmentKeys, KeyCache
from omnigraph.storage.lance_door import drain, lance_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.staged import FragmentIdentity

KEY = "id"
SMALL_ROWS = 65_536
"""Fragments up to this size have their keys remembered; larger ones are asked through their index."""


class KeyFinder:
    """Finds rows by key in the fragments of a table."""

    def __init__(self) -> None:
        self.cache = KeyCache()

    def locate(
        self, table: LanceTable, fragments: Sequence[FragmentIdentity], keys: pa.StringArray
    ) -> dict[int, list[int]]:
        """Offsets of the rows that have one of these keys, by fragment."""
        if len(keys) == 0:
            return {}
        found: dict[int, list[int]] = {}
        large: list[int] = []
        for fragment in fragments:
            known = self.cache.get(fragment)
            if known is None and fragment.rows > SMALL_ROWS:
                large.append(fragment.id)
                continue
            offsets = (known or self._read_keys(table, fragment)).find(keys)
            if len(offsets):
                found[fragment.id] = offsets.tolist()
        if large:
            found.update(self._ask_index(table, large, keys))
        return found

    def _read_keys(self, table: LanceTable, fragment: FragmentIdentity) -> FragmentKeys:
        with lance_errors(f"read keys of table {table.ref.location}"):
            source = table.fragment(fragment.id)
            rows = table.dataset.scanner(columns=[KEY], fragments=[source], with_row_address=True).to_table()
            drain(table.dataset)
        ids = cast("pa.StringArray", rows.column(KEY).combine_chunks().cast(pa.string()))
        keys = FragmentKeys(ids, _offsets(rows))
        self.cache.put(fragment, keys)
        return keys

    def _ask_index(self, table: LanceTable, fragments: list[int], keys: pa.StringArray) -> dict[int, list[int]]:
        with lance_errors(f"look up keys of table {table.ref.location}"):
            sources = [table.fragment(number) for number in fragments]
            quoted = ", ".join("'" + key.replace("'", "''") + "'" for key in keys.to_pylist())
            rows = table.dataset.scanner(
                columns=[KEY], filter=f"{KEY} IN ({quoted})", fragments=sources, with_row_address=True
            ).to_table()
            drain(table.dataset)
        found: dict[int, list[int]] = {}
        for address in rows.column("_rowaddr").to_pylist():
            found.setdefault(address >> 32, []).append(address & 0xFFFFFFFF)
        return found


def _offsets(rows: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    addresses = rows.column("_rowaddr").to_numpy()
    return (addresses & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def check_keys(wanted: pa.StringArray, doomed: pa.Array) -> None:
    """Refuse keys that are missing, double or contradictory."""
    if wanted.null_count or doomed.null_count:
        raise BadRequest("a key is missing: every row needs an id")
    if len(wanted.unique()) != len(wanted):
        raise BadRequest("one key appears twice in one write")
    if len(wanted) and len(doomed) and not set(wanted.to_pylist()).isdisjoint(doomed.to_pylist()):
        raise BadRequest("one key is both written and deleted in one write")
