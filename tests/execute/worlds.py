"""Small graphs at random for tests of access, and what is true of them by definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import lance
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

from omnigraph.query.ir import Direction
from omnigraph.schema import compile_schema, table_schemas
from omnigraph.storage.staged import FragmentIdentity, TableRef

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
CATALOG = compile_schema("""
interface Named { name: String }
node Person implements Named { name: String @key  age: I32?  score: F64?  nick: String? }
node City implements Named { name: String @key }
edge Knows: Person -> Person { since: I32? }
edge LivesIn: Person -> City
""")
SCHEMAS = table_schemas(CATALOG)
PERSON, CITY, KNOWS, LIVES = "node:Person", "node:City", "edge:Knows", "edge:LivesIn"
"""The keys of its tables."""


@dataclass(frozen=True)
class World:
    """Rows of each table."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def ids(self, key: str) -> list[str]:
        return [row["id"] for row in self.rows[key]]

    def pairs(self, edge: str, direction: Direction) -> list[tuple[str, str, str]]:
        """Every edge as it is followed: from, to, its id."""
        found: list[tuple[str, str, str]] = []
        for row in self.rows[f"edge:{edge}"]:
            out, back = (row["src"], row["dst"], row["id"]), (row["dst"], row["src"], row["id"])
            if direction is not Direction.IN:
                found.append(out)
            if direction is Direction.IN or (direction is Direction.BOTH and row["src"] != row["dst"]):
                found.append(back)
        return found

    def distances(self, edge: str, direction: Direction, source: str) -> dict[str, int]:
        near: dict[str, set[str]] = {}
        for start, end, _ in self.pairs(edge, direction):
            near.setdefault(start, set()).add(end)
        found = {source: 0}
        level = [source]
        while level:
            level = [node for node in sorted({n for one in level for n in near.get(one, ())}) if node not in found]
            found.update(dict.fromkeys(level, max(found.values()) + 1))
        return found

    def reached(self, edge: str, direction: Direction, source: str, least: int, most: int | None) -> set[str]:
        found = {
            node
            for node, far in self.distances(edge, direction, source).items()
            if far and least <= far and (most is None or far <= most)
        }
        loops = {start for start, end, _ in self.pairs(edge, direction) if start == end}
        return found | ({source} & loops if least == 1 else set())

    def path(self, edge: str, direction: Direction, source: str, target: str) -> tuple[list[str], list[str]]:
        """The shortest path the tie rule chooses, given that there is one."""
        pairs = self.pairs(edge, direction)
        if source == target:
            return [source, source], [min(name for start, end, name in pairs if start == end == source)]
        far = self.distances(edge, direction, source)
        nodes, edges = [target], []
        while nodes[0] != source:
            before = min(s for s, e, _ in pairs if e == nodes[0] and far.get(s) == far[nodes[0]] - 1)
            edges.insert(0, min(name for s, e, name in pairs if (s, e) == (before, nodes[0])))
            nodes.insert(0, before)
        return nodes, edges


NAMES = [f"{letter}{number}" for number in (2, 10, 1) for letter in "bxaq"]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    people = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=9, unique=True))
    cities = draw(st.lists(st.sampled_from(["rome", "oslo"]), max_size=2, unique=True))
    person, text = st.sampled_from(people), st.sampled_from(["", "ann", "Bob", None])
    number = st.one_of(st.none(), st.integers(-3, 3))
    score = st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")])
    knows = draw(st.lists(st.tuples(person, person, number), max_size=20))
    lives = draw(st.lists(st.tuples(person, st.sampled_from(cities)), max_size=6)) if cities else []
    order = draw(st.permutations(range(len(knows))))
    return World(
        {
            PERSON: [
                {"id": name, "name": name, "age": draw(number), "score": draw(score), "nick": draw(text)}
                for name in people
            ],
            CITY: [{"id": name, "name": name} for name in cities],
            KNOWS: [
                {"id": f"k{order[n]:02}", "src": src, "dst": dst, "since": since}
                for n, (src, dst, since) in enumerate(knows)
            ],
            LIVES: [{"id": f"l{n}", "src": src, "dst": dst} for n, (src, dst) in enumerate(lives)],
        }
    )


# -- tables without a store ----------------------------------------------------------------------------


@dataclass(frozen=True)
class PlainTable:
    """A table in memory that behaves as an opened one, in fragments of a few rows."""

    ref: TableRef
    schema: pa.Schema
    parts: tuple[pa.Table, ...]
    name: str = ""
    """Tells files apart that are of the same table, but not the same."""
    sizes: tuple[int, ...] | None = None

    @property
    def location(self) -> str:
        return self.ref.location

    @property
    def version(self) -> int:
        return self.ref.version

    @property
    def row_count(self) -> int:
        return sum(part.num_rows for part in self.parts)

    def fragments(self) -> tuple[FragmentIdentity, ...]:
        return tuple(
            FragmentIdentity(n, (f"{self.ref.location}{self.name}-{n}",), None, part.num_rows, size)
            for n, (part, size) in enumerate(zip(self.parts, self.sizes or [p.nbytes for p in self.parts], strict=True))
        )

    def column_id(self, name: str) -> tuple[int, pa.DataType]:
        return self.schema.names.index(name), self.schema.field(name).type

    def scan(self, columns=None, where=None, fragments=None) -> pa.Table:
        chosen = self.parts if fragments is None else [self.parts[one.id] for one in fragments]
        rows = pa.concat_tables([self.schema.empty_table(), *chosen])
        if where is not None:
            rows = lance.write_dataset(rows, "memory://").to_table(filter=where)
        return rows.select(list(columns or self.schema.names))

    def batches(self, columns=None, where=None, fragments=None):
        yield from self.scan(columns, where, fragments).to_batches(max_chunksize=2)

    def unindexed_rows(self, column: str) -> int:
        return 0

    def take(self, columns, positions) -> pa.Table:
        return self.scan(columns).take(pa.array(positions, pa.int64()))


class PlainSnapshot:
    """A snapshot of such tables."""

    def __init__(self, tables: dict[str, PlainTable]) -> None:
        self.tables = tables
        self.state = self

    def table(self, key: str) -> PlainTable:
        return self.tables[key]

    def find(self, key: str, column: str, values: pa.Array, columns) -> pa.Table:
        rows = self.tables[key].scan()
        return rows.filter(pc.is_in(rows.column(column), value_set=values.drop_null())).select(list(columns))


def snapshot_of(world: World, fragment_rows: int = 100, version: int = 1) -> Any:
    """The rows of a world as a snapshot."""
    tables: dict[str, PlainTable] = {}
    for key, rows in world.rows.items():
        whole = pa.Table.from_pylist(rows, SCHEMAS[key])
        parts = tuple(whole.slice(start, fragment_rows) for start in range(0, whole.num_rows, fragment_rows))
        tables[key] = PlainTable(TableRef(key, version), SCHEMAS[key], parts)
    return PlainSnapshot(tables)
