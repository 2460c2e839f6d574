"""Mutations: what they write, what they see, what they leave alone."""

from __future__ import annotations

from datetime import date, datetime

import pytest

import omnigraph as og
from omnigraph.model.errors import BadRequest, HeadMoved
from omnigraph.model.violations import ValidationFailed
from tests.support.social import contents, ids, rows, social


@pytest.fixture
def g(tmp_path) -> og.Graph:
    return social(tmp_path / "g.omni")


def run(g: og.Graph, body: str, params: dict | None = None, declared: str = "", **how):
    return g.mutate(f"query q({declared}) {{ {body} }}\n", None, params, **how)


def person(g: og.Graph, name: str) -> dict:
    return next(row for row in rows(g, "node:Person") if row["id"] == name)


# -- insert ----------------------------------------------------------------------------------------------


def test_insert_a_node_and_an_edge_in_one_commit(g) -> None:
    before = len(g.commits.list())
    done = run(g, 'insert Person { name: "eve", age: 5 } insert Knows { from: "eve", to: "ada" }')
    assert (done.affected_nodes, done.affected_edges) == (1, 1)
    assert person(g, "eve")["age"] == 5
    assert len(g.commits.list()) == before + 1
    assert g.commits.list()[0].id == done.commit.id
    assert set(done.commit.tables) == {"node:Person", "edge:Knows"}


def test_a_keyed_insert_replaces_the_whole_row(g) -> None:
    run(g, 'insert Person { name: "ada", age: 40 }')
    assert person(g, "ada")["email"] is None
    assert person(g, "ada")["age"] == 40


def test_an_unkeyed_insert_makes_an_id_and_takes_defaults(g) -> None:
    run(g, 'insert Note { text: "x" } insert Note { text: "x" }')
    notes = rows(g, "node:Note")
    assert [note["stars"] for note in notes] == [3, 3]
    assert len({note["id"] for note in notes}) == 2


def test_the_last_of_two_inserts_of_one_key_wins(g) -> None:
    done = run(g, 'insert Person { name: "eve", age: 1 } insert Person { name: "eve", age: 2 }')
    assert done.affected_nodes == 2
    assert person(g, "eve")["age"] == 2


def test_now_is_one_time_for_the_whole_query(g) -> None:
    run(g, 'insert Person { name: "e1", seen: now() } insert Person { name: "e2", seen: now() }')
    assert person(g, "e1")["seen"] == person(g, "e2")["seen"]
    assert isinstance(person(g, "e1")["seen"], datetime)


def test_parameters_of_every_type(g) -> None:
    declared = "$n: String, $a: I32, $b: Date, $s: DateTime, $t: [String]"
    params = {"n": "eve", "a": 7, "b": "2001-02-03", "s": "2020-01-01T00:00:00Z", "t": ["x", "y"]}
    run(g, "insert Person { name: $n, age: $a, born: $b, seen: $s, tags: $t }", params, declared)
    eve = person(g, "eve")
    assert (eve["age"], eve["born"], eve["tags"]) == (7, date(2001, 2, 3), ["x", "y"])


def test_insert_values_may_be_computed(g) -> None:
    run(g, 'insert Person { name: lower("EVE"), age: $a + 1 }', {"a": 4}, "$a: I32")
    assert person(g, "eve")["age"] == 5


# -- statements see earlier ones --------------------------------------------------------------------------


def test_an_update_sees_what_was_inserted_before(g) -> None:
    done = run(g, 'insert Person { name: "eve", age: 1 } update Person set { age: age + 1 } where age < 30')
    assert done.affected_nodes == 3
    assert person(g, "eve")["age"] == 2
    assert person(g, "bob")["age"] == 21


def test_an_update_sees_an_update(g) -> None:
    run(g, 'update Person set { age: 99 } where name = "bob" update Person set { mood: "sad" } where age = 99')
    assert person(g, "bob")["mood"] == "sad"


