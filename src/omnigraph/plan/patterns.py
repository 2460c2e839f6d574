"""From a pattern to steps: conditions go to the variable they are about, and traversals are put in a cheap order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.plan.fold import fold_unread
from omnigraph.plan.order import Clauses, grow
from omnigraph.plan.steps import Filter, Narrow, PatternPlan, Step, Test, Try
from omnigraph.query import ir
from omnigraph.query.conditions import conjoin, conjuncts
from omnigraph.query.walk import blocks, variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.plan.estimate import Estimates

_TEST_SHARE = 0.5


def plan_pattern(
    pattern: ir.Pattern, outer: frozenset[str], wanted: frozenset[str], estimates: Estimates, rows: float = 1.0
) -> PatternPlan:
    """Plan a pattern for rows that have the outer variables. `wanted` is what is read of it afterwards."""
    sorted_out = _sort_out(pattern, outer)
    kept = wanted | _read_inside(pattern, sorted_out)
    steps, rows = _first(pattern, outer, sorted_out, estimates, rows)
    clauses = Clauses(sorted_out.types, sorted_out.conditions, pattern.expansions, tuple(sorted_out.filters), kept)
    found, rows, open_filters = grow(clauses, outer, estimates, rows)
    steps.extend(fold_unread(found, kept))
    for block in pattern.optionals:
        step = _optional(block, kept, estimates, rows)
        rows = max(rows, step.estimate)
        steps.append(step)
    for condition in (*open_filters, *sorted_out.late):
        rows *= _TEST_SHARE
        steps.append(Filter(condition, rows))
    for block in pattern.blocks:
        rows *= _TEST_SHARE
        steps.append(_test(block, estimates, rows))
    return PatternPlan(pattern.variables, tuple(steps), kept)


@dataclass
class _Sorted:
    """The clauses of a pattern by what they are about."""

    types: dict[str, tuple[str, ...]]
    """Node variables that the pattern itself binds."""
    conditions: dict[str, list[ir.Expression]]
    """Conditions on one such variable alone."""
    filters: list[ir.Expression] = field(default_factory=list[ir.Expression])
    """Conditions on several variables, on an edge or path, or on variables from outside."""
    late: list[ir.Expression] = field(default_factory=list[ir.Expression])
    """Conditions on variables that only an optional block binds."""


def _sort_out(pattern: ir.Pattern, outer: frozenset[str]) -> _Sorted:
    optional = {variable.name for block in pattern.optionals for variable in block.pattern.variables}
    found = _Sorted(
        {
            variable.name: variable.type.types
            for variable in pattern.variables
            if isinstance(variable.type, ir.NodeValue) and variable.name not in optional
        },
        {},
    )
    for scan in pattern.scans:
        if scan.variable not in outer:
            found.types[scan.variable] = tuple(t for t in found.types[scan.variable] if t in scan.types)
            found.conditions.setdefault(scan.variable, []).extend(scan.conditions)
    for condition in pattern.filters:
        for part in conjuncts(condition):
            read = set(variables(part))
            if read & optional:
                found.late.append(part)
            elif len(read) == 1 and read <= found.types.keys():
                found.conditions.setdefault(next(iter(read)), []).append(part)
            else:
                found.filters.append(part)
    return found


def _read_inside(pattern: ir.Pattern, found: _Sorted) -> frozenset[str]:
    """Variables whose values the pattern itself reads, beyond following their edges and their own conditions."""
    read = {name for condition in (*found.filters, *found.late) for name in variables(condition)}
    for block in blocks(pattern):
        read.update(block.outer)
        if block.test is not None:
            read.update(variables(block.test.value))
    for expand in pattern.expansions:
        if expand.path_variable is not None:
            read.update((expand.source, expand.target))
    return frozenset(read)


def _first(
    pattern: ir.Pattern, outer: frozenset[str], found: _Sorted, estimates: Estimates, rows: float
) -> tuple[list[Step], float]:
    """What can be said of the outer variables before anything is looked up."""
    steps: list[Step] = []
    for scan in pattern.scans:
        if scan.variable in outer:
            condition = conjoin(scan.conditions)
            rows *= estimates.share(scan.types, condition)
            steps.append(Narrow(scan.variable, scan.types, condition, rows))
    for condition in [part for part in found.filters if set(variables(part)) <= outer]:
        found.filters.remove(condition)
        rows *= _TEST_SHARE
        steps.append(Filter(condition, rows))
    return steps, rows


def _optional(block: ir.Block, kept: frozenset[str], estimates: Estimates, rows: float) -> Try:
    inner = plan_pattern(block.pattern, frozenset(block.outer), kept & _names(block.pattern), estimates, rows)
    return Try(block.outer, inner, inner.steps[-1].estimate if inner.steps else rows)


def _test(block: ir.Block, estimates: Estimates, rows: float) -> Test:
    argument = block.test.argument if block.test is not None else None
    wanted = frozenset(variables(argument)) if argument is not None else frozenset[str]()
    inner = plan_pattern(block.pattern, frozenset(block.outer), wanted & _names(block.pattern), estimates, rows)
    return Test(block.kind, block.outer, inner, block.test, rows)


def _names(pattern: ir.Pattern) -> frozenset[str]:
    return frozenset(variable.name for variable in pattern.variables)


def nested(steps: Sequence[Step]) -> Iterator[PatternPlan]:
    """Give the plans inside steps."""
    for step in steps:
        if isinstance(step, Try | Test):
            yield step.plan
