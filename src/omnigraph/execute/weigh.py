"""How often a branch of the pattern matches, without making a row of every match."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from omnigraph.execute.conditions import keep_rows, scan_rows
from omnigraph.execute.dense import DenseGraph

if TYPE_CHECKING:
    from omnigraph.execute.access import Numbers
    from omnigraph.execute.bindings import Bindings, Entities
    from omnigraph.execute.execution import Execution
    from omnigraph.plan.steps import Branch, Weigh

_SPARSE_SHARE = 4
"""Following the edges of some rows one by one pays if they have fewer than this part of all edges."""


def weigh(execution: Execution, bindings: Bindings, step: Weigh) -> Bindings:
    """Multiply each row's weight by the number of matches from its node."""
    expand = step.branch.expand
    nodes = cast("Entities", bindings.columns[step.variable]).of(f"node:{expand.source_type}")
    return bindings.weighed(_matches(execution, step.branch, nodes))


def _matches(execution: Execution, branch: Branch, nodes: Numbers) -> Numbers:
    """How often a branch matches from each of these nodes."""
    if not len(nodes):
        return np.empty(0, np.int64)
    if isinstance(execution.access, DenseGraph) and not _is_few(execution, branch, nodes):
        every = _all_matches(execution, execution.access, branch)
        return np.append(every, 0)[nodes]  # no node, at -1, has no match
    distinct, inverse = np.unique(nodes, return_inverse=True)
    expand = branch.expand
    hits = execution.access.expand(expand.edge, expand.direction, distinct, parallel=expand.edge_variable is not None)
    weights = np.ones(len(hits.targets), np.int64)
    if branch.condition is not None:
        key = f"node:{expand.target_type}"
        weights *= keep_rows(execution, expand.target, key, branch.condition, hits.targets)
    for inner in branch.branches:
        weights *= _matches(execution, inner, hits.targets)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, hits.positions, weights)
    return sums[inverse]


def _is_few(execution: Execution, branch: Branch, nodes: Numbers) -> bool:
    expand = branch.expand
    edges = execution.access.count(f"edge:{expand.edge}")
    sources = max(1, execution.access.count(f"node:{expand.source_type}"))
    return len(nodes) * (edges / sources) * _SPARSE_SHARE < edges


def _all_matches(execution: Execution, dense: DenseGraph, branch: Branch) -> Numbers:
    """How often a branch matches from every node there is: sums along the edges, from the outside in."""
    expand = branch.expand
    parallel = expand.edge_variable is not None
    weights = _weights_of_targets(execution, dense, branch)
    if weights is None:
        return dense.degrees(expand.edge, expand.direction, parallel=parallel)
    adjacency = dense.adjacency(expand.edge, expand.direction)
    return (adjacency if parallel else adjacency.distinct()).total(weights)


def _weights_of_targets(execution: Execution, dense: DenseGraph, branch: Branch) -> Numbers | None:
    expand = branch.expand
    key = f"node:{expand.target_type}"
    weights: Numbers | None = None
    if branch.condition is not None:
        weights = np.zeros(dense.count(key), np.int64)
        weights[scan_rows(execution, expand.target, key, branch.condition)] = 1
    for inner in branch.branches:
        found = _all_matches(execution, dense, inner)
        weights = found if weights is None else weights * found
    return weights
