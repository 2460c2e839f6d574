"""A load on Spark and one in process are the same load: the same graph, and the same report of what is wrong."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

import omnigraph as og
from omnigraph.model.errors import ResourceLimit
from omnigraph.model.violations import ValidationFailed
from omnigraph.pipeline import gather, splits
from omnigraph.pipeline import load as loading
from omnigraph.pipeline.keys import plan
from omnigraph.pipeline.keys.passes import PassesHere
from omnigraph.write.load import LoadLimits
from tests.pipeline.inputs import SCHEMA, as_lines, changed, clean, dirty, edge, node
from tests.support.social import contents, orphans

PEOPLE = 700
ENGINES = ("local", "spark")


@pytest.fixture(autouse=True)
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tasks for small inputs."""
    monkeypatch.setattr(splits, "SPLIT_BYTES_MIN", 60_000)


@pytest.fixture(params=["at once", "by tasks", "by turns"])
def judged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How keys are judged: of few rows all at once, of many in units, by tasks or, without a session, one by one."""
    if request.param != "at once":
        monkeypatch.setattr(gather, "KEYS_HERE_MAX", 0)
        monkeypatch.setattr(plan, "UNIT_ROWS", 3000)
    if request.param == "by turns":
        monkeypatch.setattr(loading, "SparkPasses", lambda session: PassesHere())
    return request.param


def loaded(folder: Path, engine: str, spark: Any, *steps: tuple[Path, dict[str, Any]]) -> tuple[og.Graph, list[Any]]:
    """A graph after some loads, and what each of them gave or raised."""
    graph = og.init(folder / engine, SCHEMA)
    found: list[Any] = []
    for path, how in steps:
        try:
            done = graph.load(path, engine=engine, spark=spark if engine == "spark" else None, **how)
            assert done.engine == engine
            found.append((done.nodes, done.edges, dict(done.rejected.rows)))
        except og.OmniGraphError as error:
            details = error.to_json() if isinstance(error, ValidationFailed) else error.facts
            found.append((type(error).__name__, error.message, details))
    return graph, found


def alike(folder: Path, spark: Any, *steps: tuple[Path, dict[str, Any]]) -> list[Any]:
    """Do the same on both engines, compare everything, and give what came out."""
    local, said = loaded(folder, "local", spark, *steps)
    other, also_said = loaded(folder, "spark", spark, *steps)
    assert said == also_said
    assert contents(local) == contents(other)
    assert [commit.operation for commit in local.commits.list()] == [c.operation for c in other.commits.list()]
    assert not orphans(other)
    store = other.repository.parts.store
    assert not [*store.list("__staging"), *store.list("__intents")]
    return said


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.usefixtures("judged")
def test_every_mode_on_what_is_clean(tmp_path, spark):
    first = written(tmp_path / "first.jsonl", as_lines(clean(PEOPLE)))
    then = written(tmp_path / "then.jsonl", as_lines(changed(PEOPLE)))
    said = alike(
        tmp_path,
        spark,
        (first, {"mode": "append"}),
        (then, {"mode": "merge"}),
        (first, {"mode": "merge"}),
        (first, {"mode": "overwrite"}),
        (then, {"mode": "append"}),
    )
    assert [type(each[0]) for each in said] == [dict, dict, dict, dict, str]


@pytest.mark.usefixtures("judged")
def test_everything_that_is_wrong_is_said_alike(tmp_path, spark):
    first = written(tmp_path / "first.jsonl", as_lines(clean(PEOPLE)))
    wrong = written(tmp_path / "wrong.jsonl", b"\n".join(dirty(PEOPLE)))
    only_edges = written(tmp_path / "edges.jsonl", as_lines([edge("Knows", "x", "y", id=f"x{n}") for n in range(3000)]))
    again = written(tmp_path / "again.jsonl", as_lines([node("Person", name=f"p{n}") for n in range(PEOPLE)]))
    few = written(tmp_path / "few.jsonl", as_lines([node("Person", name="p1"), node("City", name="new", country="x")]))
    said = alike(
        tmp_path,
        spark,
        (wrong, {"mode": "append"}),
        (wrong, {"mode": "merge"}),
        (only_edges, {"mode": "append"}),
        (first, {"mode": "append"}),
        (wrong, {"mode": "merge"}),
        (again, {"mode": "append"}),
        (few, {"mode": "overwrite"}),
    )
    assert [each[0] for each in said[:3]] == ["ValidationFailed"] * 3
    kinds = set(said[1][2]["counts"])
    assert {"syntax", "key", "range", "type", "enum", "check", "unique", "endpoint", "cardinality"} <= kinds
    assert said[2][2]["counts"] == {"endpoint": 6000}
    assert said[4][0] == "ValidationFailed"
    assert said[5][0] == "KeyConflict"
    assert said[6][2]["counts"].keys() == {"reference"}


@pytest.mark.slow
@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("judged", ["at once", "by tasks"], indirect=True)
def test_fifty_thousand_entities(tmp_path, spark, monkeypatch: pytest.MonkeyPatch):
    many = 15 * PEOPLE
    monkeypatch.setattr(splits, "SPLIT_BYTES_MIN", 2_000_000)
    monkeypatch.setattr(plan, "UNIT_ROWS", 40_000)
    first = written(tmp_path / "first.jsonl", as_lines(clean(many)))
    then = written(tmp_path / "then.jsonl", as_lines(changed(many)))
    wrong = written(tmp_path / "wrong.jsonl", b"\n".join(dirty(many)))
    said = alike(
        tmp_path,
        spark,
        (first, {"mode": "append"}),
        (wrong, {"mode": "merge"}),
        (then, {"mode": "merge"}),
        (wrong, {"mode": "merge", "on_error": "skip"}),
        (first, {"mode": "overwrite"}),
    )
    nodes, edges, _ = said[0]
    assert sum(nodes.values()) + sum(edges.values()) > 50_000
    assert said[1][0] == "ValidationFailed"
    assert said[3][2], "some were left out"


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("judged", ["at once", "by turns"], indirect=True)
def test_what_is_wrong_is_left_out_alike(tmp_path, spark):
    wrong = written(tmp_path / "wrong.jsonl", b"\n".join(dirty(PEOPLE)))
    rejects = tmp_path / "rejects.jsonl"
    how = {"mode": "merge", "on_error": "skip", "rejects": rejects}
    files: list[bytes] = []
    for engine in ENGINES:
        graph, _ = loaded(tmp_path, engine, spark, (wrong, how))
        files.append(rejects.read_bytes())
        assert not orphans(graph)
    assert files[0] == files[1]
    alike(tmp_path / "again", spark, (wrong, how), (wrong, {**how, "mode": "append"}))
    described = [orjson.loads(line) for line in files[0].splitlines()]
    assert len(described) > 100
    assert {"place", "errors", "record"} == set(described[0])
    lines = wrong.read_bytes().split(b"\n")
    for each in described:
        number = int(each["place"].removeprefix("line "))
        assert each["record"] == lines[number - 1].decode()


def test_many_files_some_compressed(tmp_path, spark):
    records = clean(600)
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(4):
        part = as_lines(records[number::4])
        packed = number % 2 == 1
        name = f"part-{number}.jsonl{'.gz' if packed else ''}"
        written(folder / name, gzip.compress(part) if packed else part)
    (folder / "_SUCCESS").touch()
    how = {"mode": "append"}
    assert alike(tmp_path / "a", spark, (folder, how)) == alike(tmp_path / "b", spark, (f"{folder}/part-*", how))
    written(folder / "part-2.jsonl", as_lines([*records[2::4], edge("Knows", "p1", "nobody", id="x"), node("Person")]))
    ((kind, message, _),) = alike(tmp_path / "c", spark, (folder, how))
    assert kind == "ValidationFailed"
    place = f"part-2.jsonl line {len(records[2::4]) + 1}"
    assert place in message
    ((kind, message, _),) = alike(tmp_path / "d", spark, (f"{folder}/none-*", how))
    assert (kind, message) == ("NotFound", f"no file matches {folder}/none-*")


def test_permissive_values_span_lines_and_spell_keys_otherwise(tmp_path, spark):
    schema_text = b"".join(
        orjson.dumps(record, option=orjson.OPT_INDENT_2) + b"\n" for record in clean(300, edge_ids=True)
    )
    path = written(
        tmp_path / "loose.jsonl", schema_text + b'{"type": "City", "data": {"name": "z", "country": "c"}} {"x": 1}'
    )
    alike(tmp_path, spark, (path, {"mode": "append", "permissive": True}))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_with_a_mapping(tmp_path, spark, kind):
    import pyarrow as pa
    from pyarrow import csv, parquet

    rows = pa.table({"who": [f"p{n}" for n in range(3000)], "age": list(range(3000)), "junk": ["x"] * 3000})
    path = tmp_path / f"people.{kind}"
    if kind == "csv":
        csv.write_csv(rows, path)
    else:
        parquet.write_table(rows, path, row_group_size=500)
    mapping = {"who": "name", "junk": ""}
    good = {"type": "Person", "mapping": mapping, "mode": "merge"}
    bad, clean_rows = alike(tmp_path, spark, (path, good), (path, {**good, "on_error": "skip"}))
    assert bad[2]["counts"] == {"range": 3000 - 151}
    assert clean_rows[0] == {"Person": 151}


def test_a_frame_of_spark(tmp_path, spark):
    graph = og.init(tmp_path / "g", SCHEMA)
    frame = spark.range(0, 4000, 1, 4).selectExpr("concat('p', id) AS name", "cast(id % 100 AS int) AS age")
    done = graph.load(frame, type="Person", mode="append")
    assert (done.engine, done.nodes) == ("spark", {"Person": 4000})
    pairs = spark.range(0, 1000).selectExpr("concat('p', id) AS a", "concat('p', id + 1) AS b")
    graph.load(pairs, type="Knows", mapping={"a": "from", "b": "to"}, mode="append")
    assert not orphans(graph)
    with pytest.raises(og.OmniGraphError, match="name their type"):
        graph.load(frame)
    bad = frame.selectExpr("name", "age + 1000 AS age")
    with pytest.raises(ValidationFailed) as wrong:
        graph.load(bad, type="Person")
    assert wrong.value.counts == {"range": 4000}


@pytest.mark.parametrize("source", [[{"type": "Person", "data": {"name": "x"}}], b"{}", "-"])
def test_what_is_in_memory_is_for_the_local_engine(tmp_path, spark, source):
    graph = og.init(tmp_path / "g", SCHEMA)
    with pytest.raises(og.OmniGraphError, match="rows in memory and standard input are for the local engine"):
        graph.load(source, engine="spark", spark=spark)


def test_auto_is_local_for_what_is_small_and_spark_for_what_is_large(tmp_path, spark, monkeypatch):
    from omnigraph.graph import spark as choice

    path = written(tmp_path / "few.jsonl", as_lines(clean(100)))
    graph = og.init(tmp_path / "g", SCHEMA)
    assert graph.load(path).engine == "local"
    monkeypatch.setattr(choice, "LOCAL_BYTES_MAX", 1000)
    assert graph.load(path).engine == "spark"
    assert graph.load(clean(100)).engine == "local"
    with pytest.raises(og.OmniGraphError, match="unknown engine 'sparc': use auto, local or spark"):
        graph.load(path, engine="sparc")


def test_a_file_that_is_not_there(tmp_path, spark):
    path = tmp_path / "nothing.jsonl"
    ((kind, message, _),) = alike(tmp_path, spark, (path, {"mode": "merge"}))
    assert (kind, message) == ("NotFound", f"there is no file {path}")


def test_a_new_branch(tmp_path, spark):
    path = written(tmp_path / "few.jsonl", as_lines(clean(100)))
    wrong = written(tmp_path / "wrong.jsonl", as_lines([edge("Knows", "a", "b")]))
    for engine in ENGINES:
        graph = og.init(tmp_path / engine, SCHEMA)
        with contextlib.suppress(ValidationFailed):
            graph.load(wrong, branch="bad", base="main", engine=engine, spark=spark)
        done = graph.load(path, branch="new", base="main", engine=engine, spark=spark)
        assert done.branch_created
        assert [branch.name for branch in graph.branches.list()] == ["main", "new"]
        assert graph.snapshot("new").table("node:Person").row_count == 100


@pytest.mark.parametrize("limits", [LoadLimits(rows=1000), LoadLimits(bytes=50_000)])
def test_more_than_a_load_may_have(tmp_path, spark, limits):
    path = written(tmp_path / "data.jsonl", as_lines(clean(PEOPLE)))
    said: list[Any] = []
    for engine in ENGINES:
        graph = og.init(tmp_path / engine, SCHEMA)
        with pytest.raises(ResourceLimit) as wrong:
            graph.load(path, mode="append", engine=engine, spark=spark, limits=limits)
        assert wrong.value.facts.pop("actual") > (limits.rows or limits.bytes)
        said.append(wrong.value.facts)
        assert not [row for rows in contents(graph).values() for row in rows]
    assert said[0] == said[1]


def test_more_bytes_than_a_load_may_copy(tmp_path, spark):
    """Each file refers to less than that; together they refer to more."""
    large = written(tmp_path / "large", bytes(17 << 20))
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("one", "two"):
        written(folder / f"{name}.jsonl", as_lines([node("Photo", name=name, data=large.as_uri())]))
    said: list[Any] = []
    for engine in ENGINES:
        graph = og.init(
            tmp_path / engine, "node Photo { name: String @key  data: Blob? }", external_blobs=[tmp_path.as_uri()]
        )
        graph.load(folder / "one.jsonl", engine=engine, spark=spark)
        with pytest.raises(ResourceLimit) as wrong:
            graph.load(folder, engine=engine, spark=spark)
        said.append((wrong.value.message, wrong.value.facts))
        assert graph.snapshot().table("node:Photo").row_count == 1
    assert said[0] == said[1]
