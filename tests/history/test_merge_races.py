"""Many processes merge branches into one at the same moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import omnigraph as og
from omnigraph.history import MergeConflicts
from tests.history.graphs import content, do, graph_of, knows, person
from tests.support.racers import Act, Racers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("race")

MANY = 16


@pytest.fixture(scope="module")
def racers() -> Iterator[Racers]:
    pool = Racers()
    yield pool
    pool.close()


def test_disjoint_branches_all_arrive(tmp_path: Path, racers: Racers, figure) -> None:
    graph = graph_of(tmp_path, [person(f"old{number}", age=1) for number in range(MANY)])
    for number in range(MANY):
        branch = f"agents/{number}"
        graph.branches.create(branch)
        graph.load([person(f"new{number}"), knows(f"e{number}", f"new{number}", f"old{number}")], branch=branch)
        do(graph, f'update Person set {{ note: "by {number}" }} where name = "old{number}"', branch)
    told = racers.race(graph.uri, *(Act("branches.merge", (f"agents/{number}",)) for number in range(MANY)))
    assert [one.error for one in told] == [None] * MANY
    found = content(og.open(graph.uri))
    assert {name: row["note"] for name, row in found["node:Person"].items() if row["age"]} == {
        f"old{number}": f"by {number}" for number in range(MANY)
    }
    assert {row["src"]: row["dst"] for row in found["edge:Knows"].values()} == {
        f"new{number}": f"old{number}" for number in range(MANY)
    }
    merges = [commit for commit in graph.commits.list() if commit.operation == "merge"]
    assert len({commit.merged_parent for commit in merges}) == len(merges) == MANY
    figure(f"{MANY} processes merged {MANY} branches in {max(one.seconds for one in told):.1f} s at most")


def test_one_branch_merged_by_several_counts_once(tmp_path: Path, racers: Racers) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("work")
    do(graph, 'update Person set { age: 40 } where name = "ada"', "work")
    do(graph, 'delete Person where name = "bob"', "work")
    do(graph, 'update Person set { age: 1 } where name = "cyd"')
    told = racers.race(graph.uri, *(Act("branches.merge", ("work",)) for _ in range(4)))
    assert [one.error for one in told] == [None] * 4
    assert len([one for one in told if one.commit is not None]) == 1
    assert {name: row["age"] for name, row in content(graph)["node:Person"].items()} == {"ada": 40, "cyd": 1}


def test_of_contradicting_branches_one_arrives_and_the_others_are_told(tmp_path: Path, racers: Racers) -> None:
    graph = graph_of(tmp_path)
    for number in range(4):
        graph.branches.create(f"b{number}")
        do(graph, f'update Person set {{ age: {number + 50} }} where name = "ada"', f"b{number}")
    told = racers.race(graph.uri, *(Act("branches.merge", (f"b{number}",)) for number in range(4)))
    (winner,) = [number for number, one in enumerate(told) if one.won]
    assert all(isinstance(one.error, MergeConflicts) for one in told if not one.won)
    assert content(graph)["node:Person"]["ada"]["age"] == winner + 50


def test_a_merge_and_a_write_to_the_same_property_never_lose_one(tmp_path: Path, racers: Racers) -> None:
    for number in range(4):
        graph = graph_of(tmp_path / str(number))
        graph.branches.create("work")
        do(graph, 'update Person set { age: 40 } where name = "ada"', "work")
        do(graph, 'update Person set { note: "x" } where name = "bob"')
        write = Act("mutate", ('query q() { update Person set { age: 50 } where name = "ada" }',))
        merged, written = racers.race(graph.uri, Act("branches.merge", ("work",), late_s=0.01 * number), write)
        age = content(graph)["node:Person"]["ada"]["age"]
        if merged.won and written.won:  # the merge came first, and the write on top of it
            assert [commit.operation for commit in graph.commits.list()][:2] == ["mutate", "merge"]
            assert age == 50
        elif merged.won:
            assert age == 40
        else:
            assert isinstance(merged.error, MergeConflicts)
            assert age == 50
