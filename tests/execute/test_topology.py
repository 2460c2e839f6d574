"""Adjacency on the disk: what is loaded is what would be built, whatever happened to the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omnigraph.execute import choose
from omnigraph.execute import memory as memory_module
from omnigraph.execute.cache import SnapshotCache
from omnigraph.execute.memory import SnapshotMemory
from omnigraph.execute.topology import KEPT, Topology, wait_for_writes
from omnigraph.model.errors import StoreUnavailable
from omnigraph.query.ir import Direction
from omnigraph.storage.address import parse_address
from omnigraph.storage.staged import TableRef
from omnigraph.storage.store import connect
from tests.execute.worlds import CATALOG, KNOWS, PERSON, World, snapshot_of
from tests.support.disk import wait_for_tick
from tests.support.social import social

NAMES = [f"n{number}" for number in range(6)]
ENDS = [(0, 1), (0, 2), (2, 1), (1, 0), (3, 3), (0, 1), (4, 2), (5, 0), (2, 5), (1, 4)]


@pytest.fixture(autouse=True)
def _few_edges_are_worth_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_module, "EDGES_MIN", 1)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    return connect(parse_address(tmp_path))


def world(edges: int = len(ENDS), people: int = len(NAMES)) -> World:
    named = [{"id": name, "name": name} for name in NAMES[:people]]
    rows = [{"id": f"k{n}", "src": NAMES[a], "dst": NAMES[b]} for n, (a, b) in enumerate(ENDS[:edges])]
    return World({PERSON: named, "node:City": [], KNOWS: rows, "edge:LivesIn": []})


class Closed:
    """A table that must not be read."""

    def __init__(self, table: Any) -> None:
        self.fragments = table.fragments

    def scan(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("it was read")


def built(snapshot: Any, direction: Direction = Direction.OUT) -> list[list[int]]:
    return lists(SnapshotMemory(snapshot, CATALOG, SnapshotCache(1 << 20)).adjacency("Knows", direction))


def lists(adjacency: Any) -> list[list[int]]:
    return [adjacency.offsets.tolist(), adjacency.targets.tolist(), adjacency.edges.tolist(), [adjacency.is_simple]]


def through(store: Any, snapshot: Any, direction: Direction = Direction.OUT) -> list[list[int]]:
    memory = SnapshotMemory(snapshot, CATALOG, SnapshotCache(1 << 20), Topology(store))
    found = lists(memory.adjacency("Knows", direction))
    wait_for_writes()
    return found


def unreadable(snapshot: Any, *keys: str) -> Any:
    """The snapshot with tables that must not be read."""
    closed = type(snapshot)(dict(snapshot.tables))
    opened = snapshot.table
    closed.table = lambda key: Closed(opened(key)) if key in keys else opened(key)
    closed.state = snapshot
    return closed


def files(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "__topology").rglob("*") if path.is_file())


@pytest.mark.parametrize("direction", list(Direction))
def test_a_saved_adjacency_is_loaded_without_reading_a_table(store: Any, direction: Direction) -> None:
    snapshot = snapshot_of(world(), 2)
    first = through(store, snapshot, direction)
    assert first == built(snapshot, direction)
    assert through(store, unreadable(snapshot, PERSON, KNOWS), direction) == first


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: b"x" + data[1:],
        lambda data: data[:20] + b"\x00" + data[21:],
        lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
        lambda data: data.replace(b'"simple": false', b'"simple": true '),
        lambda data: bytes(len(data)),
    ],
)
def test_a_damaged_file_is_built_anew(store: Any, tmp_path: Path, damage: Any) -> None:
    snapshot = snapshot_of(world())
    expected = through(store, snapshot)
    (path,) = files(tmp_path)
    sound = path.read_bytes()
    path.write_bytes(damage(sound))
    assert path.read_bytes() != sound
    assert through(store, snapshot) == expected
    assert path.read_bytes() == sound, "it is saved again"


def test_every_damaged_byte_is_noticed_or_does_not_matter(store: Any, tmp_path: Path) -> None:
    snapshot = snapshot_of(world())
    expected = through(store, snapshot)
    (path,) = files(tmp_path)
    sound = path.read_bytes()
    topology = Topology(store)
    for position in range(0, len(sound), 7):
        path.write_bytes(sound[:position] + bytes([sound[position] ^ 0x40]) + sound[position + 1 :])
        memory = SnapshotMemory(snapshot, CATALOG, SnapshotCache(1 << 20), topology)
        assert lists(memory.adjacency("Knows", Direction.OUT)) == expected
        wait_for_writes()


def test_a_file_of_other_versions_is_not_taken_for_ours(store: Any, tmp_path: Path) -> None:
    snapshot = snapshot_of(world(3))
    through(store, snapshot)
    (path,) = files(tmp_path)
    other = snapshot_of(world(), version=2)
    path.rename(path.with_name(path.name.replace(f"{1:016x}", f"{2:016x}")))
    assert through(store, other) == built(other)


def test_an_earlier_file_is_extended_by_what_was_appended(store: Any) -> None:
    parts = snapshot_of(world(9), 9)
    through(store, parts)
    later = snapshot_of(world(10), 9, version=2)
    assert through(store, unreadable_fragment(later, KNOWS, 0)) == built(later)


def unreadable_fragment(snapshot: Any, key: str, number: int) -> Any:
    table = snapshot.tables[key]
    first = table.parts[number]
    poisoned = first.set_column(1, "src", [["nobody"] * first.num_rows])
    parts = tuple(poisoned if n == number else part for n, part in enumerate(table.parts))
    changed = replace(table, parts=parts, sizes=tuple(part.nbytes for part in table.parts))
    return type(snapshot)({**snapshot.tables, key: changed})


def test_old_files_go_when_new_ones_come(store: Any, tmp_path: Path) -> None:
    for version in range(1, KEPT + 3):
        snapshot = snapshot_of(world())
        table = snapshot.tables[KNOWS]
        renamed = replace(table, ref=TableRef(table.ref.location, version), name=f"v{version}")
        through(store, type(snapshot)({**snapshot.tables, KNOWS: renamed}))
    assert len(files(tmp_path)) == KEPT


def test_a_store_that_fails_costs_nothing_but_time(store: Any) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            raise StoreUnavailable(f"no {name}")

    snapshot = snapshot_of(world())
    assert through(Failing(), snapshot) == built(snapshot)


def test_few_edges_are_not_saved(store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_module, "EDGES_MIN", 100)
    through(store, snapshot_of(world()))
    assert not (tmp_path / "__topology").exists()


def test_a_mapped_file_stays_readable_when_it_is_deleted(store: Any, tmp_path: Path) -> None:
    snapshot = snapshot_of(world())
    expected = through(store, snapshot)
    memory = SnapshotMemory(snapshot, CATALOG, SnapshotCache(1 << 20), Topology(store))
    adjacency = memory.adjacency("Knows", Direction.OUT)
    for path in files(tmp_path):
        path.unlink()
    assert lists(adjacency) == expected
    assert adjacency.total(np.ones(len(NAMES), np.int64)).tolist() == adjacency.degrees().tolist()


def test_cleanup_removes_what_no_branch_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "starts_with_probes", lambda *_: False)
    g = social(tmp_path / "g.omni")
    pairs = "query q() { match { $p: Person $p knows $f } return { $p.name as one, $f.name as other } }"

    def ask(branch: str = "main") -> list[Path]:
        g.query(pairs, branch=branch)
        wait_for_writes()
        return files(tmp_path / "g.omni")

    (first,) = ask()
    g.branches.create("old")
    g.mutate('query q() { delete Knows where @id = "k2" }')
    second = set(ask()) - {first}
    g.mutate('query q() { delete Knows where @id = "k1" }')
    assert len(second) == 1
    assert g.query(pairs).rows == []
    wait_for_tick(tmp_path)
    g.cleanup(keep=1, grace_s=0)
    assert {first, *second} <= set(files(tmp_path / "g.omni")), "a preview"
    g.cleanup(keep=1, grace_s=0, confirm=True)
    assert set(files(tmp_path / "g.omni")) == {first}, "the branch shows it"
    assert len(g.query(pairs, branch="old").rows) == 2
