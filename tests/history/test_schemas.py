"""Branches whose schemas went apart: put together where that makes sense, refused where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnigraph.history import MergeConflicts, SchemaConflict
from tests.history.graphs import SCHEMA, content, do, graph_of, person, row

if TYPE_CHECKING:
    from pathlib import Path

NICK = SCHEMA.replace("note: String?\n    @range", 'nick: String? @default("none")\n    note: String?\n    @range')
HEIGHT = SCHEMA.replace("note: String?\n    @range", "height: F64?\n    note: String?\n    @range")
PET = SCHEMA + "node Pet { name: String @key }\nedge Owns: Person -> Pet\n"
RENAMED = SCHEMA.replace("age: I32?", 'years: I32? @rename_from("age")').replace("range(age", "range(years")
NO_CITY = SCHEMA.replace("node City { name: String @key }\n", "").replace(
    "edge LivesIn: Person -> City @card(0..1)\n", ""
)


def test_a_property_that_only_one_side_has(tmp_path: Path) -> None:
    for number, (changed, other) in enumerate([("main", "theirs"), ("theirs", "main")]):
        graph = graph_of(tmp_path / str(number))
        graph.branches.create("theirs")
        graph.schema.apply(NICK, branch=changed)
        do(graph, 'update Person set { nick: "a" } where name = "ada"', changed)
        do(graph, 'update Person set { age: 40 } where name = "ada"', other)
        graph.load([person("dan", age=4)], mode="append", branch=other)
        graph.branches.merge("theirs")
        assert graph.schema.source == NICK
        rows = content(graph)["node:Person"]
        assert (rows["ada"]["nick"], rows["ada"]["age"], rows["ada"]["note"]) == ("a", 40, "a")
        assert (rows["dan"]["nick"], rows["dan"]["age"], rows["bob"]["nick"]) == ("none", 4, "none")


def test_properties_and_types_that_each_side_added(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    graph.schema.apply(HEIGHT, branch="main")
    graph.schema.apply(PET.replace("age: I32?", "age: I32?\n    size: I32?"), branch="theirs")
    do(graph, 'update Person set { height: 1.5 } where name = "ada"')
    do(graph, 'update Person set { size: 7 } where name = "ada"', "theirs")
    pets = [{"type": "Pet", "data": {"name": "rex"}}, {"edge": "Owns", "from": "ada", "to": "rex", "data": {"id": "o"}}]
    graph.load(pets, mode="append", branch="theirs")
    result = graph.branches.merge("theirs")
    assert result.outcome == "merged"
    found = content(graph)
    assert (found["node:Person"]["ada"]["height"], found["node:Person"]["ada"]["size"]) == (1.5, 7)
    assert list(found["node:Pet"]) == ["rex"]
    assert found["edge:Owns"]["o"]["dst"] == "rex"
    assert graph.branches.merge("main", into="theirs").outcome == "fast_forward"
    assert content(graph, "theirs") == found


def test_one_type_that_both_sides_added_has_the_rows_of_both(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    for branch, name in (("main", "rex"), ("theirs", "tom")):
        graph.schema.apply(PET, branch=branch)
        graph.load([{"type": "Pet", "data": {"name": name}}], mode="append", branch=branch)
    graph.branches.merge("theirs")
    assert sorted(content(graph)["node:Pet"]) == ["rex", "tom"]


def test_a_property_renamed_on_one_side_and_written_on_the_other(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    graph.schema.apply(RENAMED, branch="theirs")
    do(graph, 'update Person set { age: 50 } where name = "ada"')
    do(graph, 'update Person set { note: "n" } where name = "ada"', "theirs")
    graph.branches.merge("theirs")
    found = row(graph, "node:Person", "ada")
    assert found is not None
    assert (found["years"], found["note"]) == (50, "n")


def test_a_fast_forward_takes_the_schema_along(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    graph.schema.apply(NO_CITY, branch="theirs")
    graph.schema.apply(NO_CITY + "node Pet { name: String @key }\n", branch="theirs")
    assert graph.branches.merge("theirs").outcome == "fast_forward"
    assert set(content(graph)) == {"node:Person", "node:Pet", "edge:Knows"}


def test_rows_of_ours_that_break_a_rule_of_theirs_are_conflicts(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    graph.schema.apply(SCHEMA.replace("@range(age, 0..150)", "@range(age, 0..100)"), branch="theirs")
    do(graph, 'update Person set { age: 120 } where name = "ada"')
    before = content(graph)
    with pytest.raises(MergeConflicts) as refused:
        graph.branches.merge("theirs")
    (conflict,) = refused.value.conflicts
    assert (conflict.kind, conflict.entity_id) == ("value_constraint_violation", "ada")
    assert content(graph) == before


@pytest.mark.parametrize("dropping", ["main", "theirs"])
def test_a_type_dropped_on_one_side_and_written_on_the_other_is_refused(tmp_path: Path, dropping: str) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    graph.schema.apply(NO_CITY, branch=dropping)
    other = "theirs" if dropping == "main" else "main"
    graph.load([{"type": "City", "data": {"name": "oslo"}}], mode="append", branch=other)
    with pytest.raises(SchemaConflict, match="City was dropped on one side"):
        graph.branches.merge("theirs")


def test_one_property_changed_in_two_ways_is_refused(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("theirs")
    graph.schema.apply(SCHEMA.replace("age: I32?", "age: I64?"), branch="main")
    graph.schema.apply(SCHEMA.replace("age: I32?", "age: I32? @index"), branch="theirs")
    source = graph.schema.source
    with pytest.raises(SchemaConflict, match=r"Person\.age was changed on both sides"):
        graph.branches.merge("theirs")
    assert graph.schema.source == source


def test_reverting_a_schema_change_and_what_differs_across_one(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    before = graph.commits.list()[0].id
    applied = graph.schema.apply(NICK).commit
    assert applied is not None
    changes = graph.commits.changes(applied.id).changes
    assert {(change.op, change.id, change.changed) for change in changes} == {
        ("update", name, ("nick",)) for name in ("ada", "bob", "cyd")
    }
    assert list(graph.diff(before, "main", types=["City"])) == []
    graph.commits.revert(applied.id)
    assert graph.schema.source == SCHEMA
    assert list(graph.diff(before)) == []
