"""Finding the rows of a pattern: its steps, one after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from omnigraph.execute.bindings import Bindings, Entities
from omnigraph.execute.blocks import test_block, try_block
from omnigraph.execute.conditions import keep_rows, scan_rows
from omnigraph.execute.follow import follow, meet, trace
from omnigraph.execute.values import true_rows
from omnigraph.execute.weigh import weigh
from omnigraph.plan.steps import Bind, Filter, Follow, Meet, Narrow, PatternPlan, Step, Test, Trace, Try, Weigh
from omnigraph.query.walk import variables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnigraph.execute.execution import Execution
    from omnigraph.query import ir

PAIRS_MAX = 100_000
"""Pairs of a row and a node; below this, testing all of them is faster than an engine that joins."""


def run_pattern(execution: Execution, plan: PatternPlan, bindings: Bindings) -> Bindings:
    """Find the rows of a pattern for rows that have the variables from outside."""
    outer = frozenset(bindings.columns)
    joined = 0
    for position, (step, needed) in enumerate(zip(plan.steps, _needed_after(plan), strict=True)):
        execution.watch.check()
        with execution.profile.measured(step) as run:
            if isinstance(step, Bind):
                bindings, joined = _bind(execution, bindings, step, _conditions_behind(plan, position))
            elif joined:
                joined -= 1  # the condition was met while its nodes were found
            else:
                bindings = _STEPS[type(step)](execution, bindings, step)
            bindings = bindings.only(needed | outer)
            run.rows += bindings.total()
    execution.watch.check()
    return bindings


def _conditions_behind(plan: PatternPlan, position: int) -> list[ir.Expression]:
    """The conditions that are tested right behind a step."""
    found: list[ir.Expression] = []
    for step in plan.steps[position + 1 :]:
        if not isinstance(step, Filter):
            break
        found.append(step.condition)
    return found


def _needed_after(plan: PatternPlan) -> list[frozenset[str]]:
    """For each step, the variables somebody still reads when it is done."""
    needed = plan.kept
    found: list[frozenset[str]] = []
    for step in reversed(plan.steps):
        found.append(needed)
        needed |= _read_by(step)
    return found[::-1]


def _read_by(step: Step) -> frozenset[str]:
    match step:
        case Bind():
            return frozenset()
        case Narrow(variable=variable) | Weigh(variable=variable):
            return frozenset((variable,))
        case Follow(expand=expand):
            return frozenset((expand.source,))
        case Meet(expand=expand) | Trace(expand=expand):
            return frozenset((expand.source, expand.target))
        case Filter(condition=condition):
            return frozenset(variables(condition))
        case Try(outer=outer):
            return frozenset(outer)
        case Test(outer=outer, test=test):
            return frozenset((*outer, *(variables(test.value) if test is not None else ())))


# -- steps ---------------------------------------------------------------------------------------------


def _bind(
    execution: Execution, bindings: Bindings, step: Bind, conditions: Sequence[ir.Expression]
) -> tuple[Bindings, int]:
    """Find nodes; tells how many of the conditions that follow have been met on the way."""
    found = _scanned(execution, step)
    if conditions and bindings.count > 1 and bindings.count * len(found) > PAIRS_MAX:
        from omnigraph.execute.join import join

        return join(execution, bindings, step.variable, found, conditions), len(conditions)
    return bindings.beside({step.variable: found}, len(found)), 0


def _scanned(execution: Execution, step: Bind) -> Entities:
    keys = tuple(f"node:{name}" for name in step.types)
    each = [scan_rows(execution, step.variable, key, step.condition, must_exist=step.must_exist) for key in keys]
    if len(each) == 1:
        return Entities(keys, each[0])
    kinds = np.repeat(np.arange(len(each), dtype=np.int8), [len(ordinals) for ordinals in each])
    return Entities(keys, np.concatenate(each) if each else np.empty(0, np.int64), kinds)


def _narrow(execution: Execution, bindings: Bindings, step: Narrow) -> Bindings:
    nodes = bindings.columns[step.variable]
    assert isinstance(nodes, Entities)
    kept = np.zeros(bindings.count, np.bool_)
    for name in step.types:
        ordinals = nodes.of(f"node:{name}")
        mine = ordinals >= 0
        if step.condition is not None:
            mine &= keep_rows(execution, step.variable, f"node:{name}", step.condition, ordinals)
        kept |= mine
    return bindings.take(kept)


def _filter(execution: Execution, bindings: Bindings, step: Filter) -> Bindings:
    return bindings.take(true_rows(execution, bindings, step.condition))


def _try(execution: Execution, bindings: Bindings, step: Try) -> Bindings:
    return try_block(execution, bindings, step, partial(run_pattern, execution))


def _test(execution: Execution, bindings: Bindings, step: Test) -> Bindings:
    return test_block(execution, bindings, step, partial(run_pattern, execution))


_STEPS: dict[type, Callable[[Execution, Bindings, Any], Bindings]] = {
    Narrow: _narrow,
    Follow: follow,
    Meet: meet,
    Trace: trace,
    Weigh: weigh,
    Filter: _filter,
    Try: _try,
    Test: _test,
}
