"""The shape of a record: which table it is for, with its parts, or what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.model.violations import ViolationKind
from omnigraph.write.values import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnigraph.schema.catalog import Catalog, EdgeType, NodeType
    from omnigraph.write.report import Report

NODE_KEYS = ("type", "data")
EDGE_KEYS = ("edge", "from", "to", "data")
ID = "id"
"""It may stand in 'data' or beside it."""

_SHAPE = 'a node is {"type": …, "data": {…}}, an edge is {"edge": …, "from": …, "to": …, "data": {…}}'


@dataclass(frozen=True, slots=True)
class Shaped:
    """A record in its parts; `source` and `target` are those of an edge."""

    table: NodeType | EdgeType
    data: dict[str, Any]
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Shaper:
    """Takes records apart, and reports everything that is wrong with their shape."""

    catalog: Catalog
    report: Report
    strict: bool

    def take_apart(self, record: object, position: int) -> Shaped | None:
        """Give the parts of a record; None if it was reported."""
        if not isinstance(record, dict):
            return self._syntax(f"{shown(record)} is not a record: {_SHAPE}", position)
        if "type" in record and "edge" in record and self.strict:
            return self._syntax("a record has either 'type' or 'edge', not both", position)
        if "type" in record:
            return self._node(record, position)
        if "edge" in record:
            return self._edge(record, position)
        near = self.report.hint("record", str(next(iter(record), "")), ("type", "edge"))
        return self._syntax(f"the record has neither 'type' nor 'edge': {_SHAPE}{near}", position)

    def _node(self, record: dict[str, Any], position: int) -> Shaped | None:
        node = self._named(record["type"], self.catalog.node, self.catalog.node_types, "node", position)
        data = self._data(record, position)
        if node is None or data is None or not self._keys_known(record, NODE_KEYS, node, position):
            return None
        return Shaped(node, data)

    def _edge(self, record: dict[str, Any], position: int) -> Shaped | None:
        edge = self._named(record["edge"], self.catalog.edge, self.catalog.edge_types, "edge", position)
        ends = [self._end(record, name, position) for name in ("from", "to")]
        data = self._data(record, position)
        known = edge is not None and self._keys_known(record, EDGE_KEYS, edge, position)
        if edge is None or data is None or not known or ends[0] is None or ends[1] is None:
            return None
        return Shaped(edge, data, ends[0], ends[1])

    def _named(self, name: object, find: Any, known: Mapping[str, object], kind: str, position: int) -> Any:
        if not isinstance(name, str):
            return self._syntax(f"the name of a type is a string, not {shown(name)}", position)
        found = find(name)
        if found is None:
            message = f"there is no {kind} type {shown(name)}{self._instead(name, known, kind)}"
            self.report.add(ViolationKind.UNKNOWN_TYPE, message, position, type_name=name)
        return found

    def _instead(self, name: str, known: Mapping[str, object], kind: str) -> str:
        if kind == "node" and self.catalog.edge(name):
            return f'; there is an edge type of that name: write {{"edge": {shown(name)}, …}}'
        if kind == "edge" and self.catalog.node(name):
            return f'; there is a node type of that name: write {{"type": {shown(name)}, …}}'
        return self.report.hint(kind, name, known)

    def _end(self, record: dict[str, Any], name: str, position: int) -> str | None:
        end = record.get(name)
        if isinstance(end, str):
            return end
        if end is None:
            return self._syntax(f"an edge needs {name!r}: the id of a node", position)
        as_text = f'; write "{end}"' if isinstance(end, int) and not isinstance(end, bool) else ""
        message = f"{name!r} is the id of a node, a string; {shown(end)} is not{as_text}"
        self.report.add(ViolationKind.TYPE, message, position, property=name)
        return None

    def _data(self, record: dict[str, Any], position: int) -> dict[str, Any] | None:
        data = record.get("data", {})
        if data is None and not self.strict:
            return {}
        if not isinstance(data, dict):
            return self._syntax(f"'data' is an object, not {shown(data)}", position)
        if ID not in record:
            return data
        beside = record[ID]
        if data.get(ID, beside) != beside:
            return self._syntax(f"the id is {shown(beside)} beside 'data' and {shown(data[ID])} in it", position)
        return {**data, ID: beside}

    def _keys_known(
        self, record: dict[str, Any], known: Iterable[str], table: NodeType | EdgeType, position: int
    ) -> bool:
        unknown = [key for key in record if key not in known and key != ID] if self.strict else []
        for key in unknown:
            if table.property(key) is not None:
                hint = "; properties go into 'data'"
            else:
                hint = self.report.hint(f"{table.kind} record", str(key), known)
            self._syntax(f"a record of {table.kind} type {table.name} has no field {shown(key)}{hint}", position)
        return not unknown

    def _syntax(self, message: str, position: int) -> None:
        self.report.add(ViolationKind.SYNTAX, message, position)
