"""Index segments: each covers some fragments, several of one name add up, and fragments without one are scanned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from lance import LanceOperation
from lance.dataset import Index
from lance.query import FullTextOperator, MatchQuery

from omnigraph.storage.addresses import ADDRESS, offsets_of, owners_of
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.staged import IndexSegment

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lance import LanceDataset

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.staged import IndexBuild

_PARTITION_ROWS = 4096
"""Vectors of one partition. Centroids are learnt from a sample."""


def segments_of(table: LanceTable) -> tuple[IndexSegment, ...]:
    """All segments a version has, also those that cover nothing of it any more."""
    columns = {number: name for name in table.schema.names for number in [table.column_id(name)[0]]}
    with lance_errors(f"list indexes of table {table.ref.location}"):
        described = table.dataset.describe_indices()
        drain(table.dataset)
    found: list[IndexSegment] = []
    for index in described:
        form = index.name.partition("-")[0].upper()
        column = columns.get(index.fields[0])
        if column is not None:
            found += [
                IndexSegment(str(segment.uuid), index.name, column, form, frozenset(segment.fragment_ids))
                for segment in index.segments
            ]
    return tuple(found)


def write_segment(table: LanceTable, one: IndexBuild) -> Index:
    """Write a segment that belongs to no version yet."""
    with lance_errors(f"index table {table.ref.location}"):
        index = _build(table, one)
        drain(table.dataset)
    return index


def segment_change(
    table: LanceTable, wanted: Sequence[IndexBuild], written: Sequence[Index]
) -> LanceOperation.CreateIndex:
    """How segments that were written come into a version."""
    with lance_errors(f"index table {table.ref.location}"):
        gone = _described(table.dataset, {segment for one in wanted for segment in one.replaces})
        drain(table.dataset)
    return LanceOperation.CreateIndex(new_indices=list(written), removed_indices=gone)


def index_files(table: LanceTable, operation: LanceOperation.CreateIndex) -> tuple[str, ...]:
    """The files of new segments, below the graph's root."""
    return tuple(
        f"{table.ref.location}/_indices/{index.uuid}/{file.path}"
        for index in operation.new_indices
        for file in index.files or ()
    )


def _build(table: LanceTable, one: IndexBuild) -> Index:
    how: dict[str, Any] = {}
    if one.form == "INVERTED":
        how = {"with_position": True}
    elif one.form == "IVF_FLAT":
        how = {"metric": "cosine", "num_partitions": max(1, one.rows // _PARTITION_ROWS)}
    # Named by the column's number, because a column may get another name and another column its name.
    name = f"{one.form.lower()}-{table.column_id(one.column)[0]}"
    fragments = list(one.fragments)
    index = table.dataset.create_index_uncommitted(
        one.column, one.form, name=name, fragment_ids=fragments, replace=True, **how
    )
    return table.dataset.merge_existing_index_segments([index]) if one.form == "INVERTED" else index


def _described(dataset: LanceDataset, gone: Collection[str]) -> list[Index]:
    """Segments as Lance wants them named when they go."""
    if not gone:
        return []
    return [
        Index(
            uuid=str(segment.uuid),
            name=index.name,
            fields=list(index.fields),
            dataset_version=segment.dataset_version_at_last_update,
            fragment_ids=set(segment.fragment_ids),  # pyright: ignore[reportArgumentType] - a set will do
            index_version=segment.index_version,
        )
        for index in dataset.describe_indices()
        for segment in index.segments
        if str(segment.uuid) in gone
    ]


def text_rows(table: LanceTable, column: str, words: str, *, every: bool) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """The rows, in scan order, whose text has one of these words, or every one; in no order of their own.

    None if there is no index of words, or rows were deleted: then their addresses do not tell their places.
    """
    if any(fragment.deletion is not None for fragment in table.fragments()):
        return None
    if not any(each.column == column and each.form == "INVERTED" for each in segments_of(table)):
        return None
    operator = FullTextOperator.AND if every else FullTextOperator.OR
    with lance_errors(f"search {column} of table {table.ref.location}"):
        found = table.dataset.scanner(
            columns=["_score"],
            full_text_query=MatchQuery(words, column, operator=operator),
            with_row_address=True,
        ).to_table()
        drain(table.dataset)
    addresses = np.asarray(found.column(ADDRESS), np.uint64)
    starts, start = np.zeros(max((each.id for each in table.fragments()), default=0) + 1, np.int64), 0
    for fragment in table.fragments():
        starts[fragment.id] = start
        start += fragment.rows
    return starts[owners_of(addresses).astype(np.int64)] + offsets_of(addresses).astype(np.int64)
