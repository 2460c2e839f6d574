"""A plain evaluator of whole queries, written from the documentation and not from the engine.

It tries every node for every variable, one after the other. Slow and obvious on purpose.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from omnigraph.query import ir
from omnigraph.query.walk import has_aggregate, walk
from omnigraph.schema import Catalog
from tests.execute.worlds import World
from tests.support.oracle import COMPARE, Oracle, order

Binding = Mapping[str, Any]


@dataclass(frozen=True)
class Thing:
    """A node or an edge."""

    key: str
    id: str
    row: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and (self.key, self.id) == (other.key, other.id)

    def __hash__(self) -> int:
        return hash((self.key, self.id))


@dataclass(frozen=True, order=True)
class Path:
    nodes: tuple[str, ...]
    edges: tuple[str, ...]


class Values(Oracle):
    """Expressions over a row of a pattern, or over a group of such rows."""

    def __init__(self, binding: Binding, params: Binding, now: datetime, group: list[Binding] | None = None) -> None:
        super().__init__(binding, params, now)
        self.group = group

    def _property(self, node: ir.Property) -> Any:
        thing = self.row[node.variable]
        return None if thing is None else thing.row[node.name]

    def _identity(self, node: ir.Identity) -> Any:
        thing = self.row[node.variable]
        return None if thing is None else thing.row[node.field.value]

    def _entity(self, node: ir.Entity) -> Any:
        return self.row[node.variable]

    def _samenode(self, node: ir.SameNode) -> bool | None:
        left, right = self.row[node.left], self.row[node.right]
        return None if left is None or right is None else (left == right) != node.negated

    def _call(self, node: ir.Call) -> Any:
        path = self.value(node.arguments[0]) if isinstance(node.arguments[0], ir.Entity) else None
        if isinstance(node.arguments[0], ir.Entity):
            if path is None:
                return None
            return {"length": len(path.edges), "nodes": list(path.nodes), "edges": list(path.edges)}[node.function]
        return super()._call(node)

    def _aggregate(self, node: ir.Aggregate) -> Any:
        assert self.group is not None
        values = [Values(row, self.params, self.now).value(node.argument) for row in self.group]
        return aggregate(node.function, values, node.distinct)


def aggregate(function: str, values: list[Any], distinct: bool) -> Any:
    values = [value for value in values if value is not None]
    if distinct:
        values = list({canon(value): value for value in values}.values())
    if function == "count":
        return len(values)
    if function == "collect":
        return sorted(values, key=functools.cmp_to_key(order))
    if not values:
        return None
    if function in ("sum", "avg"):
        total = sum(float(value) for value in values)
        return total if function == "sum" else total / len(values)
    return (min if function == "min" else max)(values, key=functools.cmp_to_key(order))


def canon(value: Any) -> Any:
    """The same for values that are equal."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, list | tuple):
        return tuple(canon(item) for item in value)
    if isinstance(value, dict):
        return tuple((name, canon(item)) for name, item in value.items())
    return value


