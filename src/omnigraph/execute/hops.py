"""Distances: which nodes are how many edges away. All sources of a chunk are followed at once, level by level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.adjacency import Adjacency

VISITED_BYTES = 64 << 20
"""What may be marked as visited at once: one byte for each source and node. At least one source is followed."""
_SPARSE_SHARE = 32
"""Fewer numbers than this part of all possible ones are sorted; more are marked and read off in order."""


def reach(
    adjacency: Adjacency, sources: Numbers, min_hops: int, max_hops: int | None, check: Callable[[], None]
) -> tuple[Numbers, Numbers]:
    """For each source the nodes whose distance is within bounds, as positions and nodes, in order.

    `check` is called between levels and may raise.
    """
    simple = adjacency.distinct()
    size = max(1, VISITED_BYTES // max(1, simple.sources))
    positions: list[Numbers] = [np.empty(0, np.int64)]
    nodes: list[Numbers] = [np.empty(0, np.int64)]
    present = np.flatnonzero(sources >= 0)
    for start in range(0, len(present), size):
        rows = present[start : start + size]
        keys = _reach_chunk(simple, sources[rows], min_hops, max_hops, check)
        owners = keys // simple.sources
        positions.append(rows[owners])
        nodes.append(keys - owners * simple.sources)
    return np.concatenate(positions), np.concatenate(nodes)


def _reach_chunk(
    adjacency: Adjacency, sources: Numbers, min_hops: int, max_hops: int | None, check: Callable[[], None]
) -> Numbers:
    """Numbers that say which source (times the nodes there are) reaches which node."""
    count = adjacency.sources
    frontier = np.arange(len(sources)) * count + sources
    visited = np.zeros(len(sources) * count, np.bool_)
    visited[frontier] = True
    found = [_own_loops(adjacency, sources, frontier)] if min_hops == 1 else []
    hop = 0
    while len(frontier) and (max_hops is None or hop < max_hops):
        check()
        hop += 1
        frontier = _next_level(adjacency, frontier, visited)
        if hop >= min_hops:
            found.append(frontier)
    return _in_order(found, len(visited))


def _own_loops(adjacency: Adjacency, sources: Numbers, keys: Numbers) -> Numbers:
    """The sources with an edge to themselves."""
    slots, positions = adjacency.slots(sources)
    return keys[positions[adjacency.targets[slots] == sources[positions]]]


def _next_level(
    adjacency: Adjacency, frontier: Numbers, visited: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Numbers:
    owners = frontier // adjacency.sources
    bases = owners * adjacency.sources
    slots, positions = adjacency.slots(frontier - bases)
    keys = bases[positions] + adjacency.targets[slots]
    if len(keys) * _SPARSE_SHARE < len(visited):
        fresh = distinct(keys[~visited[keys]])
    else:
        level = np.zeros(len(visited), np.bool_)
        level[keys] = True
        level &= ~visited
        fresh = np.flatnonzero(level)
    visited[fresh] = True
    return fresh


def distinct(numbers: Numbers) -> Numbers:
    """Each number once, in order. Sorting is faster here than NumPy's way, which hashes."""
    ordered = np.sort(numbers)
    return ordered if len(ordered) < 2 else ordered[np.append(True, ordered[1:] != ordered[:-1])]


def _in_order(found: list[Numbers], size: int) -> Numbers:
    total = sum(map(len, found))
    if len(found) == 1:
        return found[0]
    if total * _SPARSE_SHARE < size:
        return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)
    marks = np.zeros(size, np.bool_)
    for keys in found:
        marks[keys] = True
    return np.flatnonzero(marks)
