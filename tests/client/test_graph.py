"""One suite for both: what an embedded graph answers, a served one answers too."""

import datetime as dt
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from omnigraph.history import MergeConflicts, read_resolution
from omnigraph.model.diagnostics import LanguageError
from omnigraph.model.errors import AlreadyExists, BadRequest, Conflict, HeadMoved, KeyConflict, NotFound
from omnigraph.model.violations import ValidationFailed

PEOPLE = """{"type":"Person","data":{"name":"ada","age":36,"photo":"base64:aGVsbG8="}}
{"type":"Person","data":{"name":"ben"}}
{"edge":"Knows","from":"ada","to":"ben","data":{"since":"2024-05-01"}}
"""
INSERT = "query add($name: String) { insert Person { name: $name } }"
NAMES = "query names() { match { $p: Person } return { $p.name } order { $p.name } }"
KNOWN = (
    "query known($name: String) { match { $p: Person { name: $name } $p $k:knows $q } return { $p, $q.age, $k.since } }"
)


@pytest.fixture(autouse=True)
def people(graph):
    graph.load(PEOPLE.encode(), mode="overwrite")


def test_query(graph):
    found = graph.query(KNOWN, "known", {"name": "ada"})
    assert found.query_name == "known"
    assert found.branch == "main"
    assert found.graph_commit_id == graph.commits.list()[0].id
    assert len(found) == 1
    assert found.rows[0]["p"]["age"] == 36
    assert found.rows[0]["k.since"] == dt.date(2024, 5, 1)
    assert found.to_arrow().schema.field("q.age").type == pa.int32()
    assert found.to_json()[0]["k.since"] == "2024-05-01"
    assert found.types
    assert found.picture() is not None


def test_query_at_a_snapshot(graph):
    before = graph.commits.list()[0].id
    graph.mutate(INSERT, params={"name": "cyd"})
    assert [row["p.name"] for row in graph.query(NAMES)] == ["ada", "ben", "cyd"]
    then = graph.query(NAMES, snapshot=before)
    assert [row["p.name"] for row in then] == ["ada", "ben"]
    assert (then.snapshot, then.branch, then.graph_commit_id) == (before, None, before)
    with pytest.raises(BadRequest):
        graph.query(NAMES, branch="main", snapshot=before)
    with pytest.raises(NotFound):
        graph.query(NAMES, branch="none")


def test_bad_queries(graph):
    with pytest.raises(BadRequest) as wrong:
        graph.query("query q() { match { $p: Persn } return { $p.name } }")
    assert "did you mean 'Person'?" in wrong.value.message
    with pytest.raises(BadRequest):
        graph.query(INSERT, params={"name": "x"})
    assert issubclass(LanguageError, BadRequest)


def test_mutate(graph):
    done = graph.mutate(INSERT, "add", {"name": "dov"})
    assert (done.affected_nodes, done.affected_edges, done.query_name, done.branch) == (1, 0, "add", "main")
    assert done.commit == graph.commits.show(done.commit.id) or done.commit.id == graph.commits.show(done.commit.id).id
    nothing = graph.mutate("query q() { delete Person where name = 'nobody' }".replace("'", '"'))
    assert nothing.commit is None
    with pytest.raises(HeadMoved) as lost:
        graph.mutate(INSERT, params={"name": "eve"}, if_commit=graph.commits.list()[-1].id)
    assert lost.value.found == graph.commits.list()[0].id
    assert graph.mutate(INSERT, params={"name": "eve"}, if_commit=graph.commits.list()[0].id).commit


def test_load(graph):
    done = graph.load([{"type": "Person", "data": {"name": "fay"}}], mode="append")
    assert done.nodes == {"Person": 1}
    assert done.total_entities == 1
    with pytest.raises(KeyConflict) as taken:
        graph.load([{"type": "Person", "data": {"name": "fay"}}], mode="append")
    assert taken.value.entity_id == "fay"
    made = graph.load(PEOPLE.encode(), branch="loaded", base="main")
    assert (made.branch_created, made.base_branch, made.branch) == (True, "main", "loaded")
    graph.branches.delete("loaded")
    with pytest.raises(BadRequest) as wrong:
        graph.load(b'{"type":"Person","data":{"nam":"x"}}\n')
    assert "line 1" in wrong.value.message
    assert graph.load(b'{"type":"Person",\n"data":{"name":"x","y":1}}', permissive=True).total_entities == 1


