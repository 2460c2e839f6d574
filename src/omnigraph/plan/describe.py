"""A plan as lines that a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.plan.steps import (
    Bind,
    Branch,
    Filter,
    Follow,
    Meet,
    Narrow,
    PatternPlan,
    ReadPlan,
    Step,
    Test,
    Trace,
    Try,
    Weigh,
)
from omnigraph.query.dump import dump_expression, dump_traversal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.query import ir


@dataclass(frozen=True, slots=True)
class Line:
    """A step, or (without one) what is made of the rows in the end."""

    text: str
    depth: int = 0
    step: Step | None = None
    estimate: float | None = None


def describe_plan(plan: ReadPlan) -> Iterator[Line]:
    """Describe every step in the order in which they run, those of blocks behind their block; the result comes last."""
    yield from _steps(plan.pattern, 0)
    yield Line(_result(plan.read))


def _steps(plan: PatternPlan, depth: int) -> Iterator[Line]:
    for step in plan.steps:
        yield Line(_text(step), depth, step, step.estimate)
        if isinstance(step, Try | Test):
            yield from _steps(step.plan, depth + 1)


def _text(step: Step) -> str:
    match step:
        case Bind(variable=variable, types=types, condition=condition):
            how = "" if step.must_exist else ", by its edges"
            return f"find ${variable}: {' | '.join(types)}{_where(condition)}{how}"
        case Narrow(variable=variable, types=types, condition=condition):
            return f"keep ${variable}: {' | '.join(types)}{_where(condition)}"
        case Follow(expand=expand, condition=condition):
            return f"follow {dump_traversal(expand)}{_where(condition)}"
        case Meet(expand=expand):
            return f"keep connected {dump_traversal(expand)}"
        case Trace(expand=expand, condition=condition):
            return f"trace {dump_traversal(expand)}{_where(condition)}"
        case Weigh(branch=branch):
            return f"count {_branch(branch)}"
        case Filter(condition=condition):
            return f"keep where {dump_expression(condition)}"
        case Try(outer=outer):
            return f"try for {_names(outer)}"
        case Test(kind=kind, outer=outer, test=test):
            return f"{kind} for {_names(outer)}{'' if test is None else f', {_test(test)}'}"


def _where(condition: ir.Expression | None) -> str:
    return "" if condition is None else f" where {dump_expression(condition)}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"${name}" for name in names)


def _branch(branch: Branch) -> str:
    inner = "".join(f", {_branch(each)}" for each in branch.branches)
    return f"{dump_traversal(branch.expand)}{_where(branch.condition)}{inner}"


def _test(test: ir.BlockTest) -> str:
    argument = "" if test.argument is None else f"({'distinct ' * test.distinct}{dump_expression(test.argument)})"
    return f"{test.function}{argument} {test.operator} {dump_expression(test.value)}"


def _result(read: ir.CheckedRead) -> str:
    words = ["group" if read.grouped else "distinct" if read.distinct else "return"]
    words.append(", ".join(column.name for column in read.columns))
    if read.order:
        keys = (f"{dump_expression(key.value)}{' desc' if key.descending else ''}" for key in read.order)
        words.append(f"order {', '.join(keys)}")
    for word, amount in (("limit", read.limit), ("offset", read.offset)):
        if amount is not None:
            words.append(f"{word} {dump_expression(amount)}")
    return " ".join(words)
