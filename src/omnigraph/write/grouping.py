"""Groups records by the table they are for."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from omnigraph.model.violations import ViolationKind
from omnigraph.schema.arrow import table_key
from omnigraph.schema.catalog import EdgeType, NodeType
from omnigraph.write.shapes import EDGE_KEYS, NODE_KEYS, Shaper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.schema.catalog import Catalog
    from omnigraph.write.report import Report

RESERVED = frozenset(
    {"_tombstone", "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"}
)

_UNUSUAL = (KeyError, TypeError, IndexError, AttributeError)


@dataclass(frozen=True)
class Records:
    """The records of one table, in the order of the input. `sources` and `targets` are those of edges."""

    data: list[dict[str, Any]]
    positions: np.ndarray
    sources: list[str] = field(default_factory=list[str])
    targets: list[str] = field(default_factory=list[str])

    def __len__(self) -> int:
        return len(self.data)

    def then(self, other: Records) -> Records:
        """Give these records followed by others."""
        return Records(
            self.data + other.data,
            np.concatenate([self.positions, other.positions]),
            self.sources + other.sources,
            self.targets + other.targets,
        )


class _Group:
    """The records of one table, while they are collected."""

    __slots__ = ("data", "indexes", "sources", "table", "targets")

    def __init__(self, table: NodeType | EdgeType) -> None:
        self.table = table
        self.data: list[dict[str, Any]] = []
        self.indexes: list[int] = []
        self.sources: list[str] = []
        self.targets: list[str] = []

    def add(self, index: int, data: dict[str, Any], source: str | None, target: str | None) -> None:
        self.data.append(data)
        self.indexes.append(index)
        if source is not None and target is not None:
            self.sources.append(source)
            self.targets.append(target)


def group_records(
    values: Sequence[Any], positions: np.ndarray, catalog: Catalog, report: Report, *, strict: bool
) -> dict[str, Records]:
    """Group records by table key; report the ones that are none, and in strict mode properties nobody declared."""
    groups = _collect(values, positions, catalog, Shaper(catalog, report, strict))
    tables: dict[str, Records] = {}
    for group in groups:
        if group.data:
            records = Records(group.data, positions[np.array(group.indexes)], group.sources, group.targets)
            tables[table_key(group.table)] = records
            if strict:
                _report_unknown(group.table, records, report)
    return tables


def _collect(values: Sequence[Any], positions: np.ndarray, catalog: Catalog, shaper: Shaper) -> list[_Group]:
    nodes = {node.name: _Group(node) for node in catalog.nodes}
    edges = {edge.name: _Group(edge) for edge in catalog.edges}
    spelled = dict(edges)  # an edge may be spelled in any case: each spelling is looked up once
    node_size, edge_size = len(NODE_KEYS), len(EDGE_KEYS)
    for index, record in enumerate(values):
        source: Any = None
        target: Any = None
        # Most records have exactly the usual keys with values of the right types.
        try:
            data = record["data"]
            usual = type(data) is dict
            if len(record) == edge_size:
                group = spelled[record["edge"]]
                source, target = record["from"], record["to"]
                usual = usual and type(source) is str and type(target) is str
            else:
                group = nodes[record["type"]]
                usual = usual and len(record) == node_size
            if usual:
                group.data.append(data)
                group.indexes.append(index)
                if source is not None:
                    group.sources.append(source)
                    group.targets.append(target)
                continue
        except _UNUSUAL:
            pass
        shaped = shaper.take_apart(record, int(positions[index]))
        if shaped is None:
            continue
        group = nodes[shaped.table.name] if isinstance(shaped.table, NodeType) else edges[shaped.table.name]
        group.add(index, shaped.data, shaped.source, shaped.target)
        if shaped.source is not None:
            spelled[record["edge"]] = group
    return [*nodes.values(), *edges.values()]


def _report_unknown(table: NodeType | EdgeType, records: Records, report: Report) -> None:
    unknown = set(chain.from_iterable(records.data)) - table.properties_by_name.keys() - {"id"}
    for name in sorted(unknown, key=str):
        message = _unknown(table, str(name), report)
        for index, data in enumerate(records.data):
            if name in data:
                position = int(records.positions[index])
                report.add(ViolationKind.UNKNOWN_PROPERTY, message, position, type_name=table.name, property=str(name))


def _unknown(table: NodeType | EdgeType, name: str, report: Report) -> str:
    if name in RESERVED:
        return f"{name!r} is a reserved name"
    if isinstance(table, EdgeType) and name in ("src", "dst"):
        end = "from" if name == "src" else "to"
        return f"{name!r} is not given in 'data': write {end!r} beside it"
    return f"{table.name} has no property {name!r}{report.hint(table.name, name, table.properties_by_name)}"