def test_an_edge_may_use_a_node_of_the_same_query_whatever_the_order(g) -> None:
    run(g, 'insert Knows { from: "new", to: "ada" } insert Person { name: "new" }')
    assert "new" in ids(g, "node:Person")


# -- update ----------------------------------------------------------------------------------------------


def test_update_by_key_by_value_and_by_condition(g) -> None:
    assert run(g, 'update Person set { age: 1 } where name = "ada"').affected_nodes == 1
    assert run(g, 'update Person set { age: 2 } where email = "ada@x.org"').affected_nodes == 1
    assert run(g, "update Person set { age: 3 } where age is null or age > 1").affected_nodes == 3
    assert [row["age"] for row in rows(g, "node:Person")] == [3, 3, 3]


def test_update_keeps_what_it_does_not_assign(g) -> None:
    run(g, 'update Person set { age: 1 } where name = "ada"')
    assert person(g, "ada")["email"] == "ada@x.org"


def test_update_edges(g) -> None:
    done = run(g, 'update Knows set { weight: 0.5 } where from = "ada"')
    assert (done.affected_nodes, done.affected_edges) == (0, 1)
    assert [row["weight"] for row in rows(g, "edge:Knows")] == [0.5, None]


def test_update_that_changes_nothing_publishes_nothing(g) -> None:
    done = run(g, 'update Person set { age: 36 } where name = "ada"')
    assert done.affected_nodes == 1
    assert done.commit is None


def test_update_tells_zeros_apart_and_nan_from_nothing_else(g) -> None:
    g.load([{"edge": "Knows", "from": "ada", "to": "ada", "data": {"id": "k3", "weight": "NaN"}}], mode="append")
    run(g, 'update Knows set { weight: 0.0 } where @id = "k1"')
    done = run(g, 'update Knows set { weight: $w } where @id = "k1"', {"w": -0.0}, "$w: F64")
    assert done.commit is not None
    assert str(rows(g, "edge:Knows")[0]["weight"]) == "-0.0"
    assert run(g, 'update Knows set { weight: weight } where @id = "k3"').commit is None


def test_update_of_nobody_publishes_nothing(g) -> None:
    before = g.commits.list()[0].id
    assert run(g, 'update Person set { age: 1 } where name = "nobody"').commit is None
    assert g.commits.list()[0].id == before


def test_a_null_parameter_matches_nothing(g) -> None:
    assert run(g, "update Person set { age: 1 } where email = $e", {"e": None}, "$e: String?").affected_nodes == 0


def test_update_the_key_is_refused(g) -> None:
    with pytest.raises(BadRequest, match="cannot update @key property"):
        run(g, 'update Person set { name: "x" } where name = "ada"')


# -- delete ----------------------------------------------------------------------------------------------


def test_delete_takes_edges_along_and_counts_each_once(g) -> None:
    done = run(g, 'delete Person where name = "bob"')
    assert (done.affected_nodes, done.affected_edges) == (1, 2)
    assert rows(g, "edge:Knows") == []
    assert ids(g, "edge:LivesIn") == ["l1"]


def test_overlapping_deletes_count_each_row_once(g) -> None:
    done = run(g, 'delete Person where name = "ada" delete Person where age > 29')
    assert (done.affected_nodes, done.affected_edges) == (1, 2)


def test_a_null_does_not_keep_a_row_from_a_later_delete(g) -> None:
    done = run(g, 'delete Person where age > 30 delete Person where name = "cyd"')
    assert done.affected_nodes == 2
    assert ids(g, "node:Person") == ["bob"]
    assert rows(g, "edge:Knows") == []


def test_delete_edges_by_their_ends(g) -> None:
    assert run(g, 'delete Knows where from = "ada" and to = "bob"').affected_edges == 1
    assert ids(g, "edge:Knows") == ["k2"]


def test_a_self_loop_goes_once(g) -> None:
    run(g, 'insert Knows { from: "cyd", to: "cyd" }')
    assert run(g, 'delete Person where name = "cyd"').affected_edges == 2


