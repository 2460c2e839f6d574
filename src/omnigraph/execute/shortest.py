"""One shortest path from a node to others: distances from the source, then back from each target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.execute.access import Paths
from omnigraph.execute.columns import ranks_of
from omnigraph.execute.hops import distinct

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.adjacency import Adjacency, Small

_Grid = np.ndarray[tuple[int, int], np.dtype[np.int64]]
_UNSEEN = -1
_SPARSE_SHARE = 32
"""Fewer numbers than this part of all possible ones are sorted; more are marked and read off in order."""
_NONE: Numbers = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Steps:
    """How paths are looked for: forward and backward neighbours, how ids are ordered, when to stop."""

    forward: Adjacency
    backward: Adjacency
    """With parallel edges."""
    ranks: Small
    """The place of each node's id among all ids."""
    least_edge: Callable[[Numbers, Numbers], Numbers]
    """Given edges and the group each is of, in order: of each group the one with the least id."""
    min_hops: int
    max_hops: int | None
    check: Callable[[], None]

    def allows(self, hops: int) -> bool:
        """Whether a distance is within bounds."""
        return self.min_hops <= hops and (self.max_hops is None or hops <= self.max_hops)


@dataclass(frozen=True, slots=True)
class Found:
    """Paths from one source: the targets, and of all of them nodes and edges, flattened, with their lengths."""

    targets: Numbers
    lengths: Numbers
    """In edges."""
    nodes: Numbers
    edges: Numbers

    def take(self, places: Numbers) -> Found:
        """Some of the paths, or some repeated."""
        if len(places) == len(self.targets) and (places == np.arange(len(places))).all():
            return self
        lengths = self.lengths[places]
        starts = np.cumsum(self.lengths) - self.lengths
        nodes = _ranges(starts[places] + places, lengths + 1)
        return Found(self.targets[places], lengths, self.nodes[nodes], self.edges[_ranges(starts[places], lengths)])


def _ranges(starts: Numbers, sizes: Numbers) -> Numbers:
    """Concatenate the ranges that start here and have these sizes."""
    return np.arange(int(sizes.sum())) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)


def find_paths(steps: Steps, sources: Numbers, targets: Numbers | None) -> Paths:
    """A shortest path from each source to each node it reaches, or to its own target alone; -1 has none."""
    present = sources >= 0 if targets is None else (sources >= 0) & (targets >= 0)
    rows = np.flatnonzero(present)
    rows = rows[np.argsort(sources[rows], kind="stable")]
    distinct, starts = np.unique(sources[rows], return_index=True)
    positions: list[Numbers] = [_NONE]
    found: list[Found] = []
    for source, start, end in zip(distinct, starts, [*starts[1:], len(rows)], strict=False):
        mine = rows[start:end]
        if targets is None:
            one = paths_from(steps, int(source), None)
            copies, places = mine.repeat(len(one.targets)), np.tile(np.arange(len(one.targets)), len(mine))
        else:
            one = paths_from(steps, int(source), np.unique(targets[mine]))
            places = np.searchsorted(one.targets, targets[mine])
            hit = places < len(one.targets)
            hit[hit] = one.targets[places[hit]] == targets[mine][hit]
            copies, places = mine[hit], places[hit]
        positions.append(copies)
        found.append(one.take(places))
    return _paths(np.concatenate(positions), found)


def _paths(positions: Numbers, found: list[Found]) -> Paths:
    order = np.argsort(positions, kind="stable")
    targets = np.concatenate([_NONE, *(one.targets for one in found)])
    lengths = np.concatenate([_NONE, *(one.lengths for one in found)])
    nodes = _lists(np.concatenate([_NONE, *(one.nodes for one in found)]), lengths + 1)
    edges = _lists(np.concatenate([_NONE, *(one.edges for one in found)]), lengths)
    indices = pa.array(order)
    return Paths(positions[order], targets[order], nodes.take(indices), edges.take(indices))


def _lists(items: Numbers, lengths: Numbers) -> pa.ListArray:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return cast("pa.ListArray", pa.ListArray.from_arrays(pa.array(offsets), pa.array(items)))


def paths_from(steps: Steps, source: int, targets: Numbers | None) -> Found:
    """A shortest path from a node to each of some distinct nodes, or to each node it reaches."""
    if targets is not None and len(targets) == 1 and targets[0] != source:
        distances = distances_between(steps, source, int(targets[0]))
    else:
        distances = _distances(steps, source, targets)
    wanted = np.flatnonzero(distances != _UNSEEN) if targets is None else targets[distances[targets] != _UNSEEN]
    lengths = distances[wanted].astype(np.int64)
    loop = _loop(steps, source) if steps.allows(1) and (targets is None or source in targets) else None
    lengths[wanted == source] = 0 if loop is None else 1
    kept = (lengths >= steps.min_hops) & (lengths > 0)
    if steps.max_hops is not None:
        kept &= lengths <= steps.max_hops
    wanted, lengths = wanted[kept], lengths[kept]
    nodes, edges = _walk_back(steps, source, wanted, lengths, distances)
    if loop is not None:
        rows = np.flatnonzero(wanted == source)
        nodes[rows, 0], nodes[rows, 1], edges[rows, 0] = source, source, loop
    return _flattened(wanted, lengths, nodes, edges)


def _distances(steps: Steps, source: int, targets: Numbers | None) -> Small:
    """How far nodes are, until all targets are found or nothing is left."""
    distances = np.full(steps.forward.sources, _UNSEEN, np.int32)
    distances[source] = 0
    frontier = np.array([source])
    hop = 0
    while len(frontier) and (steps.max_hops is None or hop < steps.max_hops):
        if targets is not None and (distances[targets] != _UNSEEN).all():
            break
        steps.check()
        hop += 1
        slots, _ = steps.forward.slots(frontier)
        reached = steps.forward.targets[slots]
        frontier = _distinct(reached[distances[reached] == _UNSEEN], len(distances))
        distances[frontier] = hop
    return distances


