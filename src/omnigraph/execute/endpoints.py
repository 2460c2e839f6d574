"""The ends of edges as ordinals of nodes: found once, then carried over to later versions of the three tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from omnigraph.execute.columns import Column, Fragments, common_start, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.execute.adjacency import Small
    from omnigraph.storage.interface import TableHandle

_ENDS = ("src", "dst")
_GROUP_ROWS = 4_000_000
"""How many edges are read before their ends are looked up: texts are forgotten group by group."""
_FEW = 16
"""Looking for few values among many is cheaper the other way round, if there are fewer than this part of them."""


@dataclass(frozen=True)
class Origin:
    """The fragments of an edge table and of its two node tables: on these the ordinals depend."""

    edges: Fragments
    sources: Fragments
    targets: Fragments

    def continues(self, earlier: Origin) -> bool:
        """Whether all edges of an earlier version are the same here, and all their nodes have the same numbers."""
        pairs = ((self.edges, earlier.edges), (self.sources, earlier.sources), (self.targets, earlier.targets))
        return all(common_start(now, before) == len(before) for now, before in pairs)


@dataclass(frozen=True)
class Endpoints:
    """For each edge in scan order the ordinals of its nodes. An edge without one has -1."""

    fragments: Fragments
    sources: Small
    targets: Small
    source_ids: Column
    target_ids: Column

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory; the ids are counted where they are kept."""
        return self.sources.nbytes + self.targets.nbytes


NO_ENDS: tuple[Small, Small] = (np.empty(0, np.int32), np.empty(0, np.int32))


def read_endpoints(
    table: TableHandle, source_ids: Column, target_ids: Column, earlier: Sequence[Endpoints]
) -> Endpoints:
    """Find the ends of edges, given those of other versions: only edges these do not have are read."""
    fragments = tuple(table.fragments())
    base = max(earlier, key=lambda each: common_start(each.fragments, fragments), default=None)
    known = 0 if base is None else common_start(base.fragments, fragments)
    fresh = read_ends(table, fragments[known:], source_ids, target_ids)
    if base is None or not known:
        return Endpoints(fragments, *fresh, source_ids, target_ids)
    rows = rows_of(fragments[:known])
    sources = np.concatenate([_renumbered(base.sources[:rows], base.source_ids, source_ids), fresh[0]])
    targets = np.concatenate([_renumbered(base.targets[:rows], base.target_ids, target_ids), fresh[1]])
    return Endpoints(fragments, sources, targets, source_ids, target_ids)


def read_ends(table: TableHandle, fragments: Fragments, source_ids: Column, target_ids: Column) -> tuple[Small, Small]:
    """Find the ends of the edges of some fragments."""
    sources: list[Small] = [np.empty(0, np.int32)]
    targets: list[Small] = [np.empty(0, np.int32)]
    for src, dst in _groups(table, fragments):
        sources.append(ordinals_of(src, source_ids))
        targets.append(ordinals_of(dst, target_ids))
    return np.concatenate(sources), np.concatenate(targets)


def ordinals_of(ids: pa.ChunkedArray, among: Column) -> Small:
    """Where ids stand in a column of ids; -1 if they do not."""
    if len(ids) * _FEW < len(among):
        places = np.flatnonzero(np.asarray(cast("Any", pc).is_in(among.data, value_set=ids.unique())))
        if not len(places):
            return np.full(len(ids), -1, np.int32)
        found = _index_in(ids, among.take(places))
        return np.where(found < 0, -1, places[np.maximum(found, 0)]).astype(np.int32)
    return _index_in(ids, among.data.combine_chunks())


def _index_in(values: pa.ChunkedArray, among: pa.Array) -> Small:
    found = cast("Any", pc).index_in(values, value_set=among)
    return np.asarray(found.fill_null(-1)).astype(np.int32, copy=False)


def _groups(table: TableHandle, fragments: Fragments) -> Iterator[tuple[pa.ChunkedArray, pa.ChunkedArray]]:
    """Read the ids at both ends, many edges at once."""
    if not fragments:
        return
    if rows_of(fragments) <= _GROUP_ROWS:
        rows = table.scan(_ENDS, fragments=fragments)
        yield rows.column("src"), rows.column("dst")
        return
    group: list[pa.RecordBatch] = []
    for batch in table.batches(_ENDS, fragments=fragments):
        group.append(batch)
        if sum(len(each) for each in group) >= _GROUP_ROWS:
            yield _columns(group)
            group = []
    if group:
        yield _columns(group)


def _columns(batches: Sequence[pa.RecordBatch]) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    rows = pa.Table.from_batches(batches)
    return rows.column("src"), rows.column("dst")


def _renumbered(ordinals: Small, before: Column, now: Column) -> Small:
    """Ordinals of nodes as another version of their table numbers them."""
    known = rows_of(now.fragments[: common_start(before.fragments, now.fragments)])
    if known == len(before):
        return ordinals
    moved = ordinals_of(before.data.slice(known), now)
    return np.concatenate([np.arange(known, dtype=np.int32), moved, np.full(1, -1, np.int32)])[ordinals]
