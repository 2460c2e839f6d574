"""Edges by the node they start from: rows of neighbours, one after the other, as compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from omnigraph.execute.access import Numbers

Small = np.ndarray[tuple[int], np.dtype[np.int32]]
"""Ordinals of nodes or edges, kept in 32 bits."""
_PACKED_BITS = 63
_BLOCK_EDGES = 1 << 17
"""Edges summed at once: their weights stay in the processor's cache."""


@dataclass(frozen=True)
class Adjacency:
    """The neighbours of node n are `targets[offsets[n] : offsets[n + 1]]`, in their order, reached along `edges`."""

    offsets: Numbers
    targets: Small
    edges: Small
    is_simple: bool
    """No node is the same node's neighbour twice."""

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        size = self.offsets.nbytes + self.targets.nbytes + self.edges.nbytes
        return size if self.is_simple else 2 * size

    @property
    def sources(self) -> int:
        """How many nodes edges can start from."""
        return len(self.offsets) - 1

    def distinct(self) -> Adjacency:
        """Each neighbour once; of parallel edges the first."""
        return self if self.is_simple else self._distinct

    @cached_property
    def _distinct(self) -> Adjacency:
        starts = np.repeat(np.arange(self.sources), self.degrees())
        kept = np.ones(len(self.targets), np.bool_)
        kept[1:] = (self.targets[1:] != self.targets[:-1]) | (starts[1:] != starts[:-1])
        before = np.concatenate([[0], np.cumsum(kept)])
        return Adjacency(before[self.offsets], self.targets[kept], self.edges[kept], is_simple=True)

    def degrees(self) -> Numbers:
        """How many edges start from each node."""
        return np.diff(self.offsets)

    def total(self, weights: Numbers) -> Numbers:
        """For each node, the sum of its neighbours' weights."""
        found = np.empty(self.sources, np.int64)
        starts = np.searchsorted(self.offsets, np.arange(0, len(self.targets) + 1, _BLOCK_EDGES))
        cuts = np.unique([0, *starts, self.sources])
        widest = int(np.diff(self.offsets[cuts]).max(initial=0))
        values, sums = np.empty(widest, np.int64), np.zeros(widest + 1, np.int64)
        for first, last in pairwise(cuts.tolist()):
            ends = self.offsets[first : last + 1]
            targets = self.targets[ends[0] : ends[-1]]
            np.take(weights, targets, out=values[: len(targets)], mode="clip")
            np.cumsum(values[: len(targets)], out=sums[1 : len(targets) + 1])
            reached = sums[ends - ends[0]]
            np.subtract(reached[1:], reached[:-1], out=found[first:last])
        return found

    def slots(self, sources: Numbers) -> tuple[Numbers, Numbers]:
        """Where the neighbours of these nodes stand, and the position of the node each belongs to. -1 has none."""
        starts = self.offsets[sources]
        sizes = self.offsets[np.minimum(sources + 1, self.sources)] - starts
        if len(sources) and int(sources.min()) < 0:
            sizes[sources < 0] = 0
        positions = np.repeat(np.arange(len(sources)), sizes)
        first = starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
        return np.arange(len(positions)) + first[positions], positions

    def neighbours(self, source: int) -> Small:
        """The neighbours of one node."""
        return self.targets[self.offsets[source] : self.offsets[source + 1]]


def build_adjacency(sources: Small, targets: Small, edges: Small, count: int) -> Adjacency:
    """Put edges in order. `count` is how many nodes they can start from; an edge without an end is left out."""
    whole = (sources >= 0) & (targets >= 0)
    if not whole.all():
        sources, targets, edges = sources[whole], targets[whole], edges[whole]
    target_bits = _bits(targets)
    edge_bits = _bits(edges)
    if _bits(sources) + target_bits + edge_bits <= _PACKED_BITS:
        packed = _packed(sources, targets, target_bits) << edge_bits
        packed |= edges
        packed.sort()
        ordered = (packed & ((1 << edge_bits) - 1)).astype(np.int32)
        pairs = packed >> edge_bits
    else:
        packed = _packed(sources, targets, target_bits)
        order = np.lexsort((edges, packed))
        ordered, pairs = edges[order], packed[order]
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=count), out=offsets[1:])
    is_simple = len(pairs) < 2 or bool((pairs[1:] != pairs[:-1]).all())
    return Adjacency(offsets, (pairs & ((1 << target_bits) - 1)).astype(np.int32), ordered, is_simple)


def both_ways(sources: Small, targets: Small) -> tuple[Small, Small, Small]:
    """Every edge once in each direction; an edge from a node to itself once."""
    edges = np.arange(len(sources), dtype=np.int32)
    proper = sources != targets
    return (
        np.concatenate([sources, targets[proper]]),
        np.concatenate([targets, sources[proper]]),
        np.concatenate([edges, edges[proper]]),
    )


def extend_adjacency(base: Adjacency, added: Adjacency) -> Adjacency:
    """Put more edges between those that are there, of nodes that may be more as well: nothing is sorted again."""
    degrees = np.zeros(added.sources, np.int64)
    degrees[: base.sources] = base.degrees()
    offsets = np.zeros(added.sources + 1, np.int64)
    np.cumsum(degrees + added.degrees(), out=offsets[1:])
    if not len(added.targets):
        return Adjacency(offsets, base.targets, base.edges, base.is_simple)
    starts = np.cumsum(degrees) - degrees
    where = _places(base, added, starts)
    targets = np.insert(base.targets, where, added.targets)
    edges = np.insert(base.edges, where, added.edges)
    is_simple = base.is_simple and added.is_simple and not _meets(base, added, where, starts)
    return Adjacency(offsets, targets, edges, is_simple)


def _places(base: Adjacency, added: Adjacency, starts: Numbers) -> Numbers:
    """Before which of the old edges each new one belongs: after those with the same ends."""
    sources = np.repeat(np.arange(added.sources), added.degrees())
    low = starts[sources].copy()
    sizes = np.zeros(added.sources, np.int64)
    sizes[: base.sources] = base.degrees()
    high = low + sizes[sources]
    while True:  # all binary searches at once
        open_ = low < high
        if not open_.any():
            return low
        middle = (low + high) // 2
        goes_right = open_ & (base.targets[np.where(open_, middle, 0)] <= added.targets)
        low = np.where(goes_right, middle + 1, low)
        high = np.where(open_ & ~goes_right, middle, high)


def _meets(base: Adjacency, added: Adjacency, where: Numbers, starts: Numbers) -> bool:
    """Whether a new edge has the ends of an old one."""
    sources = np.repeat(np.arange(added.sources), added.degrees())
    inside = where > starts[sources]
    return bool((base.targets[where[inside] - 1] == added.targets[inside]).any())


def _packed(sources: Small, targets: Small, target_bits: int) -> Numbers:
    packed = sources.astype(np.int64)
    packed <<= target_bits
    packed |= targets
    return packed


def _bits(numbers: Small) -> int:
    return max(1, int(numbers.max()).bit_length()) if len(numbers) else 1
