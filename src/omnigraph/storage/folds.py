"""Small fragments written as few larger ones; every row keeps its id."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

from lance import LanceOperation
from lance.fragment import FragmentMetadata, RowIdSequence

from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.staged import (
    NEUTRAL,
    Staged,
)
from omnigraph.storage.versions import written_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.tiers import Fold
    from omnigraph.storage.versions import Versions


def fold_fragments(versions: Versions, table: LanceTable, folds: Sequence[Fold]) -> Staged:
    """One version for all folds; a fold is held in memory while it is written."""
    return stage_folds(versions, table, folds, [one for fold in folds for one in write_fold(versions, table, fold)])


def stage_folds(versions: Versions, table: LanceTable, folds: Sequence[Fold], kept: list[FragmentMetadata]) -> Staged:
    """One version in which fragments that were written stand for those that were folded."""
    touched = tuple(fragment for fold in folds for fragment in fold.fragments)
    operation = LanceOperation.Update(
        removed_fragment_ids=[fragment.id for fragment in touched],
        new_fragments=kept,
        update_mode="rewrite_rows",
    )
    result = versions.commit(table, operation)
    return Staged(
        table.ref,
        result.ref,
        "fold",
        NEUTRAL,
        result.row_count,
        touched=touched,
        operation=operation,
        files=written_files(result, kept),
    )


def write_fold(versions: Versions, table: LanceTable, fold: Fold) -> list[FragmentMetadata]:
    """The rows of a fold as a fragment that belongs to no version yet; none if no row is left."""
    with lance_errors(f"fold table {table.ref.location}"):
        sources = [table.fragment(fragment.id) for fragment in fold.fragments]
        rows = table.scanner(table.schema.names, fragments=sources, with_row_id=True, scan_in_order=True).to_table()
        drain(table.dataset)
    fragments = versions.upload(table, rows.drop_columns(["_rowid"])) if rows.num_rows else []
    if len(fragments) > 1:
        raise AssertionError("a fold within its bound is one fragment")
    row_ids = cast("pa.UInt64Array", rows.column("_rowid").combine_chunks())
    return [
        dataclasses.replace(fragment, row_id_meta=RowIdSequence(row_ids.to_pylist()).to_inline_metadata())
        for fragment in fragments
    ]
