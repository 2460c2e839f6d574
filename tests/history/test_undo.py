"""Revert, cherry-pick, reset; blame and log of an entity; the drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import omnigraph as og
from omnigraph.history import MergeConflicts
from omnigraph.model.errors import BadRequest, HeadMoved, NotFound, SnapshotReclaimed
from tests.history.graphs import SCHEMA, content, do, graph_of, knows, person, row
from tests.support.disk import wait_for_tick

if TYPE_CHECKING:
    from pathlib import Path


def test_revert_takes_back_one_commit_and_leaves_what_came_later(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    wrong = do(graph, 'delete Person where name = "bob"')
    do(graph, 'update Person set { age: 40 } where name = "ada"')
    done = graph.commits.revert(wrong)
    assert done.commit is not None
    assert (done.commit.operation, done.commit.merged_parent) == ("revert", None)
    found = content(graph)
    assert found["node:Person"]["ada"]["age"] == 40
    assert found["node:Person"]["bob"]["age"] == 20
    assert found["edge:Knows"]["k1"]["since"] == 2000
    graph.commits.revert(done.commit.id)
    assert "bob" not in content(graph)["node:Person"]


def test_revert_of_every_kind_of_commit_restores_the_graph(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("work")
    graph.load([person("dan"), knows("k3", "dan", "ada")], mode="append", branch="work")
    do(graph, 'update Person set { age: 41 } where name = "ada"')
    acts = [
        lambda: graph.load([person("eve"), knows("k2", "eve", "ada")], mode="append").commit,
        lambda: graph.load([person("ada", age=1)], mode="merge").commit,
        lambda: graph.load([person("ada"), person("bob")], mode="overwrite").commit,
        lambda: graph.branches.merge("work").commit,
        lambda: graph.branches.reset("main", graph.commits.list()[-2].id),
    ]
    for number, act in enumerate(acts):
        if number == 2:
            do(graph, 'delete Person where name = "cyd"')
        before = content(graph)
        commit = act()
        assert commit is not None
        assert content(graph) != before
        done = graph.commits.revert(commit.id)
        assert done.commit is not None
        assert content(graph) == before


def test_what_later_commits_changed_is_a_conflict_of_the_revert(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    wrong = do(graph, 'update Person set { age: 40, note: "w" } where name = "ada"')
    do(graph, 'update Person set { age: 50 } where name = "ada"')
    before = content(graph)
    with pytest.raises(MergeConflicts, match="revert of") as refused:
        graph.commits.revert(wrong)
    (conflict,) = refused.value.conflicts
    assert (conflict.kind, conflict.properties) == ("divergent_update", ("age",))
    assert content(graph) == before
    assert [one.kind for one in graph.commits.revert(wrong, dry_run=True).conflicts] == ["divergent_update"]
    graph.commits.revert(wrong, resolution="ours")
    found = row(graph, "node:Person", "ada")
    assert found is not None
    assert (found["age"], found["note"]) == (50, "a")


def test_a_revert_that_would_leave_an_edge_without_its_node_is_a_conflict(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    added = graph.load([person("dan")], mode="append").commit
    assert added is not None
    graph.load([knows("k2", "ada", "dan")], mode="append")
    with pytest.raises(MergeConflicts) as refused:
        graph.commits.revert(added.id)
    assert [one.kind for one in refused.value.conflicts] == ["orphan_edge"]


def test_a_revert_of_what_is_gone_anyway_is_no_commit(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    commit = do(graph, 'update Person set { age: 40 } where name = "ada"')
    do(graph, 'update Person set { age: 36 } where name = "ada"')
    assert graph.commits.revert(commit).commit is None
    with pytest.raises(BadRequest, match="nothing before it"):
        graph.commits.revert(graph.commits.list()[-1].id)


def test_cherry_pick_does_one_commit_of_another_branch(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("work")
    do(graph, 'update Person set { note: "no" } where name = "bob"', "work")
    wanted = do(graph, 'update Person set { age: 40 } where name = "ada"', "work")
    do(graph, 'update Person set { note: "mine" } where name = "ada"')
    done = graph.commits.cherry_pick(wanted)
    assert done.commit is not None
    found = content(graph)["node:Person"]
    assert (found["ada"]["age"], found["ada"]["note"], found["bob"]["note"]) == (40, "mine", None)
    assert graph.commits.cherry_pick(wanted).commit is None
    assert graph.branches.merge("work").outcome == "merged"


def test_reset_gives_a_branch_old_content_as_a_new_commit(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    good = graph.commits.list()[0].id
    before = content(graph)
    do(graph, 'delete Person where name = "ada"')
    graph.schema.apply(SCHEMA + "node Pet { name: String @key }\n")
    with pytest.raises(HeadMoved):
        graph.branches.reset("main", good, if_commit=good)
    commit = graph.branches.reset("main", good)
    assert commit is not None
    assert content(graph) == before
    assert graph.schema.source == SCHEMA
    assert [one.operation for one in graph.commits.list()] == ["reset", "schema_apply", "mutate", "load", "init"]
    assert graph.branches.reset("main", good) is None
    graph.load([person("dan"), knows("k7", "dan", "ada")], mode="append")
    assert "k7" in content(graph)["edge:Knows"]


def test_blame_names_the_commit_that_set_each_property(tmp_path: Path) -> None:
    graph = og.open(graph_of(tmp_path).uri, actor="cyd")
    loaded = graph.commits.list()[0].id
    graph.branches.create("work")
    age = do(graph, 'update Person set { age: 40 } where name = "ada"', "work")
    note = do(graph, 'update Person set { note: "n" } where name = "ada"')
    graph.branches.merge("work", delete_branch=True)
    found = {one.property: one for one in graph.blame("Person", "ada")}
    commits = {name: one.commit.id if one.commit else None for name, one in found.items()}
    assert commits == {"age": age, "note": note, "name": loaded, "email": loaded}
    assert (found["age"].value, found["age"].to_json()["actor_id"]) == (40, "cyd")
    edge = {one.property: one.value for one in graph.blame("Knows", "k1")}
    assert edge == {"src": "ada", "dst": "bob", "since": 2000, "note": None}


def test_log_tells_an_entity_from_its_end_to_its_beginning(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    do(graph, 'update Person set { age: 40 } where name = "bob"')
    do(graph, 'update Person set { age: 41 } where name = "ada"')
    graph.schema.apply(
        SCHEMA.replace("age: I32?", 'years: I32? @rename_from("age")').replace("range(age", "range(years")
    )
    do(graph, 'delete Person where name = "bob"')
    events = graph.log("Person", "bob")
    assert [(event.change.op, event.commit.operation) for event in events] == [
        ("delete", "mutate"),
        ("update", "mutate"),
        ("insert", "load"),
    ]
    assert len(graph.log("Person", "bob", limit=1)) == 1
    assert graph.log("Person", "nobody") == []
    with pytest.raises(NotFound, match="'bob' on branch 'main'"):
        graph.blame("Person", "bob")
    with pytest.raises(NotFound, match="did you mean"):
        graph.blame("Persn", "ada")
    with pytest.raises(BadRequest):
        graph.log("Person", "ada", kind="vertex")


def test_the_drawing_has_every_commit_once_children_first(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    for name in ("x", "y"):
        graph.branches.create(name)
        do(graph, f'update Person set {{ note: "{name}" }} where name = "{"ada" if name == "x" else "bob"}"', name)
    graph.tags.create("v1")
    graph.branches.merge("x")
    graph.branches.merge("x", into="y")
    do(graph, 'update Person set { note: "m" } where name = "cyd"')
    graph.branches.merge("main", into="y")
    rows = list(graph.commits.graph())
    commits = [one.commit for one in rows if one.commit is not None]
    places = {commit.id: place for place, commit in enumerate(commits)}
    assert len(places) == len(commits) == 8
    assert all(places[parent] > places[commit.id] for commit in commits for parent in commit.parents)
    heads = {name for one in rows for name in one.heads}
    assert heads == {"main", "x", "y", "tag v1"}
    assert all(one.lines.count("*") == (one.commit is not None) for one in rows)


def test_a_merge_whose_base_is_gone_says_so(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("work")
    do(graph, 'update Person set { age: 1 } where name = "ada"', "work")
    graph.branches.merge("work")
    for age in range(2, 6):
        do(graph, f'update Person set {{ age: {age} }} where name = "ada"', "work")
        do(graph, f'update Person set {{ age: {age} }} where name = "bob"')
    wait_for_tick(tmp_path)
    graph.cleanup(keep=1, grace_s=0.0, confirm=True)
    fresh = og.open(graph.uri)
    assert fresh.branches.merge("work").outcome == "merged", "cleanup took the point where they were merged last"
    found = content(fresh)["node:Person"]
    assert (found["ada"]["age"], found["bob"]["age"]) == (5, 5)
    old = fresh.commits.list()[-2].id
    with pytest.raises(SnapshotReclaimed):
        fresh.commits.revert(old)
