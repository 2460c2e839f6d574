"""The cache of snapshots: bounded, built once, extended by appends."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnigraph.execute.cache import SnapshotCache
from omnigraph.execute.memory import SnapshotMemory
from omnigraph.model.errors import BadRequest
from omnigraph.query.ir import Direction
from omnigraph.storage.staged import TableRef
from tests.execute.worlds import CATALOG, KNOWS, PERSON, World, snapshot_of, worlds


@dataclass(frozen=True)
class Value:
    name: str
    nbytes: int = 10


def test_the_least_recently_used_go_first() -> None:
    cache = SnapshotCache(30)
    for name in "abc":
        cache.get((name,), (1,), lambda _, name=name: Value(name))
    cache.get(("a",), (1,), lambda _: pytest.fail("it is there"))
    cache.get(("d",), (1,), lambda _: Value("d"))
    assert cache.bytes == 30
    assert [cache.peek((name,), (1,)) is not None for name in "abcd"] == [True, False, True, True]


def test_what_is_larger_than_the_cache_is_not_kept() -> None:
    cache = SnapshotCache(30)
    cache.get(("a",), (1,), lambda _: Value("a"))
    assert cache.get(("b",), (1,), lambda _: Value("b", 31)).name == "b"
    assert (cache.bytes, cache.peek(("b",), (1,))) == (10, None)


def test_a_build_is_given_earlier_versions_the_newest_first() -> None:
    cache = SnapshotCache(100)
    seen: list[str] = []
    for version in (1, 2, 3):

        def build(earlier: Any, version: int = version) -> Value:
            seen.append(" ".join(value.name for value in earlier))
            return Value(str(version))

        cache.get(("a",), (version,), build)
    assert seen == ["", "1", "2 1"]


def test_what_fails_is_built_by_the_next() -> None:
    cache = SnapshotCache(100)
    with pytest.raises(RuntimeError):
        cache.get(("a",), (1,), lambda _: (_ for _ in ()).throw(RuntimeError))
    assert cache.get(("a",), (1,), lambda _: Value("a")).name == "a"


def test_threads_build_a_value_once() -> None:
    cache = SnapshotCache(1000)
    started, built = threading.Barrier(8), []
    wanted = [[("a",), ("b",)], [("b",), ("a",)], [("a",)], [("b",), ("c",)]]

    def work(families: Any) -> None:
        started.wait()

        def build(earlier: Any) -> Any:
            built.extend(earlier)
            return {family: Value(family[0]) for family in earlier}

        assert [value.name for value in cache.get_all(families, (1,), build).values()] == [f[0] for f in families]

    threads = [threading.Thread(target=work, args=(wanted[n % 4],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(built) == [("a",), ("b",), ("c",)]
    assert not cache._building


# -- appends -------------------------------------------------------------------------------------------


class Counted:
    """A table that counts the rows read from it."""

    def __init__(self, table: Any, read: list[int]) -> None:
        self._table, self._read = table, read

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def scan(self, *args: Any, **how: Any) -> pa.Table:
        rows = self._table.scan(*args, **how)
        self._read.append(rows.num_rows)
        return rows


def counted(snapshot: Any, read: list[int]) -> Any:
    opened = snapshot.table
    found = type(snapshot)(snapshot.tables)
    found.table = lambda key: Counted(opened(key), read)
    found.state = snapshot
    return found


def grown(world: World, people: int, edges: int) -> World:
    """The world with more people, and more edges between all of them."""
    old, count = world.ids(PERSON), len(world.rows[KNOWS])
    fresh = [f"n{len(old) + number}" for number in range(people)]
    names = old + fresh
    knows = [
        {"id": f"x{count + n}", "src": names[(7 * n) % len(names)], "dst": names[-1 - n % len(names)]}
        for n in range(edges)
    ]
    persons = [{"id": name, "name": name} for name in fresh]
    return World({**world.rows, PERSON: world.rows[PERSON] + persons, KNOWS: world.rows[KNOWS] + knows})


def split(snapshot: Any, before: Any, version: int) -> Any:
    """The snapshot as appends to another one leave it: its fragments, and one more with what is new."""
    tables = {}
    for key, table in snapshot.tables.items():
        old = before.tables[key]
        whole = table.scan()
        rest = whole.slice(old.row_count)
        parts = (*old.parts, rest) if rest.num_rows else old.parts
        sizes = [one.bytes for one in old.fragments()] + ([rest.nbytes] if rest.num_rows else [])
        tables[key] = replace(old, ref=TableRef(key, version), parts=parts, sizes=tuple(sizes))
    return type(snapshot)(tables)


def everything(memory: SnapshotMemory) -> Any:
    found: list[Any] = [memory.ids(PERSON).data.to_pylist(), memory.columns(PERSON, ["age"])["age"].data.to_pylist()]
    for direction in Direction:
        adjacency = memory.adjacency("Knows", direction)
        found.append([adjacency.offsets.tolist(), adjacency.targets.tolist(), adjacency.edges.tolist()])
        found.append([adjacency.is_simple, adjacency.distinct().targets.tolist()])
    ends = memory.endpoints("Knows")
    return [*found, ends.sources.tolist(), ends.targets.tolist()]


@settings(deadline=None)
@given(world=worlds(), steps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=4))
def test_extended_is_as_built_anew(world: World, steps: list[tuple[int, int]]) -> None:
    cache = SnapshotCache(1 << 20)
    snapshot = snapshot_of(world, 4)
    everything(SnapshotMemory(snapshot, CATALOG, cache))
    for version, (people, edges) in enumerate(steps, 2):
        world = grown(world, people, edges)
        snapshot = split(snapshot_of(world), snapshot, version)
        found = everything(SnapshotMemory(snapshot, CATALOG, cache))
        assert found == everything(SnapshotMemory(snapshot, CATALOG, SnapshotCache(1 << 20)))


def test_an_append_reads_what_it_appended() -> None:
    people = [{"id": f"p{n}", "name": f"p{n}", "age": n} for n in range(400)]
    edges = [{"id": f"k{n}", "src": f"p{n % 400}", "dst": f"p{n * 7 % 400}"} for n in range(2000)]
    world = World({PERSON: people, "node:City": [], KNOWS: edges, "edge:LivesIn": []})
    cache = SnapshotCache(1 << 24)
    first = snapshot_of(world, 5000)
    everything(SnapshotMemory(first, CATALOG, cache))
    second = split(snapshot_of(grown(world, 1, 2)), first, 2)
    read: list[int] = []
    everything(SnapshotMemory(counted(second, read), CATALOG, cache))
    assert sum(read) <= 2 * 1 + 4 * 2, "one person's two columns, two edges for each direction and for the ends"


@settings(deadline=None)
@given(world=worlds(), data=st.data())
def test_nodes_that_moved_are_numbered_anew(world: World, data: st.DataObject) -> None:
    """A fold or an upsert puts rows elsewhere: edges that were read before follow them."""
    cache = SnapshotCache(1 << 20)
    everything(SnapshotMemory(snapshot_of(world, 2), CATALOG, cache))
    moved = World({**world.rows, PERSON: data.draw(st.permutations(world.rows[PERSON]))})
    snapshot = snapshot_of(moved, 3, version=2)
    tables = {**snapshot.tables, PERSON: replace(snapshot.tables[PERSON], name="folded")}
    tables[KNOWS] = replace(snapshot_of(world, 2).tables[KNOWS], ref=TableRef(KNOWS, 1))
    snapshot = type(snapshot)(tables)
    found = everything(SnapshotMemory(snapshot, CATALOG, cache))
    assert found == everything(SnapshotMemory(snapshot, CATALOG, SnapshotCache(1 << 20)))


def test_the_size_is_a_quarter_of_memory_or_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMNIGRAPH_CACHE_BYTES", raising=False)
    assert SnapshotCache().bytes_max > 1 << 20
    monkeypatch.setenv("OMNIGRAPH_CACHE_BYTES", "12345")
    assert SnapshotCache().bytes_max == 12345
    monkeypatch.setenv("OMNIGRAPH_CACHE_BYTES", "1 GB")
    with pytest.raises(BadRequest, match="OMNIGRAPH_CACHE_BYTES is '1 GB'"):
        SnapshotCache()
