"""Fragments that belong to no version yet, maybe uploaded by another process, and how they come into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from lance import LanceOperation
from lance.fragment import FragmentMetadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.staged import FragmentIdentity, Offsets


def parse_fragments(texts: Sequence[str]) -> list[FragmentMetadata]:
    """The fragments that `upload` reported."""
    return [FragmentMetadata.from_json(text) for text in texts]


def replacement(
    table: LanceTable,
    new: Sequence[FragmentMetadata],
    updated: Sequence[FragmentMetadata],
    gone: Sequence[int],
    *,
    replaces_all: bool = False,
) -> LanceOperation.BaseOperation:
    """New fragments in place of rows that go. The columns of the table keep their ids, which the fragments refer to."""
    if replaces_all:
        return LanceOperation.Overwrite(table.dataset.lance_schema, list(new))
    return LanceOperation.Update(
        removed_fragment_ids=list(gone),
        updated_fragments=list(updated),
        new_fragments=list(new),
        fields_for_preserving_frag_bitmap=table.field_ids(),  # else Lance takes new rows for indexed ones
        update_mode="rewrite_rows",
    )


def by_fragment(fragments: Sequence[FragmentIdentity], numbers: Sequence[int] | Offsets) -> dict[int, Offsets]:
    """Rows numbered over fragments in order, as offsets in each of them."""
    wanted = np.sort(np.asarray(numbers, np.int64))
    found: dict[int, Offsets] = {}
    start = 0
    for fragment in fragments:
        first, last = np.searchsorted(wanted, [start, start + fragment.rows])
        if last > first:
            found[fragment.id] = wanted[first:last] - start
        start += fragment.rows
    return found
