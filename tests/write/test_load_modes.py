"""Loads: the three modes, what they replace, what they refuse."""

from __future__ import annotations

import pytest

import omnigraph as og
from omnigraph.model.errors import BranchNotFound, KeyConflict, ResourceLimit
from omnigraph.model.violations import ValidationFailed, ViolationKind
from omnigraph.write.load import LoadLimits
from tests.support.social import contents, ids, rows, social


@pytest.fixture
def g(tmp_path) -> og.Graph:
    return social(tmp_path / "g.omni")


def node(name: str, **data: object) -> dict:
    return {"type": "Person", "data": {"name": name, **data}}


def knows(source: str, target: str, **data: object) -> dict:
    return {"edge": "Knows", "from": source, "to": target, "data": data}


def test_append_adds(g) -> None:
    done = g.load([node("eve"), knows("eve", "ada")], mode="append")
    assert (done.nodes, done.edges, done.total_entities) == ({"Person": 1}, {"Knows": 1}, 2)
    assert "eve" in ids(g, "node:Person")


def test_append_meets_a_key(g) -> None:
    before = contents(g)
    with pytest.raises(KeyConflict, match="record 2: node Person 'ada' exists already"):
        g.load([node("eve"), node("ada")], mode="append")
    assert contents(g) == before


def test_append_meets_an_edge_id(g) -> None:
    with pytest.raises(KeyConflict):
        g.load([knows("ada", "cyd", id="k1")], mode="append")


def test_merge_replaces_whole_rows(g) -> None:
    g.load([node("ada", age=1), node("eve")], mode="merge")
    ada = next(row for row in rows(g, "node:Person") if row["id"] == "ada")
    assert (ada["age"], ada["email"]) == (1, None)
    assert len(ids(g, "node:Person")) == 4


def test_a_key_twice_in_one_load_is_an_error(g) -> None:
    with pytest.raises(ValidationFailed, match="the key 'eve' of Person appears twice: first in record 1"):
        g.load([node("eve"), node("eve")], mode="merge")


def test_an_edge_id_twice_in_one_load_is_the_last(g) -> None:
    g.load([knows("ada", "bob", id="e"), knows("ada", "cyd", id="e")], mode="merge")
    assert [row["dst"] for row in rows(g, "edge:Knows") if row["id"] == "e"] == ["cyd"]


def test_overwrite_replaces_what_it_touches_only(g) -> None:
    g.load([knows("cyd", "ada")], mode="overwrite")
    assert [(row["src"], row["dst"]) for row in rows(g, "edge:Knows")] == [("cyd", "ada")]
    assert len(ids(g, "node:Person")) == 3
    assert ids(g, "edge:LivesIn") == ["l1"]


def test_overwrite_leaves_no_orphans(g) -> None:
    before = contents(g)
    with pytest.raises(ValidationFailed) as error:
        g.load([node("ada")], mode="overwrite")
    assert error.value.counts == {ViolationKind.REFERENCE: 3}
    assert "edge Knows 'k1' still ends there" in error.value.message
    assert contents(g) == before
    g.load([node("ada"), knows("ada", "ada")], mode="overwrite")
    assert ids(g, "node:Person") == ["ada"]


def test_an_empty_load_is_a_commit(g) -> None:
    before = g.snapshot().commit_id
    done = g.load([], mode="merge")
    assert done.commit is not None
    assert g.snapshot().commit_id != before


def test_a_missing_branch_is_made_from_another(g) -> None:
    with pytest.raises(BranchNotFound):
        g.load([node("eve")], mode="append", branch="work")
    done = g.load([node("eve")], mode="append", branch="work", base="main")
    assert done.branch_created
    assert "eve" in ids(g, "node:Person", branch="work")
    assert "eve" not in ids(g, "node:Person")
    assert not g.load([node("fay")], mode="append", branch="work", base="main").branch_created


@pytest.mark.parametrize("bad", [node("x", age=200), knows("ada", "nobody"), node("ada")])
def test_a_branch_made_for_a_load_that_fails_does_not_stay(g, bad) -> None:
    with pytest.raises(og.OmniGraphError):
        g.load([bad], mode="append", branch="work", base="main")
    assert [ref.name for ref in g.branches.list()] == ["main"]


def test_every_violation_is_counted(g) -> None:
    many = [node(f"p{i}", age=200 + i) for i in range(500)] + [knows("ada", f"x{i}") for i in range(5)]
    with pytest.raises(ValidationFailed) as error:
        g.load(many, mode="append")
    assert error.value.counts == {ViolationKind.RANGE: 500, ViolationKind.ENDPOINT: 5}
    assert len(error.value.violations) == 100
    assert "505 problems, nothing was written (5 endpoint, 500 range)" in error.value.message


def test_a_configured_cap(g) -> None:
    with pytest.raises(ResourceLimit):
        g.load([node("a"), node("b")], mode="append", limits=LoadLimits(rows=1))


def test_an_unknown_mode(g) -> None:
    with pytest.raises(og.OmniGraphError, match="use append, merge or overwrite"):
        g.load([], mode="mrege")


def test_a_load_is_seen_whole_or_not_at_all_in_history(g) -> None:
    before = g.snapshot().commit_id
    was = contents(g)
    g.load([node("eve"), knows("eve", "ada")], mode="merge")
    assert contents(g, commit=before) == was


def test_unique_tuples(g) -> None:
    with pytest.raises(ValidationFailed, match=r"@unique violation on City.\(country, name\)|appears twice"):
        g.load([{"type": "City", "data": {"name": "x", "country": "fr"}}] * 2, mode="merge")
    g.load([{"type": "Note", "data": {"id": "n1", "text": "t"}}], mode="merge")
    about = {"edge": "About", "from": "n1", "to": "ada", "data": {"role": "r"}}
    with pytest.raises(ValidationFailed, match=r"@unique violation on About.\(role, src\): value '\(r, n1\)'"):
        g.load([about, about], mode="merge")
    g.load([about], mode="merge")
    with pytest.raises(ValidationFailed, match="@unique violation on About"):
        g.load([about], mode="merge")
    g.load([{**about, "data": {}}, {**about, "data": {}}], mode="merge")  # null exempts


@pytest.mark.parametrize(("stored", "given"), [(0.0, -0.0), (-0.0, 0.0), ("NaN", "NaN")])
def test_unique_numbers_are_those_that_compare_as_equal(tmp_path, stored, given) -> None:
    g = og.init(tmp_path / "n.omni", "node Spot { name: String @key  at: F64 @unique }\n")
    spots = [{"type": "Spot", "data": {"name": name, "at": at}} for name, at in (("a", stored), ("b", given))]
    with pytest.raises(ValidationFailed, match="@unique violation"):
        g.load(spots, mode="append")
    g.load(spots[:1], mode="append")
    with pytest.raises(ValidationFailed, match="@unique violation"):
        g.load(spots[1:], mode="append")
