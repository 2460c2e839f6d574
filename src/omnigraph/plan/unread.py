"""Nodes that only their edges are wanted of are not looked up.

An edge has a node at both of its ends, always. So where a node is given by its id, and a step that follows keeps a row
only if the node has an edge, an id without a node and a node without an edge come to the same: to no row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.plan.steps import Bind, Filter, Follow, Meet, PatternPlan, ReadPlan, Step, Test, Trace, Try, Weigh
from omnigraph.plan.touched import expressions_of
from omnigraph.query import ir
from omnigraph.query.conditions import column_name, conjuncts
from omnigraph.query.walk import parts, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from omnigraph.schema.catalog import Catalog


def trust_edges(plan: ReadPlan, catalog: Catalog) -> ReadPlan:
    """Say of which nodes an edge proves that they exist."""
    read = {name for value in expressions_of(plan) for name in _beyond_ids(value)}
    return replace(plan, pattern=_trusting(plan.pattern, read, catalog))


def _trusting(plan: PatternPlan, read: AbstractSet[str], catalog: Catalog) -> PatternPlan:
    steps: list[Step] = []
    for position, step in enumerate(plan.steps):
        match step:
            case Bind() if _is_given(step, catalog) and step.variable not in read:
                proven = _needs_an_edge(plan.steps[position + 1 :], step.variable)
                steps.append(replace(step, must_exist=not proven))
            case Try() | Test():
                steps.append(replace(step, plan=_trusting(step.plan, read, catalog)))
            case _:
                steps.append(step)
    return replace(plan, steps=tuple(steps))


def _needs_an_edge(steps: Sequence[Step], variable: str) -> bool:
    """Whether rows live on only if a node has an edge, and nothing is computed of them before that is known."""
    for step in steps:
        if isinstance(step, Filter | Try | Test):
            return False
        if variable in _ends(step):
            return True
        if not isinstance(step, Bind) and _has_condition(step):
            return False
    return False


def _ends(step: Step) -> tuple[str, ...]:
    """The nodes without an edge of which a step keeps nothing."""
    match step:
        case Follow(expand=expand):
            return (expand.source,)
        case Meet(expand=expand):
            return (expand.source, expand.target)
        case Trace(expand=expand, binds_target=binds_target):
            return (expand.source,) if binds_target else (expand.source, expand.target)
        case Weigh(variable=variable):
            return (variable,)
        case _:
            return ()


def _has_condition(step: Step) -> bool:
    return not isinstance(step, Meet) and (isinstance(step, Weigh) or getattr(step, "condition", None) is not None)


def _is_given(step: Bind, catalog: Catalog) -> bool:
    """Whether the condition says ids and no more; what an id is made of may be said instead."""
    if len(step.types) != 1 or step.condition is None:
        return False
    table = catalog.node_types[step.types[0]]
    named = [_named(part) or "" for part in conjuncts(step.condition)]
    return named == ["id"] or sorted(named) == sorted(table.key)


def _named(condition: ir.Expression) -> str | None:
    """The column a condition gives values for."""
    match condition:
        case ir.Compare(operator="=", left=left, right=right):
            sides = (left, right), (right, left)
        case ir.Member(item=item, items=items, negated=False):
            sides = ((item, items),)
        case _:
            return None
    for column, values in sides:
        if isinstance(column, ir.Property | ir.Identity) and _is_known(values):
            return column_name(column)
    return None


def _is_known(value: ir.Expression) -> bool:
    return all(isinstance(part, ir.Literal | ir.Parameter | ir.Negate | ir.ListOf) for part in walk(value))


def _beyond_ids(value: ir.Expression) -> Iterator[str]:
    """The variables of which an expression reads more than ids."""
    match value:
        case ir.Aggregate(function="count", argument=ir.Entity()):
            return
        case ir.Identity(field=ir.IdentityField.ID) | ir.SameNode():
            return
        case _:
            name = getattr(value, "variable", None)
            if name is not None:
                yield name
            for part in parts(value):
                yield from _beyond_ids(part)
