"""Combinations that each side may have by itself, and that break the graph together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import omnigraph as og
from omnigraph.history import MergeConflicts
from tests.history.graphs import city, content, do, graph_of, knows, lives_in, person, row

if TYPE_CHECKING:
    from pathlib import Path

Act = "Callable[[og.Graph, str], object]"


def load(*records: dict[str, object]):
    return lambda graph, branch: graph.load(list(records), mode="merge", branch=branch)


def run(*statements: str):
    def act(graph: og.Graph, branch: str) -> None:
        for statement in statements:
            do(graph, statement, branch)

    return act


NODE_GOES = run('delete Person where name = "cyd"')
EDGE_COMES = load(knows("k9", "ada", "cyd"))

# ours, theirs, the conflict's kind, type and entity
CASES = {
    "their edge to a node we deleted": (NODE_GOES, EDGE_COMES, "orphan_edge", "Knows", "k9"),
    "our edge to a node they deleted": (EDGE_COMES, NODE_GOES, "orphan_edge", "Knows", "k9"),
    "one email twice": (
        load(person("x", email="a@b")),
        load(person("y", email="a@b")),
        "unique_violation",
        "Person",
        "y",
    ),
    "one email by an update and an insert": (
        run('update Person set { email: "a@b" } where name = "cyd"'),
        load(person("y", email="a@b")),
        "unique_violation",
        "Person",
        "y",
    ),
    "two homes": (
        load(lives_in("l1", "ada", "paris")),
        load(lives_in("l2", "ada", "rome")),
        "cardinality_violation",
        "LivesIn",
        "l2",
    ),
}


@pytest.fixture(params=sorted(CASES))
def case(request: pytest.FixtureRequest, tmp_path: Path):
    ours, theirs, kind, type_name, entity_id = CASES[request.param]
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    ours(graph, "main")
    theirs(graph, "theirs")
    return graph, kind, type_name, entity_id


def test_the_combination_is_refused_with_both_images(case) -> None:
    graph, kind, type_name, entity_id = case
    before, commits = content(graph), graph.commits.list()
    with pytest.raises(MergeConflicts) as refused:
        graph.branches.merge("theirs")
    (conflict,) = refused.value.conflicts
    assert (conflict.kind, conflict.type_name, conflict.entity_id) == (kind, type_name, entity_id)
    assert conflict.ours is not None or conflict.theirs is not None
    assert entity_id in conflict.message or "ada" in conflict.message or "cyd" in conflict.message
    assert content(graph) == before
    assert graph.commits.list() == commits


def test_taking_ours_leaves_our_graph_whole(case) -> None:
    graph, *_ = case
    before = content(graph)
    result = graph.branches.merge("theirs", resolution="ours")
    assert result.outcome == "merged"
    assert content(graph) == before
    assert graph.branches.merge("theirs").outcome == "already_up_to_date"


def test_taking_theirs_keeps_an_edge_and_its_node_or_neither(tmp_path: Path) -> None:
    for number, (ours, theirs) in enumerate([(NODE_GOES, EDGE_COMES), (EDGE_COMES, NODE_GOES)]):
        graph = graph_of(tmp_path / str(number))
        graph.branches.create("theirs")
        ours(graph, "main")
        theirs(graph, "theirs")
        graph.branches.merge("theirs", resolution="theirs")
        there = row(graph, "node:Person", "cyd") is not None
        assert there == (ours is NODE_GOES)
        assert (row(graph, "edge:Knows", "k9") is not None) == there


def test_taking_theirs_cannot_make_two_emails_one(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    graph.load([person("x", email="a@b")], mode="append")
    graph.load([person("y", email="a@b")], mode="append", branch="theirs")
    with pytest.raises(MergeConflicts):
        graph.branches.merge("theirs", resolution="theirs")
    assert row(graph, "node:Person", "y") is None


def test_nodes_and_their_edges_deleted_on_both_sides_are_no_conflict(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, [person("ada"), person("bob"), city("paris"), knows("k", "ada", "bob")])
    graph.branches.create("theirs")
    for branch in ("main", "theirs"):
        do(graph, 'delete Person where name = "bob"', branch)
    do(graph, 'delete City where name = "paris"', "theirs")
    graph.branches.merge("theirs")
    found = content(graph)
    assert (list(found["node:Person"]), found["edge:Knows"], found["node:City"]) == (["ada"], {}, {})


def test_a_home_that_moved_is_no_second_home(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.load([lives_in("l1", "ada", "paris")], mode="append")
    graph.branches.create("theirs")
    graph.load([lives_in("l1", "ada", "rome")], mode="merge", branch="theirs")
    graph.load([lives_in("l2", "bob", "rome")], mode="append")
    graph.branches.merge("theirs")
    assert {one["src"]: one["dst"] for one in content(graph)["edge:LivesIn"].values()} == {"ada": "rome", "bob": "rome"}


def test_conflicts_of_values_and_of_structure_are_told_together(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    for branch, age in (("main", 40), ("theirs", 41)):
        do(graph, f'update Person set {{ age: {age} }} where name = "ada"', branch)
    NODE_GOES(graph, "main")
    EDGE_COMES(graph, "theirs")
    found = graph.branches.merge("theirs", dry_run=True)
    assert sorted(conflict.kind for conflict in found.conflicts) == ["divergent_update", "orphan_edge"]