def people_frame(kind: str):
    columns = {"who": ["gus", "hedy"], "age": [1, None]}
    if kind == "polars":
        return pl.DataFrame(columns)
    if kind == "pandas":
        return pd.DataFrame(columns).astype({"age": "Int32"})
    return pa.table(columns)


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_load_a_frame(graph, kind):
    done = graph.load(people_frame(kind), type="Person", mapping={"who": "name"})
    assert done.nodes == {"Person": 2}
    found = graph.query("query q() { match { $p: Person } return { $p.name, $p.age } order { $p.name } }")
    assert [tuple(row.values()) for row in found][2:] == [("gus", 1), ("hedy", None)]


def test_load_frames_of_nodes_and_edges(graph):
    nodes = pa.table({"name": ["gus"], "photo": pa.array([b"\x00\xff"])})
    edges = pl.DataFrame({"from": ["gus", "gus"], "to": ["ada", "ben"], "since": [dt.date(2020, 2, 29), None]})
    done = graph.load({"Person": nodes, "Knows": edges}, mode="append", branch="framed", base="main")
    assert (done.nodes, done.edges, done.branch_created) == ({"Person": 1}, {"Knows": 2}, True)
    known = graph.query(KNOWN, params={"name": "gus"}, branch="framed")
    assert sorted((row["q.age"], row["k.since"]) for row in known if row["q.age"]) == [(36, dt.date(2020, 2, 29))]
    assert len(known) == 2
    ids = [
        json.loads(line)["data"]["id"]
        for line in b"".join(graph.export_lines(types=["Knows"], branch="framed")).splitlines()
    ]
    assert len(set(ids)) == 3
    assert all(len(one) == 26 for one in ids)
    graph.branches.delete("framed")


def test_load_files_with_columns(graph, tmp_path):
    (tmp_path / "csv").mkdir()
    for number in range(2):
        (tmp_path / "csv" / f"{number}.csv").write_text(f'name,years,note\nc{number},{number},x\n"d,{number}",,y\n')
    mapping = {"years": "age", "note": ""}
    assert graph.load(tmp_path / "csv", type="Person", mapping=mapping).total_entities == 4
    pq.write_table(pa.table({"name": ["p1"], "age": pa.array([2**31 - 1])}), tmp_path / "p.parquet")
    assert graph.load(str(tmp_path / "p.parquet"), type="Person").total_entities == 1
    (tmp_path / "t.data").write_text("name\tage\nt1\t5\n")
    assert graph.load(tmp_path / "t.data", type="Person", format="tsv").total_entities == 1
    found = graph.query("query q() { match { $p: Person } return { $p.name, $p.age } order { $p.name } }")
    expected = [("c0", 0), ("c1", 1), ("d,0", None), ("d,1", None), ("p1", 2**31 - 1), ("t1", 5)]
    assert [row for row in (tuple(one.values()) for one in found) if row[0] not in ("ada", "ben")] == expected


def test_what_is_wrong_with_a_frame(graph):
    with pytest.raises(ValidationFailed) as wrong:
        graph.load(pa.table({"name": ["x", "y"], "age": [1, 2**40]}), type="Person")
    assert [(one.kind, one.property, one.place) for one in wrong.value.violations] == [("type", "age", "row 2")]
    with pytest.raises(ValidationFailed, match=r"no property 'nam'.*did you mean 'name'"):
        graph.load(pa.table({"nam": ["x"]}), type="Person")
    with pytest.raises(ValidationFailed) as wrong:
        graph.load({"Knows": pa.table({"from": ["ada"], "to": ["nobody"]})})
    assert wrong.value.counts == {"endpoint": 1}
    assert wrong.value.violations[0].type_name == "Knows"
    for source, how, what in (
        (pa.table({"name": ["x"]}), {}, "name their type"),
        (pa.table({"name": ["x"]}), {"type": "Persn"}, "did you mean 'Person'"),
        ([{"type": "Person", "data": {"name": "x"}}], {"type": "Person"}, "records name their types themselves"),
        ({"Person": [{"name": "x"}]}, {}, "records are a list"),
    ):
        with pytest.raises(BadRequest, match=what):
            graph.load(source, **how)
    assert len(graph.query(NAMES)) == 2


