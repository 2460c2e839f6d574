"""What is made of the rows a pattern finds: groups, distinct rows, order. One statement, in either dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan.aggregates import can_be_weighed, lower_aggregate
from omnigraph.plan.expressions import lower
from omnigraph.plan.returned import tie_breakers, values
from omnigraph.plan.transform import transform
from omnigraph.query import ir
from omnigraph.query.walk import parts, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omnigraph.plan.cut import Cut
    from omnigraph.plan.scope import Scope

GROUPS = "groups"
FIRST = "first_position"
_IDS = PropType(ScalarType.STRING, nullable=True, is_list=True)


def needs_single_rows(read: ir.CheckedRead) -> bool:
    """Tell whether a row that stands for several has to be repeated before anything is computed."""
    aggregates = [part for value in values(read) for part in walk(value) if isinstance(part, ir.Aggregate)]
    return not read.grouped or not all(map(can_be_weighed, aggregates))


def group_keys(read: ir.CheckedRead) -> tuple[ir.Expression, ...]:
    """Give what tells one group from another: the columns without an aggregate."""
    return tuple(dict.fromkeys(column.value for column in read.columns if not column.aggregated))


def group_statement(
    read: ir.CheckedRead,
    scope: Scope,
    source: str,
    cut: Cut,
    *,
    weight: exp.Expr | None = None,
    position: exp.Expr | None = None,
) -> exp.Select:
    """Group rows, or make them distinct, and put the result in order. Columns are r0, r1, … in order.

    Groups are distinct already, because what tells them apart is returned.

    With a `position` of rows, groups that nothing else orders come in the order in which they are met first.
    """
    keys = {key: f"k{n}" for n, key in enumerate(_all_keys(read))}
    aggregates = _aggregates(read)
    inner = exp.select(
        *(exp.alias_(lower(key, scope), name) for key, name in keys.items()),
        *(exp.alias_(lower_aggregate(each, scope, weight), name) for each, name in aggregates.items()),
    ).from_(source)
    if position is not None:
        inner = inner.select(exp.alias_(exp.Min(this=position), FIRST))
    if keys:
        inner = inner.group_by(*(exp.Literal.number(n + 1) for n in range(len(keys))))
    above = _above(scope)
    known: dict[ir.Expression, str] = {**keys, **aggregates}
    outputs = [lower(_named(column.value, known), above) for column in read.columns]
    order = [(_named(key.value, known), key.descending) for key in read.order]
    order += [(_named(each, known), False) for each in _tie_values(read)] if read.order else []
    query = exp.select(*(exp.alias_(value, f"r{n}") for n, value in enumerate(outputs)))
    query = _ordered(query.from_(inner.subquery(GROUPS)), order, above)
    return cut.apply(query if position is None else query.order_by(exp.column(FIRST)))


def order_statement(
    read: ir.CheckedRead, scope: Scope, source: str, selected: Iterable[exp.Expr], cut: Cut
) -> exp.Select:
    """Put single rows in order; rows that are equal in all keys by the ids of what they bind."""
    ties = [_id_of(name, read.pattern) for name in tie_breakers(read.pattern)]
    order = [(key.value, key.descending) for key in read.order] + [(tie, False) for tie in ties]
    return cut.apply(_ordered(exp.select(*selected).from_(source), order, scope))


# -- parts ---------------------------------------------------------------------------------------------


def _all_keys(read: ir.CheckedRead) -> tuple[ir.Expression, ...]:
    """The keys, and what depends on them: properties of a node that is a key, and ids that break ties."""
    keys = group_keys(read) if read.grouped else tuple(dict.fromkeys(column.value for column in read.columns))
    nodes = {key.variable for key in keys if isinstance(key, ir.Entity)}
    found = dict.fromkeys(keys)
    for value in values(read):
        found.update(dict.fromkeys(_dependent(value, nodes, found)))
    if read.order:
        found.update(dict.fromkeys(_tie_values(read)))
    return tuple(found)


def _dependent(value: ir.Expression, nodes: set[str], keys: Mapping[ir.Expression, None]) -> Iterable[ir.Expression]:
    if value in keys or isinstance(value, ir.Aggregate):
        return
    if isinstance(value, ir.Property | ir.Identity):
        if value.variable in nodes:
            yield value
        return
    for part in parts(value):
        yield from _dependent(part, nodes, keys)


def _tie_values(read: ir.CheckedRead) -> list[ir.Expression]:
    """Groups have no ids of their own: their keys order those that are equal otherwise."""
    found: list[ir.Expression] = []
    for column in read.columns:
        if column.aggregated:
            continue
        value = column.value
        if isinstance(value, ir.Entity) and isinstance(value.type, ir.NodeValue):
            found.append(_id_of(value.variable, read.pattern))
        elif isinstance(value, ir.Entity):
            found += [ir.Call(part, (value,), _IDS) for part in ("nodes", "edges")]
        else:
            found.append(value)
    return found


def _aggregates(read: ir.CheckedRead) -> dict[ir.Aggregate, str]:
    found = dict.fromkeys(part for value in values(read) for part in walk(value) if isinstance(part, ir.Aggregate))
    return {aggregate: f"a{n}" for n, aggregate in enumerate(found)}


def _id_of(variable: str, pattern: ir.Pattern) -> ir.Identity:
    kind = next(each.type for each in pattern.variables if each.name == variable)
    declared = ir.STRING.optional if kind.nullable else ir.STRING
    return ir.Identity(variable, ir.IdentityField.ID, declared)


def _named(value: ir.Expression, known: Mapping[ir.Expression, str]) -> ir.Expression:
    """The value in terms of columns that are computed already."""

    def rewrite(part: ir.Expression) -> ir.Expression | None:
        name = known.get(part)
        return None if name is None else ir.ColumnRef(name, part.type)

    return transform(value, rewrite)


def _above(scope: Scope) -> Scope:
    """The scope of a statement around another: it sees that one's columns, and the same bound values."""

    def column(value: ir.Expression, _: Scope) -> exp.Expr:
        return exp.column(cast("ir.ColumnRef", value).name)

    return replace(scope, others={ir.ColumnRef: column})


def _ordered(query: exp.Select, order: Sequence[tuple[ir.Expression, bool]], scope: Scope) -> exp.Select:
    keys = [
        exp.Ordered(this=lower(value, scope), desc=descending, nulls_first=not descending)
        for value, descending in order
    ]
    return query.order_by(*keys) if keys else query
