"""A handle that has not looked for a while: what it refuses or finds needless is so now, not when it last looked."""

from __future__ import annotations

import pytest

import omnigraph as og
from omnigraph.model.errors import KeyConflict, ReadSetConflict
from omnigraph.model.violations import ValidationFailed
from tests.support.disk import wait_for_tick
from tests.support.social import SCHEMA, ids, rows, social


@pytest.fixture
def other(tmp_path) -> og.Graph:
    return social(tmp_path / "g.omni")


@pytest.fixture
def g(other: og.Graph) -> og.Graph:
    """Has looked once, and `other` writes after that."""
    handle = og.open(other.uri)
    handle.snapshot()
    return handle


def node(name: str, **data: object) -> dict:
    return {"type": "Person", "data": {"name": name, **data}}


def run(g: og.Graph, body: str):
    return g.mutate(f"query q() {{ {body} }}")


@pytest.mark.parametrize("how", ["load", "mutate"])
def test_an_edge_to_a_node_that_another_has_just_added(g, other, how) -> None:
    other.load([node("eve")], mode="append")
    if how == "load":
        g.load([{"edge": "Knows", "from": "ada", "to": "eve"}], mode="merge")
    else:
        run(g, 'insert Knows { from: "ada", to: "eve" }')
    assert "eve" in [row["dst"] for row in rows(g, "edge:Knows")]


def test_an_update_finds_a_row_that_another_has_just_added(g, other) -> None:
    other.load([node("eve", age=5)], mode="append")
    done = run(g, 'update Person set { age: 6 } where name = "eve"')
    assert done.affected_nodes == 1
    assert done.commit is not None


def test_a_delete_finds_a_row_that_another_has_just_added(g, other) -> None:
    other.load([node("eve")], mode="append")
    assert run(g, 'delete Person where name = "eve"').affected_nodes == 1
    assert "eve" not in ids(g, "node:Person")


def test_an_update_to_what_a_row_no_longer_is_is_made(g, other) -> None:
    run(other, 'update Person set { age: 77 } where name = "bob"')
    done = run(g, 'update Person set { age: 20 } where name = "bob"')
    assert done.commit is not None
    assert next(row["age"] for row in rows(g, "node:Person") if row["id"] == "bob") == 20


def test_what_another_has_just_freed_is_free(g, other) -> None:
    run(other, 'delete Person where name = "cyd"')
    g.load([node("cyd")], mode="append")
    run(other, 'update Person set { email: null } where name = "ada"')
    g.load([node("eve", email="ada@x.org")], mode="append")
    run(other, 'delete LivesIn where from = "ada"')
    g.load([{"edge": "LivesIn", "from": "ada", "to": "rome"}], mode="append")
    assert [row["dst"] for row in rows(g, "edge:LivesIn")] == ["rome"]


def test_what_is_refused_now_is_refused(g, other) -> None:
    other.load([node("eve", email="e@x.org")], mode="append")
    with pytest.raises(KeyConflict):
        g.load([node("eve")], mode="append")
    with pytest.raises(ValidationFailed, match="held by 'eve'"):
        g.load([node("fay", email="e@x.org")], mode="append")
    run(other, 'delete Person where name = "eve"')
    with pytest.raises(ValidationFailed, match="not found in Person"):
        run(g, 'insert Knows { from: "ada", to: "eve" }')


def test_a_refusal_costs_one_look_and_no_second_try(g) -> None:
    with g.meter() as before, pytest.raises(KeyConflict):
        g.load([node("ada")], mode="append")
    with g.meter() as again, pytest.raises(KeyConflict):
        g.load([node("ada")], mode="append")
    assert again.puts == before.puts == 0
    assert again.requests <= before.requests


def test_a_load_goes_on_over_a_schema_change_that_does_not_concern_it(g, other) -> None:
    other.schema.apply(SCHEMA + "node Pet { name: String @key }")
    g.load([node("eve")], mode="append")
    assert "eve" in ids(g, "node:Person")


def test_a_load_for_a_type_that_has_changed_is_told_so(g, other) -> None:
    other.schema.apply(SCHEMA.replace("age: I32?", "age: I32?\n  nick: String?"))
    with pytest.raises(ReadSetConflict, match="schema changed"):
        g.load([node("eve")], mode="append")
    g.load([node("eve", nick="e")], mode="append")
    assert "eve" in ids(g, "node:Person")


# -- a branch made by a load that fails ------------------------------------------------------------------


def fail_to_load(g: og.Graph, meanwhile) -> None:
    """Load to a new branch what it will refuse, and let something happen before that is known."""
    calls = iter([meanwhile])

    def progress(stage: str, *_: object) -> None:
        if stage == "checking":
            next(calls, lambda: None)()

    with pytest.raises(ValidationFailed):
        g.load([{"edge": "Knows", "from": "ada", "to": "nobody"}], branch="work", base="main", progress=progress)


def test_a_load_that_fails_takes_its_branch_back(g) -> None:
    fail_to_load(g, lambda: None)
    assert [ref.name for ref in g.branches.list()] == ["main"]
    g.load([node("eve")], branch="work", base="main")
    assert "eve" in ids(g, "node:Person", branch="work")


def test_a_load_that_fails_leaves_its_branch_to_those_who_wrote_to_it(g, other) -> None:
    fail_to_load(g, lambda: other.load([node("eve")], branch="work", base="main"))
    assert "eve" in ids(og.open(g.uri), "node:Person", branch="work")
    other.load([node("fay")], branch="work")
    assert "fay" in ids(og.open(g.uri), "node:Person", branch="work")


def test_a_branch_deleted_and_made_anew_meanwhile_is_not_taken_back(g, other) -> None:
    def anew() -> None:
        other.branches.delete("work")
        other.branches.create("work")

    fail_to_load(g, anew)
    assert ids(og.open(g.uri), "node:Person", branch="work") == ids(g, "node:Person")


@pytest.mark.parametrize("by", ["load", "create", "delete", "cleanup"])
def test_a_withdrawal_cut_short_is_finished(g, other, monkeypatch, by) -> None:
    def cut_short(ref: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(g.repository, "finish_delete", cut_short)
    with pytest.raises(KeyboardInterrupt):
        fail_to_load(g, lambda: None)
    fresh = og.open(g.uri)
    if by == "cleanup":
        wait_for_tick(g.uri)
        fresh.cleanup(keep=1, grace_s=0.0, confirm=True)
        assert [ref.name for ref in fresh.branches.list()] == ["main"]
    if by == "delete":
        fresh.branches.delete("work")
    if by == "load":
        fresh.load([node("eve")], branch="work", base="main")
    else:
        fresh.branches.create("work")
    assert ids(fresh, "node:Person", branch="work")[0] == "ada"