def distances_between(steps: Steps, source: int, target: int) -> Small:
    """How far from the source those nodes are that a shortest path to the target may pass; from both ends at once.

    Each side is followed by whole levels, so the first level that meets the other side is on shortest paths.
    """
    near = _Side(steps.forward, source)
    far = _Side(steps.backward, target)
    while near.frontier.size and far.frontier.size:
        if steps.max_hops is not None and near.depth + far.depth >= steps.max_hops:
            break
        steps.check()
        side, other = (near, far) if near.cost() <= far.cost() else (far, near)
        side.advance()
        meeting = side.frontier[other.distances[side.frontier] != _UNSEEN]
        if meeting.size:
            return _joined(steps.forward, near, far, meeting)
    return near.distances


class _Side:
    """What is reached from one end of a path."""

    def __init__(self, adjacency: Adjacency, start: int) -> None:
        self.adjacency = adjacency
        self.distances = np.full(adjacency.sources, _UNSEEN, np.int32)
        self.distances[start] = 0
        self.frontier = np.array([start])
        self.depth = 0

    def cost(self) -> int:
        """How many edges the next level follows."""
        return int((self.adjacency.offsets[self.frontier + 1] - self.adjacency.offsets[self.frontier]).sum())

    def advance(self) -> None:
        """Follow one more level."""
        slots, _ = self.adjacency.slots(self.frontier)
        reached = self.adjacency.targets[slots]
        self.frontier = _distinct(reached[self.distances[reached] == _UNSEEN], len(self.distances))
        self.depth += 1
        self.distances[self.frontier] = self.depth


def _joined(forward: Adjacency, near: _Side, far: _Side, meeting: Numbers) -> Small:
    """Go on from where the sides met, towards the target: only along shortest paths."""
    distances = near.distances
    for left in range(far.depth - 1, -1, -1):
        slots, _ = forward.slots(meeting)
        reached = forward.targets[slots]
        meeting = _distinct(reached[far.distances[reached] == left], len(distances))
        distances[meeting] = near.depth + far.depth - left
    return distances


def _distinct(nodes: Small, count: int) -> Numbers:
    if len(nodes) * _SPARSE_SHARE < count:
        return distinct(nodes.astype(np.int64))
    marks = np.zeros(count, np.bool_)
    marks[nodes] = True
    return np.flatnonzero(marks)


def _loop(steps: Steps, source: int) -> int | None:
    """The edge from a node to itself, of several the one with the least id."""
    slots, _ = steps.backward.slots(np.array([source]))
    edges = steps.backward.edges[slots[steps.backward.targets[slots] == source]].astype(np.int64)
    return int(steps.least_edge(edges, np.zeros(len(edges), np.int64))[0]) if len(edges) else None


def _walk_back(steps: Steps, source: int, targets: Numbers, lengths: Numbers, distances: Small) -> tuple[_Grid, _Grid]:
    """All paths at once, a step at a time: nodes and edges, a row for each path, aligned at the start."""
    depth = int(lengths.max(initial=0))
    nodes = np.full((len(targets), depth + 1), _UNSEEN, np.int64)
    edges = np.full((len(targets), depth), _UNSEEN, np.int64)
    rows = np.arange(len(targets))
    nodes[rows, lengths] = targets
    for hop in range(depth, 0, -1):
        steps.check()
        rows = np.flatnonzero((lengths >= hop) & (targets != source))
        at, place = np.unique(nodes[rows, hop], return_inverse=True)
        before, along = _step_back(steps, at, hop, distances)
        nodes[rows, hop - 1] = before[place]
        edges[rows, hop - 1] = along[place]
    return nodes, edges


def _step_back(steps: Steps, nodes: Numbers, hop: int, distances: Small) -> tuple[Numbers, Numbers]:
    """For each node the neighbour one nearer to the source that has the least id, and the least edge from there."""
    slots, positions = steps.backward.slots(nodes)
    near = distances[steps.backward.targets[slots]] == hop - 1
    slots, positions = slots[near], positions[near]
    neighbours = steps.backward.targets[slots]
    ranks = steps.ranks[neighbours]
    least = np.full(len(nodes), np.iinfo(np.int32).max, np.int32)
    np.minimum.at(least, positions, ranks)
    chosen = ranks == least[positions]
    slots, positions = slots[chosen], positions[chosen]
    before = np.empty(len(nodes), np.int64)
    before[positions] = steps.backward.targets[slots]
    return before, steps.least_edge(steps.backward.edges[slots].astype(np.int64), positions)


def _flattened(targets: Numbers, lengths: Numbers, nodes: _Grid, edges: _Grid) -> Found:
    columns = np.arange(nodes.shape[1])
    return Found(
        targets, lengths, nodes[columns <= lengths[:, None]], edges[columns[: edges.shape[1]] < lengths[:, None]]
    )


def least_of_groups(ids: pa.ChunkedArray | pa.Array, edges: Numbers, groups: Numbers) -> Numbers:
    """Of each group of edges the one with the least id, given their ids. Groups are numbered in order."""
    values = ids if isinstance(ids, pa.ChunkedArray) else pa.chunked_array([ids])
    order = np.lexsort((ranks_of(values), groups))
    first = np.ones(len(order), np.bool_)
    first[1:] = groups[order][1:] != groups[order][:-1]
    return edges[order[first]]
