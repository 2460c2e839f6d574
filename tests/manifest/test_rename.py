"""Tables that get another name, alone or with another schema, and what happens to those who write meanwhile."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from omnigraph.manifest import Repository, TableChange
from omnigraph.manifest.codec import decode_entry, encode_state
from omnigraph.manifest.compose import apply_plan
from omnigraph.manifest.parts import table_location
from omnigraph.manifest.plan import MustRestage
from omnigraph.model import errors
from tests.support.graphs import NODE, PERSON, append, make, reopen, rows, upsert

CITY, HUMAN = "node:City", "node:Human"


@pytest.fixture
def repo(tmp_path) -> Repository:
    made = make(tmp_path / "g.omni")
    append(made, "a", "b", v=1)
    return made


def ids(repo: Repository, key: str, commit: str | None = None) -> list[str]:
    return repo.snapshot("main", commit).table(key).scan(["id"])["id"].to_pylist()


def renaming(repo: Repository, old: str = PERSON, new: str = HUMAN, schema_hash: str | None = "s2"):
    txn = repo.begin()
    txn.rename(old, new)
    return txn.plan("schema", schema_hash=schema_hash)


def test_a_renamed_table_keeps_its_rows_and_its_place(repo, tmp_path) -> None:
    before = repo.head_state("main").table(PERSON)
    first = next(iter(repo.commits()))
    published = repo.publish(renaming(repo))
    after = published.state.table(HUMAN)
    assert PERSON not in published.state.tables
    assert (after.location, after.version, after.row_count) == (before.location, before.version, 2)
    assert (after.added, after.removed) == (before.added, before.removed)
    assert after.changed == published.commit.number
    assert published.commit.tables == (HUMAN, PERSON)
    other = reopen(tmp_path / "g.omni")
    assert ids(other, HUMAN) == ["a", "b"]
    assert ids(other, PERSON, first.id) == ["a", "b"]
    with pytest.raises(errors.TableNotFound):
        other.snapshot().table(PERSON)


def test_a_renamed_table_is_written_to_under_its_new_name(repo) -> None:
    repo.publish(renaming(repo))

    def prepare(txn):
        txn.change(HUMAN, rows("b", "c", v=5), ["a"])
        return txn.plan("mutate")

    repo.write(prepare)
    assert ids(repo, HUMAN) == ["b", "c"]


def test_a_rename_with_another_schema(repo) -> None:
    target = pa.schema([NODE.field("id"), pa.field("age", pa.float64()), pa.field("kind", pa.string(), nullable=False)])
    txn = repo.begin()
    txn.reshape(HUMAN, target, renames={"age": "v"}, fills={"kind": pa.scalar("human")}, source=PERSON)
    assert txn.table(HUMAN).schema == target
    with pytest.raises(errors.TableNotFound):
        txn.table(PERSON)
    published = repo.publish(txn.plan("schema", schema_hash="s2"))
    assert published.commit.tables == (HUMAN, PERSON)
    scan = repo.snapshot().table(HUMAN).scan()
    assert scan.to_pylist() == [{"id": name, "age": 1.0, "kind": "human"} for name in ("a", "b")]
    assert PERSON not in repo.head_state("main").tables


def test_names_change_places_and_are_taken_anew(repo) -> None:
    txn = repo.begin()
    txn.rename(PERSON, CITY)
    txn.rename(CITY, PERSON)
    published = repo.publish(txn.plan("schema", schema_hash="s2"))
    assert sorted(published.commit.tables) == [CITY, PERSON]
    assert (ids(repo, CITY), ids(repo, PERSON)) == (["a", "b"], [])

    txn = repo.begin()
    txn.rename(CITY, HUMAN)
    txn.create(CITY, table_location(CITY, "fresh"), NODE)
    repo.publish(txn.plan("schema", schema_hash="s3"))
    assert (ids(repo, HUMAN), ids(repo, CITY), ids(repo, PERSON)) == (["a", "b"], [], [])

    txn = repo.begin()
    txn.drop(PERSON)
    txn.rename(HUMAN, PERSON)
    repo.publish(txn.plan("schema", schema_hash="s4"))
    assert ids(repo, PERSON) == ["a", "b"]
    assert HUMAN not in repo.head_state("main").tables


def test_rows_added_meanwhile_come_along(repo) -> None:
    plan = renaming(repo)
    append(repo, "c")
    published = repo.publish(plan)
    assert published.state.table(HUMAN).row_count == 3
    assert ids(repo, HUMAN) == ["a", "b", "c"]


def test_a_reshape_does_not_overtake_rows_added_meanwhile(repo) -> None:
    def reshaping():
        txn = repo.begin()
        txn.reshape(HUMAN, NODE.append(pa.field("note", pa.string())), source=PERSON)
        return txn.plan("schema", schema_hash="s2")

    plan = reshaping()
    append(repo, "c")
    with pytest.raises(errors.TableConflict, match=PERSON):
        repo.publish(plan)
    repo.publish(reshaping())
    assert ids(repo, HUMAN) == ["a", "b", "c"]


def test_a_reshape_is_prepared_again_after_a_fold(repo) -> None:
    txn = repo.begin()
    txn.reshape(HUMAN, NODE.append(pa.field("note", pa.string())), source=PERSON)
    plan = txn.plan("schema", schema_hash="s2")
    state = repo.head_state("main")
    folded = dataclasses.replace(
        state.table(PERSON),
        version=repo.parts.tables.stage_append(repo.snapshot().table(PERSON), rows("z")).ref.version,
    )
    with pytest.raises(MustRestage):
        apply_plan(state.with_tables({PERSON: folded}).next("commit", "e"), plan, repo.parts.tables)


def test_a_name_that_is_taken_is_refused(repo) -> None:
    with pytest.raises(errors.TableConflict, match=CITY):
        repo.publish(renaming(repo, PERSON, CITY))
    assert ids(repo, PERSON) == ["a", "b"]


def test_a_table_renamed_meanwhile_is_not_there_for_others(repo) -> None:
    txn = repo.begin()
    txn.append(PERSON, rows("late"))
    late = txn.plan("load")
    twice = renaming(repo, new="node:Other", schema_hash=None)
    repo.publish(renaming(repo, schema_hash=None))
    for plan in (late, twice):
        with pytest.raises(errors.TableConflict, match="dropped or replaced"):
            repo.publish(plan)
    assert ids(repo, HUMAN) == ["a", "b"]


def test_one_write_changes_a_table_once(repo) -> None:
    txn = repo.begin()
    txn.rename(PERSON, HUMAN)
    for act in (
        lambda: txn.append(PERSON, rows("x")),
        lambda: txn.rename(PERSON, "node:Other"),
        lambda: txn.rename(CITY, HUMAN),
        lambda: txn.drop(PERSON),
    ):
        with pytest.raises(errors.BadRequest, match="already"):
            act()
    with pytest.raises(errors.TableNotFound):
        txn.rename("node:None", "node:Other")
    assert txn.plan("schema").changes == (TableChange(HUMAN, None, PERSON),)
    assert txn.table(HUMAN).row_count == 2


def test_within_a_group_each_commit_shows_its_own_names(repo) -> None:
    """Three plans in one entry: before the rename, the rename, after it."""
    base = repo.head_state("main")
    first = repo.begin()
    first.append(PERSON, rows("c"))
    second = repo.begin()
    second.rename(PERSON, HUMAN)
    second.create(PERSON, table_location(PERSON, "fresh"), NODE)
    third = repo.begin()
    third.append(CITY, rows("x"))
    state = base.next("commit", "entry")
    commits = []
    for txn in (first, second, third):
        applied = apply_plan(state, txn.plan("mutate"), repo.parts.tables)
        state = applied.state
        commits.append(applied.commit)
    state = decode_entry(encode_state(state), "entry")
    counts = [{key: table.row_count for key, table in state.at(commit.id).tables.items()} for commit in commits]
    assert counts == [
        {PERSON: 3, CITY: 0},
        {HUMAN: 3, PERSON: 0, CITY: 0},
        {HUMAN: 3, PERSON: 0, CITY: 1},
    ]
    assert commits[1].tables == (HUMAN, PERSON)


def test_upserts_find_their_rows_through_the_transaction(repo) -> None:
    upsert(repo, "b", "c", v=7)
    txn = repo.begin()
    found = txn.find(PERSON, "id", pa.array(["b", "zz", None]), ["v", "id"])
    assert found.to_pylist() == [{"v": 7, "id": "b"}]
    txn.append(PERSON, rows("zz"))
    assert txn.find(PERSON, "id", pa.array(["zz"]), ["id"]).num_rows == 0, "it looks at the snapshot"
    assert repo.snapshot().find(PERSON, "v", pa.array([7]), ["id"])["id"].to_pylist() == ["b", "c"]
