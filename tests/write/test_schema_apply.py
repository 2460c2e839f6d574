"""Schema changes: one commit, rows carried over, stored rows checked, history readable with its own schema."""

from __future__ import annotations

from pathlib import Path

import pytest

import omnigraph as og
from omnigraph.model.errors import BadRequest, ReadSetConflict, SnapshotReclaimed
from omnigraph.model.violations import ValidationFailed, ViolationKind
from omnigraph.write.migrate import SchemaChangeRefused
from tests.support.social import SCHEMA, contents, ids, rows, social


@pytest.fixture
def g(tmp_path) -> og.Graph:
    return social(tmp_path / "g.omni")


def changed(*pairs: tuple[str, str]) -> str:
    text = SCHEMA
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after, 1)
    return text


AGE = "age: I32?"


def test_nothing_to_do(g) -> None:
    before = g.snapshot().commit_id
    done = g.schema.apply(SCHEMA)
    assert not done.applied
    assert g.snapshot().commit_id == before


def test_planning_changes_nothing(g) -> None:
    before = g.snapshot().commit_id
    plan = g.schema.plan(changed((AGE, "age: I64?")))
    assert [step.kind for step in plan.steps] == ["change_property_type"]
    assert g.snapshot().commit_id == before


def test_one_apply_is_one_commit(g) -> None:
    before = len(g.commits.list())
    text = changed((AGE, "age: I64?\n  nick: String?"), ("node City", "node Country { code: String @key }\nnode City"))
    done = g.schema.apply(text)
    assert done.applied
    assert len(g.commits.list()) == before + 1
    assert g.commits.list()[0].operation == "schema_apply"
    assert g.schema.source == text
    assert ids(g, "node:Country") == []
    assert [row["nick"] for row in rows(g, "node:Person")] == [None] * 3


def test_a_nullable_property_is_added_and_used(g) -> None:
    g.schema.apply(changed((AGE, "age: I32?\n  nick: String?")))
    g.mutate('query q() { update Person set { nick: "a" } where name = "ada" }\n')
    assert [row["nick"] for row in rows(g, "node:Person")] == ["a", None, None]


def test_a_required_property_needs_a_default(g) -> None:
    with pytest.raises(SchemaChangeRefused, match="OG-MF-103"):
        g.schema.apply(changed((AGE, "age: I32?\n  level: I32")))
    g.schema.apply(changed((AGE, "age: I32?\n  level: I32 @default(7)")))
    assert [row["level"] for row in rows(g, "node:Person")] == [7, 7, 7]


def test_types_are_widened(g) -> None:
    g.schema.apply(changed((AGE, "age: I64?")))
    g.mutate('query q($a: I64) { update Person set { age: $a } where name = "bob" }\n', None, {"a": 100})
    assert [row["age"] for row in rows(g, "node:Person")] == [36, 100, None]


def test_a_property_is_renamed_and_keeps_its_values(g) -> None:
    text = changed((AGE, 'years: I32? @rename_from("age")'), ("@range(age, 0..150)", "@range(years, 0..150)"))
    g.schema.apply(text)
    assert [row["years"] for row in rows(g, "node:Person")] == [36, 20, None]
    with pytest.raises(ValidationFailed, match=r"Person\.years"):
        g.mutate('query q() { update Person set { years: 200 } where name = "ada" }\n')


def test_a_type_is_renamed_with_everything_that_names_it(g) -> None:
    text = SCHEMA.replace("Person", "Human").replace("node Human {", 'node Human @rename_from("Person") {')
    g.schema.apply(text)
    assert ids(g, "node:Human") == ["ada", "bob", "cyd"]
    assert "node:Person" not in g.snapshot().state.tables
    g.mutate('query q() { insert Knows { from: "cyd", to: "ada" } }\n')
    done = g.mutate('query q() { delete Human where name = "ada" }\n')
    assert done.affected_edges == 3


def test_a_type_is_dropped_and_made_again(g) -> None:
    location = g.snapshot().state.tables["edge:LivesIn"].location
    without = changed(("edge LivesIn: Person -> City @card(0..1)\n", ""))
    before = g.snapshot().commit_id
    g.schema.apply(without)
    assert "edge:LivesIn" not in g.snapshot().state.tables
    assert ids(g, "edge:LivesIn", commit=before) == ["l1"]
    g.schema.apply(SCHEMA)
    assert ids(g, "edge:LivesIn") == []
    assert g.snapshot().state.tables["edge:LivesIn"].location != location


def test_a_property_is_dropped(g) -> None:
    before = g.snapshot().commit_id
    g.schema.apply(changed((AGE, ""), ("@range(age, 0..150)", "")))
    assert "age" not in rows(g, "node:Person")[0]
    assert rows(g, "node:Person", commit=before)[0]["age"] == 36


def test_an_old_snapshot_has_its_own_schema(g) -> None:
    before = g.snapshot().commit_id
    g.schema.apply(changed((AGE, "age: I64?")))
    old = g.schema.at(commit=before).catalog.node_types["Person"].property("age")
    assert old is not None
    assert str(old.type) == "I32?"


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        ((AGE, "age: I32"), ViolationKind.REQUIRED),
        (("@range(age, 0..150)", "@range(age, 30..150)"), ViolationKind.RANGE),
        (("mood: enum(happy, sad)?", "mood: enum(sad, glad)?"), ViolationKind.ENUM),
        (('@check(email, "@")', '@check(email, "nobody")'), ViolationKind.CHECK),
        (("edge Knows: Person -> Person {", "edge Knows: Person -> Person @card(2..3) {"), ViolationKind.CARDINALITY),
        (("since: Date?", "since: Date"), ViolationKind.REQUIRED),
    ],
)
def test_stored_rows_are_checked_first(g, pair, kind) -> None:
    before = contents(g)
    with pytest.raises(ValidationFailed) as error:
        g.schema.apply(changed(pair))
    assert kind in error.value.counts
    assert contents(g) == before


