"""What is to be judged, as plain data that travels to tasks: where keys are, and which unit judges which of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.pipeline.keys.shares import SHARES_MAX
from omnigraph.schema import EdgeType, NodeType, table_key
from omnigraph.write.delta import RowMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.pipeline.slices import TableSlice
    from omnigraph.pipeline.staging import StagedTable
    from omnigraph.schema import Catalog
    from omnigraph.storage.address import Address
    from omnigraph.write.modes import LoadMode

UNIT_ROWS = 500_000
"""About so many keys are judged at once: what a task holds in memory."""


PARTITIONS_MAX = 2000


@dataclass(frozen=True)
class Channel:
    """Rows that have to meet by their key: of a table by id, or (`names`) by the members of a `@unique`.

    With the ids of nodes meet the ends of edges, and what leaves a source.
    """

    key: str
    names: tuple[str, ...] = ()
    first: int = 0
    """Its first unit."""
    units: int = 1
    rows: int = 0


@dataclass(frozen=True)
class SplitKeys:
    """What a split has left for checks."""

    split: int
    base: int
    """To be added to the positions of its rows."""
    tables: Mapping[str, StagedTable]


@dataclass(frozen=True)
class StoredKeys:
    """A slice of a table of the graph."""

    key: str
    piece: TableSlice


@dataclass(frozen=True)
class Excluded:
    """Rows that do not count: dropped because of another row of their id, or rejected for what is wrong with them."""

    dropped: Mapping[tuple[int, str], bytes] = field(default_factory=dict[tuple[int, str], bytes])
    """Numbers of rows of a table in a split, as 32-bit integers."""
    rejected: Mapping[int, bytes] = field(default_factory=dict[int, bytes])
    """Positions in the whole input, by split, as 64-bit integers."""


@dataclass(frozen=True)
class KeyPlan:
    """One pass over all keys."""

    load_id: str
    address: Address
    catalog: Catalog
    mode: LoadMode
    modes: Mapping[str, RowMode]
    """What the rows of each table of the load do."""
    stored_rows: Mapping[str, int]
    """How many rows each table of the graph has."""
    words: Mapping[int, str]
    splits: tuple[SplitKeys, ...]
    stored: tuple[StoredKeys, ...]
    channels: tuple[Channel, ...]
    excluded: Excluded = Excluded()
    hidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Files with the addresses of stored rows that rows of the load replace, for tables where that matters."""
    is_first: bool = True
    """Whether an id may come twice yet."""
    skip: bool = False

    @property
    def units(self) -> int:
        """How many units judge; one more counts."""
        return self.channels[-1].first + self.channels[-1].units if self.channels else 0

    @property
    def partitions(self) -> int:
        """How many tasks share the units: several small ones are one's."""
        return min(self.units + 1, 1 + sum(one.rows for one in self.channels) // UNIT_ROWS, PARTITIONS_MAX)

    def channel(self, key: str, names: tuple[str, ...] = ()) -> Channel | None:
        """Where the rows of a table meet."""
        return next((one for one in self.channels if (one.key, one.names) == (key, names)), None)

    def channel_of(self, unit: int) -> Channel:
        """What a unit judges."""
        return next(one for one in self.channels if one.first <= unit < one.first + one.units)

    def replaces(self, key: str) -> bool:
        """Whether all rows of a table go that are there."""
        return self.modes.get(key) is RowMode.REPLACE

    def meets_stored(self, key: str) -> bool:
        """Whether rows of the load may meet rows of the same id that are there."""
        return self.modes.get(key) in (RowMode.INSERT, RowMode.UPSERT) and self.stored_rows[key] > 0

    def needs_hidden(self, key: str) -> bool:
        """Whether a check looks at stored rows that must not be among those that are replaced."""
        table = table_of(self.catalog, key)
        return self.meets_stored(key) and bool(table.uniques or _counts_sources(table))

    def keeps_edges(self, key: str) -> bool:
        """Whether edges of the graph stay while nodes that they end at may go."""
        table = table_of(self.catalog, key)
        return (
            isinstance(table, EdgeType)
            and not self.replaces(key)
            and self.stored_rows[key] > 0
            and (self.replaces(f"node:{table.source}") or self.replaces(f"node:{table.target}"))
        )


def table_of(catalog: Catalog, key: str) -> NodeType | EdgeType:
    """A type by the key of its table."""
    kind, _, name = key.partition(":")
    return catalog.node_types[name] if kind == "node" else catalog.edge_types[name]


def ends_of(edge: EdgeType) -> tuple[tuple[str, str], tuple[str, str]]:
    """The ends of an edge, with the table of the nodes there."""
    return ("src", f"node:{edge.source}"), ("dst", f"node:{edge.target}")


def counted_edge(plan: KeyPlan, key: str) -> EdgeType | None:
    """The edge type, if edges of it are counted by source."""
    table = table_of(plan.catalog, key)
    return table if isinstance(table, EdgeType) and key in plan.modes and _counts_sources(table) else None


def channels_of(
    catalog: Catalog, given: Mapping[str, int], rows: Mapping[str, int], stored_rows: Mapping[str, int]
) -> tuple[Channel, ...]:
    """What has to meet. `given` are rows that may share an id, `rows` all of the load, by table."""
    sizes: dict[tuple[str, tuple[str, ...]], int] = {}

    def grow(key: str, count: int, names: tuple[str, ...] = ()) -> None:
        sizes[key, names] = sizes.get((key, names), 0) + count

    for key, count in rows.items():
        table = table_of(catalog, key)
        if given[key]:
            grow(key, given[key] + stored_rows[key])
        if isinstance(table, EdgeType):
            for _, node in ends_of(table):
                grow(node, count + (stored_rows[node] if (node, ()) not in sizes else 0))
        for names in table.uniques:
            if all(_is_comparable(table, name) for name in names):
                grow(key, count + stored_rows[key], names)
    for edge in catalog.edges:
        for _, node in ends_of(edge):
            if rows.get(node):  # an overwrite may leave its edges without an end
                grow(node, stored_rows[table_key(edge)])
    channels: list[Channel] = []
    first = 0
    for (key, names), size in sizes.items():
        units = min(SHARES_MAX, -(-size // UNIT_ROWS) or 1)
        channels.append(Channel(key, names, first, units, size))
        first += units
    return tuple(channels)


def _counts_sources(table: NodeType | EdgeType) -> bool:
    return isinstance(table, EdgeType) and not table.cardinality.is_default


def _is_comparable(table: NodeType | EdgeType, name: str) -> bool:
    declared = table.property(name)
    return declared is None or not (declared.type.is_list or declared.type.is_vector)
