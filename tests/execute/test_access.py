"""Both ways to reach rows, on graphs at random: what they find is what is true by definition."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnigraph.execute import memory as memory_module
from omnigraph.execute.cache import SnapshotCache
from omnigraph.execute.dense import DenseGraph
from omnigraph.execute.memory import SnapshotMemory
from omnigraph.execute.probe import ProbeGraph
from omnigraph.execute.rows import filter_rows
from omnigraph.query import CheckedMutation, compile_queries, ir
from omnigraph.query.ir import Direction
from tests.execute.worlds import CATALOG, CITY, KNOWS, LIVES, NOW, PERSON, World, snapshot_of, worlds

DIRECTIONS = st.sampled_from(list(Direction))
HOPS = st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 5), (1, None), (2, None)])
CONDITIONS = [
    'name = "a2"', 'name in ["a2", "b10", "zz"]', "age = 1", "age != 1", "age > 0 and age <= 2", "2 >= age",
    "age is null", "age is not null", 'not (age = 1 or nick = "ann")', 'nick = ""', 'nick < "b"', "score = 0",
    "score > 1", "score != 1.5", "age in [1, 2]", "age not in [1, 2]", 'nick contains "n"', "age + 1 = 2 and age < 3",
    'nick = "ann" or age = 2', "age = 1.5", 'nick starts_with "B" and age >= 0',
]  # fmt: skip


def dense(world: World, rows: int = 3) -> DenseGraph:
    memory = SnapshotMemory(snapshot_of(world, rows), CATALOG, SnapshotCache(1 << 20))
    return DenseGraph(memory, {}, NOW)


class Sparing(SnapshotMemory):
    """Memory that keeps no column it does not have to."""

    def is_few(self, *_: Any) -> bool:
        return True

    def keeps(self, *_: Any) -> bool:
        return False


def sparing(world: World, rows: int = 3) -> DenseGraph:
    return DenseGraph(Sparing(snapshot_of(world, rows), CATALOG, SnapshotCache(1 << 20)), {}, NOW)


def probe(world: World, rows: int = 3) -> ProbeGraph:
    return ProbeGraph(snapshot_of(world, rows), CATALOG, {}, NOW, read={PERSON: frozenset({"age"})})


MAKERS = pytest.mark.parametrize("make", [dense, sparing, probe])


def condition_of(text: str) -> ir.Expression:
    (query,) = compile_queries(f"query q() {{ delete Person where {text} }}", CATALOG).queries
    assert isinstance(query, CheckedMutation)
    (statement,) = query.statements
    assert isinstance(statement, ir.Delete)
    return statement.condition


def ordinals(access: Any, key: str, ids: list[str | None]) -> np.ndarray:
    every = access.scan(key, None)
    known = dict(zip(access.gather(key, ["id"], every).column("id").to_pylist(), every.tolist(), strict=True))
    return np.array([-1 if name is None else known[name] for name in ids], np.int64)


def ids(access: Any, key: str, numbers: np.ndarray) -> list[str]:
    return access.gather(key, ["id"], numbers).column("id").to_pylist()


@MAKERS
@settings(deadline=None)
@given(world=worlds(), text=st.sampled_from(CONDITIONS), rows=st.sampled_from([1, 3, 100]))
def test_scan_and_keep_find_what_the_engine_finds(make, world: World, text: str, rows: int) -> None:
    condition = condition_of(text)
    table = snapshot_of(world).table(PERSON).scan()
    expected = filter_rows(table, condition, {}, NOW).column("id").to_pylist()
    access = make(world, rows)
    assert sorted(ids(access, PERSON, access.scan(PERSON, condition))) == sorted(expected)
    asked = ordinals(access, PERSON, [*world.ids(PERSON), None, world.ids(PERSON)[0]])
    kept = access.keep(PERSON, condition, asked)
    assert ids(access, PERSON, asked[kept]) == [name for name in ids(access, PERSON, asked) if name in expected]


@MAKERS
@settings(deadline=None)
@given(world=worlds(), rows=st.sampled_from([1, 3, 100]), data=st.data())
def test_gather_gives_rows_in_the_order_asked_for(make, world: World, rows: int, data: st.DataObject) -> None:
    access = make(world, rows)
    names = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(world.ids(PERSON)))))
    by_id = {row["id"]: row for row in world.rows[PERSON]}
    found = access.gather(PERSON, ["age", "id"], ordinals(access, PERSON, names))
    expected = [(by_id[name]["age"], name) if name else (None, None) for name in names]
    assert found.column_names == ["age", "id"]
    assert list(zip(*(column.to_pylist() for column in found.columns), strict=True)) == expected
    assert access.count(PERSON) == len(by_id)


@MAKERS
@settings(deadline=None)
@given(world=worlds(), direction=DIRECTIONS, parallel=st.booleans(), data=st.data())
def test_expand_follows_edges(make, world: World, direction: Direction, parallel: bool, data: st.DataObject) -> None:
    access = make(world)
    sources = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(world.ids(PERSON))), max_size=4))
    hits = access.expand("Knows", direction, ordinals(access, PERSON, sources), parallel=parallel)
    found = list(zip(hits.positions.tolist(), ids(access, PERSON, hits.targets), strict=True))
    pairs = world.pairs("Knows", direction)
    if parallel:
        edges = ids(access, KNOWS, hits.edges)
        expected = Counter(
            (n, end, name) for n, one in enumerate(sources) for start, end, name in pairs if start == one
        )
        assert Counter((*hit, edge) for hit, edge in zip(found, edges, strict=True)) == expected
    else:
        assert len(hits.edges) == 0
        assert sorted(found) == sorted(
            {(n, end) for n, one in enumerate(sources) for start, end, _ in pairs if start == one}
        )
    assert hits.positions.tolist() == sorted(hits.positions.tolist())


@MAKERS
@settings(deadline=None)
@given(world=worlds(), parallel=st.booleans())
def test_expand_between_two_types(make, world: World, parallel: bool) -> None:
    access = make(world)
    for direction, start, end in ((Direction.OUT, PERSON, CITY), (Direction.IN, CITY, PERSON)):
        hits = access.expand("LivesIn", direction, ordinals(access, start, world.ids(start)), parallel=parallel)
        found = [
            (world.ids(start)[n], one) for n, one in zip(hits.positions, ids(access, end, hits.targets), strict=True)
        ]
        pairs = [(one, other) for one, other, _ in world.pairs("LivesIn", direction)]
        assert Counter(found) == Counter(pairs if parallel else set(pairs))
        if parallel:
            assert sorted(ids(access, LIVES, hits.edges)) == sorted(world.ids(LIVES))


@MAKERS
@settings(deadline=None)
@given(world=worlds(), direction=DIRECTIONS, hops=HOPS, data=st.data())
def test_reach_is_by_shortest_distance(make, world: World, direction: Direction, hops, data: st.DataObject) -> None:
    access = make(world)
    sources = data.draw(st.lists(st.sampled_from(world.ids(PERSON)), unique=True))
    numbers = ordinals(access, PERSON, [*sources, None])
    hits = access.reach("Knows", direction, numbers, *hops)
    found = list(zip(hits.positions.tolist(), ids(access, PERSON, hits.targets), strict=True))
    expected = [(n, node) for n, one in enumerate(sources) for node in world.reached("Knows", direction, one, *hops)]
    assert sorted(found) == sorted(expected)
    assert hits.positions.tolist() == sorted(hits.positions.tolist())


@MAKERS
@settings(deadline=None)
@given(world=worlds(), direction=DIRECTIONS, hops=HOPS, pinned=st.booleans(), data=st.data())
def test_shortest_follows_the_tie_rule(
    make, world: World, direction: Direction, hops, pinned: bool, data: st.DataObject
) -> None:
    access = make(world)
    person = st.one_of(st.none(), st.sampled_from(world.ids(PERSON)))
    asked = data.draw(st.lists(st.tuples(person, person), max_size=5))
    sources, targets = ([pair[end] for pair in asked] for end in (0, 1))
    ends = ordinals(access, PERSON, targets) if pinned else None
    paths = access.shortest("Knows", direction, ordinals(access, PERSON, sources), ends, *hops)
    found: list[Any] = []
    for n, position in enumerate(paths.positions.tolist()):
        nodes = ids(access, PERSON, np.array(paths.nodes[n].as_py(), np.int64))
        edges = ids(access, KNOWS, np.array(paths.edges[n].as_py(), np.int64))
        found.append((position, ids(access, PERSON, paths.targets[n : n + 1])[0], nodes, edges))
    expected: list[Any] = []
    for n, (source, target) in enumerate(asked):
        reached = world.reached("Knows", direction, source, *hops) if source else set()
        for node in sorted(reached if not pinned else reached & {target}):
            expected.append((n, node, *world.path("Knows", direction, source, node)))
    assert sorted(found) == expected
    assert paths.positions.tolist() == sorted(paths.positions.tolist())


def test_texts_of_large_tables_are_kept_when_they_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_module, "_STREAMED_ROWS", 3)
    people = [{"id": f"p{n}", "name": f"p{n}", "nick": "ann"} for n in range(5)]
    access = dense(World({PERSON: people, CITY: [], KNOWS: [], LIVES: []}), 2)
    kept: list[bool] = []
    for _ in range(4):
        assert access.scan(PERSON, condition_of('nick contains "n"')).tolist() == [0, 1, 2, 3, 4]
        kept.append(access.memory.has_column(PERSON, "nick"))
    assert kept == [False, False, True, True]
