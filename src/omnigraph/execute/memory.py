"""One snapshot as numbers: columns of its tables, the ends of its edges, and who is whose neighbour."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from omnigraph.execute.adjacency import Adjacency, both_ways, build_adjacency, extend_adjacency
from omnigraph.execute.cache import Sized, SnapshotCache, shared_cache
from omnigraph.execute.columns import Column, ranks_of, read_columns, rows_of
from omnigraph.execute.endpoints import NO_ENDS, Endpoints, Origin, read_endpoints, read_ends
from omnigraph.execute.topology import EDGES_MIN, TopologyKey
from omnigraph.query.ir import Direction
from omnigraph.storage.wanted import is_narrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.adjacency import Small
    from omnigraph.execute.cache import Family, Version
    from omnigraph.execute.topology import Topology
    from omnigraph.manifest import Snapshot
    from omnigraph.schema import Catalog
    from omnigraph.storage.interface import TableHandle
    from omnigraph.storage.staged import TableRef

V = TypeVar("V", bound=Sized)
_WHOLE_ROWS = 10_000
"""Columns of tables up to this size are always read as a whole."""
_STREAMED_ROWS = 250_000
_SCANS = 2
"""So often texts of larger tables are scanned without being kept."""
_FEW_SHARE = 16
"""Fewer rows than this part of a table may be read by themselves."""
_TAKE_ROWS = 10_000
"""Reading single rows costs as much as reading so many of a whole column, and then some for each row."""
_VALUE_BYTES = 24
_ROOM = 4
"""Columns larger than this part of the cache are read as a whole only if much of them is wanted."""
_MERGE_SHARE = 8
"""Fewer new edges than this part of all are put between the others; more are sorted with them."""


@dataclass(frozen=True)
class Neighbours:
    """An adjacency, of which edges and nodes it was made, and how many of the edges are saved on the disk."""

    adjacency: Adjacency
    origin: Origin
    saved: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        return self.adjacency.nbytes


@dataclass(frozen=True)
class Ranks:
    """For each row, the place of its id among all ids in order."""

    places: Small

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        return self.places.nbytes


@dataclass(frozen=True)
class Degrees:
    """For each node how many edges it has."""

    counts: Numbers

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        return self.counts.nbytes


class SnapshotMemory:
    """What of a snapshot is in memory; the rest is read when it is asked for."""

    def __init__(
        self,
        snapshot: Snapshot,
        catalog: Catalog,
        cache: SnapshotCache | None = None,
        topology: Topology | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.catalog = catalog
        self.cache = cache or shared_cache()
        self._topology = topology
        self._tables: dict[str, TableHandle] = {}
        self._columns: dict[tuple[str, str], Family] = {}

    def table(self, key: str) -> TableHandle:
        """A table at its pinned version."""
        handle = self._tables.get(key)
        if handle is None:
            handle = self._tables[key] = self.snapshot.table(key)
        return handle

    def count(self, key: str) -> int:
        """How many rows a table has."""
        return self.snapshot.state.table(key).row_count

    # -- columns ---------------------------------------------------------------------------------------

    def columns(self, key: str, names: Sequence[str]) -> dict[str, Column]:
        """Whole columns of a table."""
        families = {self._column(key, name): name for name in names}

        def build(earlier: Mapping[Family, Sequence[Column]]) -> dict[Family, Column]:
            found = read_columns(self.table(key), {families[family]: each for family, each in earlier.items()})
            return {family: found[families[family]] for family in earlier}

        found = self.cache.get_all(list(families), self._version(key), build)
        return {name: found[family] for family, name in families.items()}

    def is_few(self, key: str, names: Sequence[str], rows: int) -> bool:
        """Whether so few rows of columns are better read by themselves than all of them into memory.

        Once as much was read so as the whole columns are, they are read as a whole; but wide ones never are.
        """
        count = self.count(key)
        if count < _WHOLE_ROWS or rows * _FEW_SHARE > count:
            return False
        schema = self.table(key).schema
        if any(not is_narrow(schema.field(name).type) for name in names):
            return True
        if not self.fits(key, names):
            return True
        location = self.snapshot.state.table(key).location
        return self.cache.spend([f"{location}/{name}" for name in names], _TAKE_ROWS + rows) < count

    def fits(self, key: str, names: Sequence[str]) -> bool:
        """Whether columns take no more than a fair part of the cache."""
        lacking = [name for name in names if not self.has_column(key, name)]
        return self.count(key) * len(lacking) * _VALUE_BYTES * _ROOM <= self.cache.bytes_max

    def keeps(self, key: str, names: Sequence[str]) -> bool:
        """Whether columns are read into memory for a scan, rather than tested as they are read.

        Texts of a large table are read into memory only when they are scanned for the third time.
        """
        if not self.fits(key, names):
            return False
        schema, count = self.table(key).schema, self.count(key)
        texts = [
            name for name in names if pa.types.is_string(schema.field(name).type) and not self.has_column(key, name)
        ]
        if count <= _STREAMED_ROWS or not texts:
            return True
        location = self.snapshot.state.table(key).location
        return self.cache.spend([f"{location}/{name}/scanned" for name in texts], 1) > _SCANS

    def ids(self, key: str) -> Column:
        """The ids of a table's rows."""
        return self.columns(key, ["id"])["id"]

    def has_column(self, key: str, name: str) -> bool:
        """Whether a column is in memory already. Where nothing of the table is, it is not opened to say so."""
        if not self.cache.holds(self.snapshot.state.table(key).location):
            return False
        return self.cache.peek(self._column(key, name), self._version(key)) is not None

    def ranks(self, key: str) -> Small:
        """For each row, the place of its id among all ids in order."""

        def build(_: Sequence[Ranks]) -> Ranks:
            ids = self.ids(key)
            return Ranks(ranks_of(ids.data))

        return self.cache.get(self._family(key, "ranks"), self._version(key), build).places

    def derived(self, key: str, name: str, what: str, build: Callable[[Sequence[V]], V]) -> V:
        """Something made of a column, given what was made of it at other versions."""
        return self.cache.get((*self._column(key, name), what), self._version(key), build)

    def has_derived(self, key: str, name: str, what: str) -> bool:
        """Whether something made of a column is in memory already."""
        return self.cache.peek((*self._column(key, name), what), self._version(key)) is not None

    def earlier(self, key: str, name: str, what: str) -> Sequence[Any]:
        """What of a column is in memory, of any version."""
        return self.cache.earlier((*self._column(key, name), what))

    # -- edges -----------------------------------------------------------------------------------------

    def ends(self, edge: str) -> tuple[str, str]:
        """The tables of the nodes an edge type connects."""
        declared = self.catalog.edge_types[edge]
        return f"node:{declared.source}", f"node:{declared.target}"

    def endpoints(self, edge: str) -> Endpoints:
        """The ends of every edge of a type."""
        key = f"edge:{edge}"
        source, target = self.ends(edge)

        def build(earlier: Sequence[Endpoints]) -> Endpoints:
            return read_endpoints(self.table(key), self.ids(source), self.ids(target), earlier)

        return self.cache.get(self._family(key, "endpoints"), self._edge_version(edge), build)

    def adjacency(self, edge: str, direction: Direction) -> Adjacency:
        """Who is whose neighbour along edges of a type."""
        family = self._family(f"edge:{edge}", "adjacency", direction.value)
        return self.cache.get(
            family, self._edge_version(edge), lambda earlier: self._neighbours(edge, direction, earlier)
        ).adjacency

    def degrees(self, edge: str, direction: Direction, *, parallel: bool) -> Numbers:
        """How many edges each node has in a direction, or how many neighbours."""
        opposite = direction.opposite
        if direction is opposite or self.has_adjacency(edge, direction) or not self.has_adjacency(edge, opposite):
            adjacency = self.adjacency(edge, direction)
            return (adjacency if parallel else adjacency.distinct()).degrees()

        def build(_: Sequence[Degrees]) -> Degrees:
            adjacency = self.adjacency(edge, opposite)  # counting who is reached is faster than sorting anew
            reached = (adjacency if parallel else adjacency.distinct()).targets
            return Degrees(np.bincount(reached, minlength=self._starts(edge, direction)))

        family = self._family(f"edge:{edge}", "degrees", direction.value, str(parallel))
        return self.cache.get(family, self._edge_version(edge), build).counts

    def _neighbours(self, edge: str, direction: Direction, earlier: Sequence[Neighbours]) -> Neighbours:
        """Load an adjacency, or extend one of an earlier version, or sort all edges."""
        if self.count(f"edge:{edge}") < EDGES_MIN or self._topology is None:
            return self._extended(edge, direction, earlier) or self._sorted(edge, direction)
        key = TopologyKey(*self._edge_version(edge), direction.value)
        found = self._extended(edge, direction, earlier)
        if found is None:
            saved = self._topology.load(key)
            if saved is not None:
                return Neighbours(saved.adjacency, saved.origin, len(saved.adjacency.targets))
            others = (
                Neighbours(one.adjacency, one.origin, len(one.adjacency.targets)) for one in self._topology.earlier(key)
            )
            found = self._extended(edge, direction, others) or self._sorted(edge, direction)
        size = len(found.adjacency.targets)
        if (size - found.saved) * _MERGE_SHARE > size:
            self._topology.save(key, found.adjacency, found.origin)
            return replace(found, saved=size)
        return found

    def _extended(self, edge: str, direction: Direction, earlier: Iterable[Neighbours]) -> Neighbours | None:
        """Put what was appended since between the edges of an earlier version; None if it is not only appended."""
        origin = self._origin(edge)
        total = rows_of(origin.edges)
        for before in earlier:
            known = rows_of(before.origin.edges)
            if (total - known) * _MERGE_SHARE < total and origin.continues(before.origin):
                if known == total and self._starts(edge, direction) == before.adjacency.sources:
                    return replace(before, origin=origin)
                source, target = self.ends(edge)
                fresh = origin.edges[len(before.origin.edges) :]
                ends = (
                    read_ends(self.table(f"edge:{edge}"), fresh, self.ids(source), self.ids(target))
                    if fresh
                    else NO_ENDS
                )
                added = _in_direction(*ends, direction, self._starts(edge, direction), known)
                return Neighbours(extend_adjacency(before.adjacency, added), origin, before.saved)
        return None

    def _sorted(self, edge: str, direction: Direction) -> Neighbours:
        endpoints = self.endpoints(edge)
        count = self._starts(edge, direction)
        return Neighbours(_in_direction(endpoints.sources, endpoints.targets, direction, count, 0), self._origin(edge))

    def _starts(self, edge: str, direction: Direction) -> int:
        """How many nodes edges can start from."""
        source, target = self.ends(edge)
        return self.count(target if direction is Direction.IN else source)

    def _origin(self, edge: str) -> Origin:
        return Origin(*(tuple(self.table(key).fragments()) for key in (f"edge:{edge}", *self.ends(edge))))

    def saved_bytes(self, edge: str, direction: Direction) -> int | None:
        """How many bytes have to be fetched to load a saved adjacency, none if it is mapped; None if there is none."""
        if self._topology is None or self.count(f"edge:{edge}") < EDGES_MIN:
            return None
        size = self._topology.size(TopologyKey(*self._edge_version(edge), direction.value))
        return 0 if size is not None and self._topology.is_local else size

    def has_adjacency(self, edge: str, direction: Direction) -> bool:
        """Whether an adjacency is in memory already."""
        family = self._family(f"edge:{edge}", "adjacency", direction.value)
        return self.cache.peek(family, self._edge_version(edge)) is not None

    # -- names of what is kept -------------------------------------------------------------------------

    def _column(self, key: str, name: str) -> Family:
        """By the field's number, because after a rename the same files have another column under the old name."""
        family = self._columns.get((key, name))
        if family is None:
            number, kind = self.table(key).column_id(name)
            family = self._columns[key, name] = self._family(key, "column", str(number), str(kind))
        return family

    def _family(self, key: str, *what: str) -> Family:
        return self.snapshot.state.table(key).location, *what

    def _version(self, key: str) -> Version:
        return (self.snapshot.state.table(key).version,)

    def _edge_version(self, edge: str) -> tuple[TableRef, TableRef, TableRef]:
        """Ordinals of nodes depend on their tables."""
        source, target = self.ends(edge)
        state = self.snapshot.state
        return state.table(f"edge:{edge}").ref, state.table(source).ref, state.table(target).ref


def _in_direction(sources: Small, targets: Small, direction: Direction, count: int, start: int) -> Adjacency:
    """Put edges in order. The first of them has the number `start`."""
    edges = np.arange(start, start + len(sources), dtype=np.int32)
    match direction:
        case Direction.OUT:
            return build_adjacency(sources, targets, edges, count)
        case Direction.IN:
            return build_adjacency(targets, sources, edges, count)
        case Direction.BOTH:
            starts, ends, positions = both_ways(sources, targets)
            return build_adjacency(starts, ends, positions + np.int32(start), count)