def test_unique_is_added_after_the_rows_are_checked(g) -> None:
    g.load([{"type": "Note", "data": {"text": "a"}}, {"type": "Note", "data": {"text": "a"}}], mode="append")
    with pytest.raises(ValidationFailed, match=r"@unique violation on Note\.text"):
        g.schema.apply(changed(("text: String", "text: String @unique")))
    note = {"n": ids(g, "node:Note")[0]}
    g.mutate('query q($n: String) { update Note set { text: "b" } where @id = $n }\n', None, note)
    g.schema.apply(changed(("text: String", "text: String @unique")))
    with pytest.raises(ValidationFailed):
        g.load([{"type": "Note", "data": {"text": "a"}}], mode="append")


def test_on_a_branch(g) -> None:
    g.branches.create("work")
    g.schema.apply(changed((AGE, "age: I64?")), branch="work")
    assert g.schema.source == SCHEMA
    assert g.schema.at("work").source != SCHEMA


def test_a_refusal_names_every_reason(g) -> None:
    with pytest.raises(SchemaChangeRefused) as error:
        g.schema.apply(changed(("born: Date?", "born: String?"), ("tags: [String]?", "tags: String?")))
    assert len(error.value.refusals) == 2
    with pytest.raises(BadRequest):
        g.schema.apply("node Person {")


def test_a_write_that_was_prepared_before_conflicts(g, tmp_path) -> None:
    other = og.open(tmp_path / "g.omni")
    txn = other.repository.begin()
    txn.append("node:Note", txn.snapshot.table("node:Note").schema.empty_table())
    plan = txn.plan("load")
    g.schema.apply(changed((AGE, "age: I64?")))
    with pytest.raises(ReadSetConflict, match="schema"):
        other.repository.publish(plan)
    # A mutation looks again by itself, with the schema as it is now.
    other.mutate('query q($a: I64) { update Person set { age: $a } where name = "bob" }\n', None, {"a": 120})


def test_two_applies_that_do_not_know_of_each_other(g, tmp_path) -> None:
    other = og.open(tmp_path / "g.omni")
    g.schema.apply(changed((AGE, "age: I32?\n  nick: String?")))
    done = other.schema.apply(changed((AGE, "age: I32?\n  nick: String?\n  more: String?")))
    assert [step.kind for step in done.plan.steps] == ["add_property"]


# -- drops for good --------------------------------------------------------------------------------------


def stored(g: og.Graph, needle: bytes) -> list[str]:
    """The data files that hold some bytes."""
    return [path.name for path in Path(g.uri).rglob("*.lance") if path.is_file() and needle in path.read_bytes()]


SECRET = "the secret of ada"


@pytest.fixture
def with_secret(g) -> og.Graph:
    g.schema.apply(changed((AGE, "age: I32?\n  secret: String?")))
    g.mutate(f'query q() {{ update Person set {{ secret: "{SECRET}" }} where name = "ada" }}')
    assert stored(g, SECRET.encode())
    return g


def test_a_property_dropped_softly_stays_in_the_past(with_secret) -> None:
    g, before = with_secret, with_secret.snapshot().commit_id
    g.schema.apply(SCHEMA)
    assert "secret" not in rows(g, "node:Person")[0]
    assert SECRET in [row["secret"] for row in rows(g, "node:Person", commit=before)]


def test_a_property_dropped_for_good_is_gone_from_the_past_and_the_disk(with_secret) -> None:
    g, before, kept = with_secret, with_secret.snapshot().commit_id, contents(with_secret)
    kept["node:Person"] = [{name: row[name] for name in row if name != "secret"} for row in kept["node:Person"]]
    g.schema.apply(SCHEMA, allow_data_loss=True)
    assert contents(g) == kept
    assert not stored(g, SECRET.encode())
    with pytest.raises(SnapshotReclaimed):
        rows(og.open(g.uri), "node:Person", commit=before)
    assert rows(og.open(g.uri), "node:City", commit=before)
    g.mutate('query q() { update Person set { age: 1 } where name = "ada" }')
    assert {"ada": 1}.items() <= {row["id"]: row["age"] for row in rows(og.open(g.uri), "node:Person")}.items()


def test_a_type_dropped_for_good_is_gone_from_the_disk(with_secret) -> None:
    g = with_secret
    g.schema.apply("node City { name: String @key }", allow_data_loss=True)
    assert not stored(g, SECRET.encode())
    assert ids(g, "node:City")


def test_what_a_branch_or_a_tag_shows_is_never_dropped_for_good(with_secret) -> None:
    g = with_secret
    g.tags.create("then")
    g.mutate('query q() { update Person set { age: 2 } where name = "ada" }')
    g.branches.create("work")
    g.schema.apply(SCHEMA, allow_data_loss=True)
    for where in ({"branch": "work"}, {"commit": g.tags.list()[0].point.commit}):
        assert SECRET in [row["secret"] for row in rows(og.open(g.uri), "node:Person", **where)]
