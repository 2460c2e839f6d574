"""Which columns of which tables a query reads once it has its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.plan.patterns import nested
from omnigraph.plan.returned import tie_breakers, values
from omnigraph.plan.steps import Filter, Test
from omnigraph.query import ir
from omnigraph.query.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.plan.steps import PatternPlan, ReadPlan, Step
    from omnigraph.schema import Catalog


def columns_read(plan: ReadPlan, catalog: Catalog) -> dict[str, frozenset[str]]:
    """By table, the columns that are returned, computed with or compared after the rows were found."""
    types = {variable.name: variable.type for each in _patterns(plan.pattern) for variable in each.variables}
    found: dict[str, set[str]] = {}
    for expression in expressions_of(plan):
        for part in walk(expression):
            if isinstance(part, ir.Entity):
                for key in _keys(part.type):
                    found.setdefault(key, set()).update(_shown(key, catalog))
            elif isinstance(part, ir.Property | ir.Identity) and part.variable in types:
                name = part.name if isinstance(part, ir.Property) else part.field.value
                for key in _keys(types[part.variable]):
                    found.setdefault(key, set()).add(name)
    if plan.read.order:
        for name in tie_breakers(plan.read.pattern):
            for key in _keys(types[name]) if name in types else ():
                found.setdefault(key, set()).add("id")
    return {key: frozenset(names) for key, names in found.items()}


def steps_of(plan: PatternPlan) -> Iterator[Step]:
    """Every step, those of blocks included."""
    for each in _patterns(plan):
        yield from each.steps


def _patterns(plan: PatternPlan) -> Iterator[PatternPlan]:
    yield plan
    for inner in nested(plan.steps):
        yield from _patterns(inner)


def expressions_of(plan: ReadPlan) -> Iterator[ir.Expression]:
    """Every expression that is computed once rows were found."""
    yield from values(plan.read)
    for step in steps_of(plan.pattern):
        if isinstance(step, Filter):
            yield step.condition
        elif isinstance(step, Test) and step.test is not None:
            yield step.test.value
            if step.test.argument is not None:
                yield step.test.argument


def _keys(kind: ir.ValueType) -> tuple[str, ...]:
    match kind:
        case ir.NodeValue():
            return tuple(f"node:{name}" for name in kind.types)
        case ir.EdgeValue():
            return (f"edge:{kind.edge}",)
        case _:
            return ()


def _shown(key: str, catalog: Catalog) -> list[str]:
    """What of a node is returned with it."""
    name = key.partition(":")[2]
    if not key.startswith("node:"):
        return []
    return [
        each.name for each in catalog.node_types[name].properties if not each.type.is_vector and not each.type.is_blob
    ]
