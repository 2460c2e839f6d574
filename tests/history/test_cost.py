"""What a merge, a diff and a poll ask of the store follows the change and not the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import omnigraph as og
from tests.history.graphs import do, knows, person

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """
node Person { name: String @key  age: I32?  bio: String? }
edge Knows: Person -> Person { note: String? }
"""
MANY = 60_000
REQUESTS_MAX = 60
BYTES_MAX = 300_000
"""A tenth of what the large graph has in one column: nothing was read whole."""


def filled(folder: Path, count: int) -> og.Graph:
    """People, each of whom knows the next."""
    graph = og.init(f"{folder}/{count}.omni", SCHEMA)
    names = [f"p{number:07d}" for number in range(count)]
    bios = [f"the {number}th of them, who has a long story to tell" for number in range(count)]
    people = {"name": names, "age": pa.array(range(count), pa.int32()), "bio": bios}
    graph.load({"Person": pa.table(people)}, mode="append")
    ends = {"id": [f"k{number}" for number in range(count - 1)], "from": names[:-1], "to": names[1:]}
    graph.load({"Knows": pa.table(ends)}, mode="append")
    return graph


def quiet(graph: og.Graph) -> og.Graph:
    """As another process has it; without upkeep, which is counted apart."""
    fresh = og.open(graph.uri)
    fresh.repository.parts = replace(fresh.repository.parts, auto_fold=False)
    return fresh


def measured(graph: og.Graph, act: Any) -> tuple[int, int]:
    with graph.meter() as meter:
        act(graph)
    return meter.requests, meter.bytes


def prepare(graph: og.Graph) -> str:
    """A branch with ten changes, and something else on main."""
    base = graph.commits.list()[0].id
    graph.branches.create("work")
    graph.load([person(f"new{number}") for number in range(4)], mode="append", branch="work")
    graph.load([knows(f"n{number}", f"new{number}", "p0000001") for number in range(4)], mode="append", branch="work")
    do(graph, 'update Person set { age: 1 } where name = "p0000002"', "work")
    graph.write(lambda txn: txn.plan("mutate") if txn.change("edge:Knows", None, ["k7"]) else None, branch="work")
    do(graph, 'update Person set { age: 2 } where name = "p0000009"')
    return base


@pytest.fixture(scope="module", params=[200, MANY])
def graph(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[og.Graph, str, int]:
    made = filled(tmp_path_factory.mktemp("cost"), request.param)
    return made, prepare(made), request.param


def test_a_small_merge_costs_little_in_a_large_graph(graph: tuple[og.Graph, str, int], figure) -> None:
    made, base, count = graph
    diff = measured(quiet(made), lambda g: list(g.diff(base, "work")))
    assert len(quiet(made).diff(base, "work")) == 10
    poll = measured(quiet(made), lambda g: g.changes.poll(branch="work", start=f"after:{base}"))
    merge = measured(quiet(made), lambda g: g.branches.merge("work"))
    figure(f"{count:,} people: diff of 10 {diff}, poll {poll}, merge {merge} (requests, bytes)")
    ids = 2 * 10 * count  # a merge looks up whether ids are there: those columns, unless an index has them
    for (requests, size), allowed in ((diff, 0), (poll, 0), (merge, ids)):
        assert requests <= REQUESTS_MAX
        assert size <= BYTES_MAX + allowed


def test_a_fast_forward_costs_the_same_whatever_it_brings(tmp_path: Path) -> None:
    counts = []
    for size in (10, 5_000):
        graph = filled(tmp_path / str(size), 50)
        graph.branches.create("work")
        graph.load([person(f"n{number}") for number in range(size)], mode="append", branch="work")
        requests, moved = measured(quiet(graph), lambda g: g.branches.merge("work"))
        counts.append((requests, moved))
    (few, few_bytes), (many, many_bytes) = counts
    assert few == many
    assert abs(many_bytes - few_bytes) < 20_000


def test_a_diff_is_the_same_after_the_tables_were_written_again(tmp_path: Path) -> None:
    """Folds move rows into other files; nothing was changed by that."""
    graph = filled(tmp_path, 300)
    base = graph.commits.list()[0].id
    graph.branches.create("work")
    for number in range(12):
        do(graph, f'update Person set {{ age: {900 + number} }} where name = "p{number:07d}"', "work")
    do(graph, 'delete Person where name = "p0000100"', "work")
    wanted = [change.to_json() for change in graph.diff(base, "work")]
    assert len(wanted) == 15
    table = graph.snapshot("work").table("node:Person")
    before = len(table.fragments())
    rows = table.scan()
    graph.write(lambda txn: txn.plan("load") if txn.overwrite("node:Person", rows) else None, branch="work")
    assert before > len(graph.snapshot("work").table("node:Person").fragments())
    assert [change.to_json() for change in graph.diff(base, "work")] == wanted
    assert list(graph.diff(graph.commits.list("work")[1].id, "work")) == []
    result = graph.branches.merge("work")
    assert result.commit is not None
    assert list(graph.diff("work", "main")) == []


def test_a_large_difference_is_read_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from omnigraph.history import tablediff

    graph = filled(tmp_path, 500)
    base = graph.commits.list()[0].id
    rows = graph.snapshot().table("node:Person").scan()
    changed = rows.set_column(1, "age", pa.array([1 if n % 2 else n for n in range(500)], pa.int32()))
    graph.write(lambda txn: txn.plan("load") if txn.overwrite("node:Person", changed) else None)
    wanted = [change.to_json() for change in graph.diff(base)]
    assert len(wanted) == 249
    monkeypatch.setattr(tablediff, "KEPT_ROWS_MAX", 10)
    monkeypatch.setattr(tablediff, "COMPARED_ROWS", 64)
    assert [change.to_json() for change in og.open(graph.uri).diff(base)] == wanted
