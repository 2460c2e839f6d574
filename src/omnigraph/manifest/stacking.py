"""Plans of one group that only add rows: the versions of a table that each of them needs, staged side by side.

One on top of the other they would take a round trip after the other, and the group would wait for their sum.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from omnigraph.model.errors import OmniGraphError
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.manifest.plan import PublishPlan, TableChange
    from omnigraph.manifest.state import State
    from omnigraph.storage.interface import Tables
    from omnigraph.storage.staged import Staged, TableRef

Stacked = dict[tuple[str, str], "Staged"]
"""What a plan, by its commit, becomes in a table if all plans before it go through. Its base is the version before."""

NOTHING_STACKED: Stacked = {}


def stack(state: State, plans: Sequence[PublishPlan], tables: Tables) -> Stacked:
    """Stage ahead what plans, in this order on top of a state, will need.

    What is not there is staged in its turn, after the checks of its plan: so what goes wrong here is no error of the
    group, and comes up again where it belongs to one plan.
    """
    if len(plans) < 2:
        return NOTHING_STACKED
    chains = {key: chain for key, chain in _chains(plans).items() if len(chain) > 1}
    tasks = [partial(_stack_table, state, key, chain, tables) for key, chain in chains.items()]
    try:
        return {name: staged for found in run_parallel(tasks) for name, staged in found.items()}
    except OmniGraphError:
        return NOTHING_STACKED


def _chains(plans: Sequence[PublishPlan]) -> dict[str, list[tuple[str, Staged]]]:
    """By table, the first plans that add rows to it, and what they staged; another kind of change ends a chain."""
    chains: dict[str, list[tuple[str, Staged]]] = {}
    ended: set[str] = set()
    for plan in plans:
        for change in plan.changes:
            if change.staged is not None and _only_adds(change):
                if change.key not in ended:
                    chains.setdefault(change.key, []).append((plan.commit_id, change.staged))
            else:
                ended.update(change.keys)
    return chains


def _only_adds(change: TableChange) -> bool:
    staged = change.staged
    return change.source is None and staged is not None and staged.kind in ("append", "change") and not staged.touched


def _stack_table(state: State, key: str, chain: Sequence[tuple[str, Staged]], tables: Tables) -> Stacked:
    now = state.tables.get(key)
    if now is None or now.location != chain[0][1].base.location:
        return NOTHING_STACKED
    onto: TableRef = now.ref
    first = chain[0][1]
    if first.base.version == now.version and not first.is_loose:  # it fits as it is, and the others go on top of it
        onto, chain = first.ref, chain[1:]
    if len(chain) < 2:
        return NOTHING_STACKED
    staged = tables.stage_stack([one for _, one in chain], onto)
    return {(commit, key): one for (commit, _), one in zip(chain, staged, strict=False)}
