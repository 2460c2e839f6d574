"""Traversals over the rows of a pattern: to new nodes, between known ones, and along shortest paths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from omnigraph.execute.access import Hits, Numbers
from omnigraph.execute.bindings import Entities, Trails
from omnigraph.execute.conditions import keep_rows

if TYPE_CHECKING:
    from omnigraph.execute.bindings import Bindings, Values
    from omnigraph.execute.execution import Execution
    from omnigraph.plan.steps import Follow, Meet, Trace
    from omnigraph.query import ir

_NONE: Numbers = np.empty(0, np.int64)
_PAIR_BITS = 32


def follow(execution: Execution, bindings: Bindings, step: Follow) -> Bindings:
    """Go from a bound node to others."""
    expand = step.expand
    hits = _hits(execution, expand, _sources(bindings, expand))
    if step.condition is not None:
        kept = keep_rows(execution, expand.target, f"node:{expand.target_type}", step.condition, hits.targets)
        hits = _only(hits, kept)
    return bindings.take(hits.positions).with_columns(_reached(expand, hits))


def meet(execution: Execution, bindings: Bindings, step: Meet) -> Bindings:
    """Keep the rows whose ends are connected."""
    expand = step.expand
    sources = _sources(bindings, expand)
    targets = cast("Entities", bindings.columns[expand.target]).of(f"node:{expand.target_type}")
    distinct, inverse = np.unique(sources, return_inverse=True)
    hits = _hits(execution, expand, distinct)
    rows, found = _joined(_pairs(inverse, targets), _pairs(hits.positions, hits.targets))
    there = targets[rows] >= 0
    rows, found = rows[there], found[there]
    columns: dict[str, Values] = {}
    if expand.edge_variable is not None:
        columns[expand.edge_variable] = Entities((f"edge:{expand.edge}",), hits.edges[found])
    return bindings.take(rows).with_columns(columns)


def trace(execution: Execution, bindings: Bindings, step: Trace) -> Bindings:
    """Find one shortest path for each row, or for each node that can be reached from it."""
    expand = step.expand
    key = f"node:{expand.target_type}"
    sources = _sources(bindings, expand)
    targets = None if step.binds_target else cast("Entities", bindings.columns[expand.target]).of(key)
    if expand.chains:
        found = execution.access.shortest(
            expand.edge, expand.direction, sources, targets, expand.min_hops, expand.max_hops
        )
        positions, ends = found.positions, found.targets
        trails = Trails(_ids(execution, key, found.nodes), _ids(execution, f"edge:{expand.edge}", found.edges))
    else:
        positions, ends, trails = _single_edges(execution, expand, sources, targets)
    kept = np.ones(len(positions), np.bool_)
    if step.condition is not None:
        kept = keep_rows(execution, expand.target, key, step.condition, ends)
    columns: dict[str, Values] = {cast("str", expand.path_variable): trails.take(kept)}
    if step.binds_target:
        columns[expand.target] = Entities((key,), ends[kept])
    return bindings.take(positions[kept]).with_columns(columns)


# -- hits ----------------------------------------------------------------------------------------------


def _sources(bindings: Bindings, expand: ir.Expand) -> Numbers:
    return cast("Entities", bindings.columns[expand.source]).of(f"node:{expand.source_type}")


def _hits(execution: Execution, expand: ir.Expand, sources: Numbers) -> Hits:
    if not expand.chains or (expand.min_hops, expand.max_hops) == (1, 1):
        if expand.min_hops > 1:
            return Hits(_NONE, _NONE, _NONE)  # such edges cannot follow each other
        parallel = expand.edge_variable is not None
        return execution.access.expand(expand.edge, expand.direction, sources, parallel=parallel)
    distinct, inverse = np.unique(sources, return_inverse=True)
    hits = execution.access.reach(expand.edge, expand.direction, distinct, expand.min_hops, expand.max_hops)
    return hits if len(distinct) == len(sources) and _is_sorted(sources) else _repeated(hits, inverse, len(distinct))


def _is_sorted(sources: Numbers) -> bool:
    return len(sources) < 2 or bool((sources[1:] > sources[:-1]).all())


def _repeated(hits: Hits, inverse: Numbers, count: int) -> Hits:
    """Give the hits of each distinct source to every row that has it."""
    starts = np.searchsorted(hits.positions, np.arange(count + 1))
    sizes = np.diff(starts)[inverse]
    positions = np.repeat(np.arange(len(inverse)), sizes)
    chosen = _ranges(starts[:-1][inverse], sizes)
    return Hits(positions, hits.targets[chosen], hits.edges[chosen] if len(hits.edges) else hits.edges)


def _ranges(starts: Numbers, sizes: Numbers) -> Numbers:
    """Concatenate the ranges that start here and have these sizes."""
    total = int(sizes.sum())
    before = np.cumsum(sizes) - sizes
    return np.arange(total) - np.repeat(before - starts, sizes)


def _only(hits: Hits, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Hits:
    edges = hits.edges[kept] if len(hits.edges) else hits.edges
    return replace(hits, positions=hits.positions[kept], targets=hits.targets[kept], edges=edges)


def _reached(expand: ir.Expand, hits: Hits) -> dict[str, Values]:
    columns: dict[str, Values] = {expand.target: Entities((f"node:{expand.target_type}",), hits.targets)}
    if expand.edge_variable is not None:
        columns[expand.edge_variable] = Entities((f"edge:{expand.edge}",), hits.edges)
    return columns


def _pairs(first: Numbers, second: Numbers) -> Numbers:
    return (first.astype(np.int64) << _PAIR_BITS) | (second & 0xFFFFFFFF)


def _joined(rows: Numbers, hits: Numbers) -> tuple[Numbers, Numbers]:
    """Positions of equal numbers in both lists, by the position in the first."""
    order = np.argsort(hits, kind="stable")
    ordered = hits[order]
    starts = np.searchsorted(ordered, rows, side="left")
    sizes = np.searchsorted(ordered, rows, side="right") - starts
    return np.repeat(np.arange(len(rows)), sizes), order[_ranges(starts, sizes)]


# -- paths ---------------------------------------------------------------------------------------------


def _ids(execution: Execution, key: str, lists: pa.ListArray) -> pa.ListArray:
    ordinals = np.asarray(lists.flatten(), np.int64)
    ids = execution.access.gather(key, ["id"], ordinals).column("id").combine_chunks()
    return cast("pa.ListArray", pa.ListArray.from_arrays(_offsets(lists), ids))


def _offsets(lists: pa.ListArray) -> pa.Array:
    lengths = np.asarray(lists.value_lengths().fill_null(0), np.int64)
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def _single_edges(
    execution: Execution, expand: ir.Expand, sources: Numbers, targets: Numbers | None
) -> tuple[Numbers, Numbers, Trails]:
    """Paths of one edge between nodes of two types; of parallel edges the one with the least id."""
    hits = Hits(_NONE, _NONE, _NONE)
    if expand.min_hops == 1:
        hits = execution.access.expand(expand.edge, expand.direction, sources, parallel=True)
    if targets is not None:
        hits = _only(hits, targets[hits.positions] == hits.targets)
    edge_ids = np.asarray(_id_column(execution, f"edge:{expand.edge}", hits.edges), object)
    order = np.lexsort((edge_ids.astype(str), hits.targets, hits.positions))
    pairs = _pairs(hits.positions, hits.targets)[order]
    first = order[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(order) else order
    starts = _id_column(execution, f"node:{expand.source_type}", sources[hits.positions[first]])
    ends = _id_column(execution, f"node:{expand.target_type}", hits.targets[first])
    nodes = _listed([starts, ends])
    edges = _listed([pa.array(edge_ids[first], pa.string())])
    return hits.positions[first], hits.targets[first], Trails(nodes, edges)


def _id_column(execution: Execution, key: str, ordinals: Numbers) -> pa.Array:
    return cast("Any", execution.access.gather(key, ["id"], ordinals).column("id").combine_chunks())


def _listed(columns: list[pa.Array]) -> pa.ListArray:
    """Lists of one item from each column."""
    count, width = len(columns[0]), len(columns)
    order = np.arange(count * width).reshape(width, count).T.ravel()
    items = pa.concat_arrays(columns).take(pa.array(order))
    return cast("pa.ListArray", pa.ListArray.from_arrays(pa.array(np.arange(count + 1) * width, pa.int32()), items))