class Reads:
    """Evaluates queries over the rows of a world."""

    def __init__(self, world: World, catalog: Catalog, params: Binding, now: datetime) -> None:
        self.world, self.catalog, self.params, self.now = world, catalog, params, now

    def values(self, binding: Binding, group: list[Binding] | None = None) -> Values:
        return Values(binding, self.params, self.now, group)

    def is_true(self, condition: ir.Expression, binding: Binding) -> bool:
        return self.values(binding).value(condition) is True

    # -- patterns --------------------------------------------------------------------------------------

    def matches(self, pattern: ir.Pattern, outer: Binding) -> list[Binding]:
        optional = {variable.name for block in pattern.optionals for variable in block.pattern.variables}
        own = [v for v in pattern.variables if isinstance(v.type, ir.NodeValue) and v.name not in optional]
        rows = [dict(outer)] if self.scans_hold(pattern, outer, set(outer)) else []
        rows = list(self.connected(pattern, rows, set(outer), set()))
        bound = set(outer)
        for variable in own:
            found = []
            for row in rows:
                for name in variable.type.types:
                    for each in self.world.rows[f"node:{name}"]:
                        extended = {**row, variable.name: Thing(f"node:{name}", each["id"], each)}
                        if self.scans_hold(pattern, extended, {variable.name}):
                            found.append(extended)
            rows = list(self.connected(pattern, found, bound | {variable.name}, bound))
            bound.add(variable.name)
        for block in pattern.optionals:
            rows = list(self.optionally(block, rows))
        rows = [row for row in rows if all(self.is_true(condition, row) for condition in pattern.filters)]
        return [row for row in rows if all(self.passes(block, row) for block in pattern.blocks)]

    def scans_hold(self, pattern: ir.Pattern, row: Binding, names: set[str]) -> bool:
        for scan in pattern.scans:
            if scan.variable in names:
                thing = row[scan.variable]
                if thing is None or thing.key.removeprefix("node:") not in scan.types:
                    return False
                if not all(self.is_true(condition, row) for condition in scan.conditions):
                    return False
        return True

    def connected(self, pattern: ir.Pattern, rows: list[Any], bound: set[str], before: set[str]) -> Iterator[Any]:
        """Test the traversals whose second end was just bound."""
        due = [
            each
            for each in pattern.expansions
            if {each.source, each.target} <= bound and (not before or not {each.source, each.target} <= before)
        ]
        for expand in due:
            rows = [{**row, **extra} for row in rows for extra in self.ways(expand, row)]
        yield from rows

    def ways(self, expand: ir.Expand, row: Binding) -> list[dict[str, Any]]:
        source, target = row[expand.source], row[expand.target]
        if source is None or target is None:
            return []
        if (source.key, target.key) != (f"node:{expand.source_type}", f"node:{expand.target_type}"):
            return []
        pairs = self.world.pairs(expand.edge, expand.direction)
        if expand.edge_variable is not None:
            names = [name for start, end, name in pairs if (start, end) == (source.id, target.id)]
            rows = {each["id"]: each for each in self.world.rows[f"edge:{expand.edge}"]}
            return [{expand.edge_variable: Thing(f"edge:{expand.edge}", name, rows[name])} for name in names]
        if expand.chains:
            reached = self.world.reached(expand.edge, expand.direction, source.id, expand.min_hops, expand.max_hops)
            found = target.id in reached
        else:
            found = expand.min_hops == 1 and any((start, end) == (source.id, target.id) for start, end, _ in pairs)
        if not found:
            return []
        if expand.path_variable is None:
            return [{}]
        if not expand.chains:
            least = min(name for start, end, name in pairs if (start, end) == (source.id, target.id))
            return [{expand.path_variable: Path((source.id, target.id), (least,))}]
        nodes, edges = self.world.path(expand.edge, expand.direction, source.id, target.id)
        return [{expand.path_variable: Path(tuple(nodes), tuple(edges))}]

    # -- blocks ----------------------------------------------------------------------------------------

    def optionally(self, block: ir.Block, rows: list[Binding]) -> Iterator[Binding]:
        names = [variable.name for variable in block.pattern.variables]
        for row in rows:
            found = self.matches(block.pattern, row)
            yield from found or [{**row, **dict.fromkeys(names)}]

    def passes(self, block: ir.Block, row: Binding) -> bool:
        found = self.matches(block.pattern, row)
        if block.test is None:
            return bool(found) == (block.kind is ir.BlockKind.EXISTS)
        test = block.test
        if test.argument is None:
            value: Any = len(found)
        else:
            arguments = [self.values(each).value(test.argument) for each in found]
            value = aggregate(test.function, arguments, test.distinct)
        wanted = self.values(row).value(test.value)
        return value is not None and wanted is not None and COMPARE[test.operator](value, wanted)

    # -- results ---------------------------------------------------------------------------------------

    def rows(self, read: ir.CheckedRead) -> list[dict[str, Any]]:
        """The rows in order, before any is cut off."""
        found = self.matches(read.pattern, {})
        results = self.grouped(read, found) if read.grouped else [self.result(read, row, None) for row in found]
        if read.distinct:
            results = list({canon(list(row.values())): (row, keys, ties) for row, keys, ties in results}.values())
        if read.order:
            results.sort(key=functools.cmp_to_key(functools.partial(self.compare, read)))
        kinds = {column.name: column.type for column in read.columns}
        return [{name: shown(value, kinds[name], self.catalog) for name, value in row.items()} for row, _, _ in results]

    def grouped(self, read: ir.CheckedRead, found: list[Binding]) -> list[Any]:
        columns = self.inlined(read)
        keys = [value for value in columns.values() if not has_aggregate(value)]
        groups: dict[Any, list[Binding]] = {} if keys else {(): []}
        for row in found:
            groups.setdefault(canon([self.values(row).value(key) for key in keys]), []).append(row)
        return [self.result(read, group[0] if group else {}, group) for group in groups.values()]

    def inlined(self, read: ir.CheckedRead) -> dict[str, ir.Expression]:
        from omnigraph.plan.reads import inline_columns

        return {column.name: column.value for column in inline_columns(read, self.catalog).columns}

    def result(self, read: ir.CheckedRead, binding: Binding, group: list[Binding] | None) -> Any:
        """The values of the columns, of the keys that order, and of what orders equal rows."""
        columns = self.inlined(read)
        values = self.values(binding, group)
        row = {name: values.value(value) for name, value in columns.items()}
        keys = [row[key.value.name] if isinstance(key.value, ir.ColumnRef) else self.key(read, key, values)
                for key in read.order]  # fmt: skip
        if read.grouped or read.distinct:
            ties = [row[column.name] for column in read.columns if not column.aggregated]
            ties = [tie.id if isinstance(tie, Thing) else tie for tie in ties]
        else:
            ties = [thing and thing.id for name, thing in sorted(binding.items())
                    if "#" not in name and not isinstance(thing, Path)]  # fmt: skip
        return row, keys, ties

    def key(self, read: ir.CheckedRead, key: ir.OrderKey, values: Values) -> Any:
        assert not any(isinstance(part, ir.ColumnRef) for part in walk(key.value))
        return values.value(key.value)

    def compare(self, read: ir.CheckedRead, left: Any, right: Any) -> int:
        for key, one, other in zip(read.order, left[1], right[1], strict=True):
            found = nulls_first(one, other)
            if found:
                return -found if key.descending else found
        for one, other in zip(left[2], right[2], strict=True):
            found = nulls_first(one, other)
            if found:
                return found
        return 0


def nulls_first(one: Any, other: Any) -> int:
    if one is None or other is None:
        return (one is not None) - (other is not None)
    if isinstance(one, Path):
        return (one > other) - (one < other)
    return order(one, other)


def shown(value: Any, kind: ir.ValueType, catalog: Catalog) -> Any:
    """A value as a row has it."""
    if isinstance(value, Path):
        return {"nodes": list(value.nodes), "edges": list(value.edges)}
    if not isinstance(kind, ir.NodeValue) or value is None:
        return value
    declared = catalog.interface_types[kind.interface] if kind.interface else catalog.node_types[kind.types[0]]
    return {"@id": value.id, **{each.name: value.row[each.name] for each in declared.properties}}