def test_deletes_do_not_mix_with_inserts(g) -> None:
    with pytest.raises(BadRequest, match="mutation 'q' on the same query mixes"):
        run(g, 'insert City { name: "x", country: "y" } delete Person where name = "ada"')


# -- all or nothing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('insert Person { name: "x", age: 200 }', "@range violation on Person.age: value 200 > max 150"),
        ('insert Person { name: "x", email: "nope" }', "@check violation on Person.email"),
        ('insert Person { name: "x", email: "ada@x.org" }', "@unique violation on Person.email: value 'ada@x.org'"),
        ('insert Knows { from: "ada", to: "nobody" }', "dst 'nobody' not found in Person"),
        ('insert Knows { from: "nobody", to: "ada" }', "src 'nobody' not found in Person"),
        (
            'insert LivesIn { from: "ada", to: "rome" }',
            "@card violation on edge LivesIn: source 'ada' has 2 edges (max 1)",
        ),
        ('update Person set { age: age * 10 } where name = "ada"', "@range violation"),
        ('update City set { country: null } where name = "rome"', ""),
    ],
)
def test_a_broken_rule_changes_nothing(g, body, message) -> None:
    before = contents(g)
    with pytest.raises(BadRequest) as error:
        run(g, f'insert City {{ name: "new", country: "x" }} {body}')
    assert message in error.value.message
    assert contents(g) == before


def test_all_violations_are_reported_with_their_statements(g) -> None:
    with pytest.raises(ValidationFailed) as error:
        run(g, 'insert Person { name: "x", age: 200 } insert Knows { from: "x", to: "nobody" }')
    assert [violation.place for violation in error.value.violations] == ["statement 1", "statement 2"]


def test_the_minimum_of_edges_is_checked_when_some_go(g) -> None:
    run(g, 'insert Note { text: "a" }')
    note = ids(g, "node:Note")[0]
    run(g, 'insert Likes { from: "ada", to: $n }', {"n": note}, "$n: String")
    with pytest.raises(ValidationFailed, match=r"source 'ada' has 0 edges \(min 1\)"):
        run(g, 'delete Likes where from = "ada"')
    run(g, 'delete Person where name = "ada"')  # the source goes as well
    assert rows(g, "edge:Likes") == []


# -- conditions, actors, branches -------------------------------------------------------------------------


def test_if_commit(g) -> None:
    head = g.snapshot().commit_id
    run(g, 'insert Person { name: "e1" }', if_commit=head)
    with pytest.raises(HeadMoved):
        run(g, 'insert Person { name: "e2" }', if_commit=head)
    assert "e2" not in ids(g, "node:Person")


def test_the_actor_is_recorded(tmp_path) -> None:
    social(tmp_path / "g.omni")
    g = og.open(tmp_path / "g.omni", actor="ann")
    assert run(g, 'insert Person { name: "e" }').commit.actor == "ann"


def test_a_mutation_on_a_branch_stays_there(g) -> None:
    g.branches.create("work")
    run(g, 'delete Person where name = "ada"', branch="work")
    assert "ada" in ids(g, "node:Person")
    assert "ada" not in ids(g, "node:Person", branch="work")


def test_which_query_is_meant(g, tmp_path) -> None:
    text = 'query a() { insert Person { name: "a" } }\nquery b() { insert Person { name: "b" } }\n'
    with pytest.raises(BadRequest, match="multiple queries; pass --name"):
        g.mutate(text)
    with pytest.raises(BadRequest, match="query 'c' not found"):
        g.mutate(text, "c")
    path = tmp_path / "q.gq"
    path.write_text(text)
    g.mutate(path, "b")
    assert "b" in ids(g, "node:Person")


def test_a_query_that_reads_is_refused(g) -> None:
    with pytest.raises(BadRequest, match="only reads"):
        g.mutate("query r() { match { $p: Person } return { $p.name } }\n")