def test_branches(graph):
    assert graph.branches.create("a/b").name == "a/b"
    assert [ref.name for ref in graph.branches.list()] == ["a/b", "main"]
    with pytest.raises(Conflict):
        graph.branches.create("a/b")
    graph.mutate(INSERT, params={"name": "gil"}, branch="a/b")
    assert len(graph.query(NAMES, branch="a/b")) == 3
    assert len(graph.query(NAMES)) == 2
    graph.branches.delete("a/b")
    with pytest.raises(NotFound):
        graph.branches.delete("a/b")
    assert issubclass(AlreadyExists, Conflict)


def test_history(graph):
    commits = graph.commits.list()
    assert commits[0].parent == commits[1].id
    assert graph.commits.show(commits[0].id).number == commits[0].number
    with pytest.raises(NotFound):
        graph.commits.show("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert graph.snapshot().branch == "main"
    assert graph.snapshot().manifest_version == commits[0].number


def test_schema(graph):
    source = graph.schema.source
    assert "node Person" in source
    plan = graph.schema.plan(source + "\nnode City { name: String @key }\n")
    assert plan.supported
    assert len(plan.steps) == 1
    done = graph.schema.apply(source + "\nnode City { name: String @key }\n")
    assert done.applied
    assert not graph.schema.apply(graph.schema.source).applied
    assert graph.schema.apply(source).applied


def test_export(graph):
    lines = b"".join(graph.export_lines(types=["Person"])).splitlines()
    assert lines[0].startswith(b'{"type":"Person","data":{"id":"ada"')
    assert len(lines) == 2
    with pytest.raises(BadRequest):
        list(graph.export_lines(types=["Nothing"]))


def test_blobs(graph):
    where = ("node", "Person", "ada", "photo")
    found = graph.blobs.stat(*where)
    assert (found.kind, found.size) == ("managed", 5)
    assert found.etag == graph.blobs.stat(*where, commit=found.snapshot).etag
    assert graph.blobs.read(*where) == b"hello"
    assert graph.blobs.read(*where, offset=1, length=2) == b"el"
    with pytest.raises(NotFound):
        graph.blobs.read("node", "Person", "ben", "photo")
    with pytest.raises(BadRequest):
        graph.blobs.read(*where, offset=9)


def test_merge_and_changes(graph):
    before = graph.changes.poll(start="now")
    graph.branches.create("side")
    graph.mutate(INSERT, params={"name": "hal"}, branch="side")
    assert graph.branches.merge("side", delete_branch=True).outcome == "fast_forward"
    page = graph.changes.poll(cursor=before.cursor)
    assert page.caught_up
    (change,) = page.blocks[-1].changes
    assert (change.kind, change.type_name, change.id, change.op) == ("node", "Person", "hal", "insert")
    assert change.after.properties["name"] == "hal"
    found = graph.commits.changes(page.blocks[-1].cause.commit.id)
    assert found.changes == page.blocks[-1].changes
    taken = graph.changes.baseline(types=["Person"])
    lines = b"".join(taken.chunks()).splitlines()
    assert len(lines) == 4
    assert taken.resume_cursor
    assert taken.handshake()["baseline"]["snapshot_commit_id"] == taken.snapshot_commit_id
    with pytest.raises(BadRequest):
        graph.changes.poll(cursor="x")


# -- merges ----------------------------------------------------------------------------------------------

AGES = "query ages() { match { $p: Person } return { $p.name, $p.age } order { $p.name } }"
SET_AGE = "query set_age($name: String, $age: I32?) { update Person set { age: $age } where name = $name }"


@pytest.fixture
def apart(graph):
    """A branch and main that both changed the ages of ada and ben: two conflicts."""
    graph.branches.create("apart")
    for branch, ages in (("apart", (1, 2)), ("main", (11, 12))):
        for name, age in zip(("ada", "ben"), ages, strict=True):
            graph.mutate(SET_AGE, params={"name": name, "age": age}, branch=branch)
    yield graph
    graph.branches.delete("apart")


def ages(graph) -> list[int]:
    return [row["p.age"] for row in graph.query(AGES)]


def test_without_a_resolution_a_merge_lists_all_conflicts(apart):
    with pytest.raises(MergeConflicts) as met:
        apart.branches.merge("apart")
    told = [(one.type_name, one.entity_id, one.kind) for one in met.value.conflicts]
    assert told == [("Person", "ada", "divergent_update"), ("Person", "ben", "divergent_update")]
    assert ages(apart) == [11, 12]


def test_a_dry_run_says_what_both_sides_have(apart):
    head = apart.commits.list()[0].id
    found = apart.branches.merge("apart", dry_run=True)
    assert (found.dry_run, found.outcome, found.commit) == (True, "merged", None)
    ada = found.conflicts[0]
    assert ada.properties == ("age",)
    assert [image.properties["age"] for image in (ada.base, ada.ours, ada.theirs)] == [36, 11, 1]
    assert found.summary == ({"kind": "node", "type_name": "Person", "inserted": 0, "updated": 2, "deleted": 0},)
    assert apart.commits.list()[0].id == head


@pytest.mark.parametrize(("side", "expected"), [("ours", [11, 12]), ("theirs", [1, 2])])
def test_one_side_may_be_right_in_all_conflicts(apart, side, expected):
    done = apart.branches.merge("apart", resolution=side)
    assert done.outcome == "merged"
    assert done.commit.merged_parent is not None
    assert [one.entity_id for one in done.conflicts] == ["ada", "ben"]
    assert ages(apart) == expected


def test_a_resolution_file_is_a_dry_run_with_choices(apart):
    found = apart.branches.merge("apart", dry_run=True).describe()
    found["conflicts"][0]["take"] = "theirs"
    found["conflicts"][1]["properties"] = {"age": "ours"}
    text = json.dumps({"conflicts": found["conflicts"]})
    apart.branches.merge("apart", resolution=read_resolution(text, "choices.json"))
    assert ages(apart) == [1, 12]


def test_choices_may_be_a_list_and_must_fit(apart):
    about = {"entity_kind": "node", "type_name": "Person"}
    with pytest.raises(MergeConflicts) as met:
        apart.branches.merge("apart", resolution=[{**about, "entity_id": "ada", "take": "ours"}])
    assert [one.entity_id for one in met.value.conflicts] == ["ben"]
    with pytest.raises(BadRequest, match="no conflict about node Person 'zoe'"):
        apart.branches.merge("apart", resolution=[{**about, "entity_id": "zoe", "take": "ours"}])
    with pytest.raises(BadRequest, match="did you mean 'take'"):
        apart.branches.merge("apart", resolution=[{**about, "entity_id": "ada", "tak": "ours"}])
    assert ages(apart) == [11, 12]


def test_a_function_is_asked_about_each_conflict(apart):
    asked = []

    def younger(conflict):
        asked.append(conflict.entity_id)
        return "theirs" if conflict.theirs.properties["age"] < conflict.ours.properties["age"] else "ours"

    apart.branches.merge("apart", resolution=younger)
    assert set(asked) == {"ada", "ben"}
    assert ages(apart) == [1, 2]


def test_a_merge_may_insist_on_the_head_of_its_target(apart):
    head, before, *_ = (commit.id for commit in apart.commits.list())
    with pytest.raises(HeadMoved) as lost:
        apart.branches.merge("apart", resolution="ours", if_commit=before)
    assert lost.value.found == head
    assert apart.branches.merge("apart", resolution="ours", if_commit=head, delete_branch=True).branch_deleted
    apart.branches.create("apart")
