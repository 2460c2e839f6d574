"""What nobody reads is only counted: a traversal to such a node becomes a weight on the row it starts from.

So a count over paths never makes a row per path, and ends of edges that nobody reads are not looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.plan.steps import Bind, Branch, Follow, Meet, Step, Trace, Weigh

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet


def fold_unread(steps: Sequence[Step], kept: AbstractSet[str]) -> list[Step]:
    """Turn traversals into weights, from the last to the first, so that whole branches fold."""
    folded: list[Step] = []
    used: set[str] = set(kept)
    weights: dict[str, list[Weigh]] = {}
    for step in reversed(steps):
        if isinstance(step, Follow) and _only_counted(step, used):
            expand = step.expand
            branches = tuple(weigh.branch for weigh in weights.pop(expand.target, ()))
            weigh = Weigh(expand.source, Branch(expand, step.condition, branches), step.estimate)
            weights.setdefault(expand.source, []).append(weigh)
            continue
        for name in _binds(step):
            folded.extend(weights.pop(name, ()))
        used.update(_reads(step))
        folded.append(step)
    for left in weights.values():
        folded.extend(left)
    folded.reverse()
    return folded


def _only_counted(step: Follow, used: AbstractSet[str]) -> bool:
    expand = step.expand
    one_hop = expand.min_hops == 1 and (expand.max_hops == 1 or not expand.chains)
    return one_hop and expand.target not in used and expand.edge_variable not in used


def _binds(step: Step) -> tuple[str, ...]:
    """The nodes a step binds: what counts along their edges comes behind it."""
    match step:
        case Follow(expand=expand) | Trace(expand=expand):
            return (expand.target,)
        case Bind(variable=variable):
            return (variable,)
        case _:
            return ()


def _reads(step: Step) -> tuple[str, ...]:
    match step:
        case Follow(expand=expand):
            return (expand.source,)
        case Meet(expand=expand) | Trace(expand=expand):
            return (expand.source, expand.target)
        case _:
            return ()  # what filters and blocks read is kept
