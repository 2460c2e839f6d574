"""`format("omnigraph")`: what Spark reads is what the graph holds."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

import omnigraph as og
from omnigraph.pipeline.datasource.filters import lance_filter
from omnigraph.schema import compile_schema

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SCHEMA = """
node Thing {
    name: String @key
    b: Bool?  i: I32?  j: I64?  u: U32?  w: U64?  f: F32?  g: F64?
    d: Date?  t: DateTime?  e: enum(red, green)?  ss: [String]?  ts: [DateTime]?  v: Vector(2)?  file: Blob?
}
edge Links: Thing -> Thing { weight: F64? }
"""
FULL = {
    "name": "full", "b": True, "i": -5, "j": -(2**62), "u": 2**32 - 1, "w": 2**64 - 1, "f": 0.5, "g": -1.25,
    "d": "2024-02-29", "t": "2024-02-29T10:00:00.5Z", "e": "red", "ss": ["a", "b"], "ts": ["2020-01-01"],
    "v": [1, 2], "file": b"\x00\x01",
}  # fmt: skip
# Spark gives times without a zone, in that of this process.
NOON, YEAR = (
    datetime.fromisoformat(text).astimezone().replace(tzinfo=None)
    for text in ("2024-02-29T10:00:00.500Z", "2020-01-01T00:00:00Z")
)
EXPECTED = {
    **FULL, "id": "full", "w": Decimal(2**64 - 1), "d": date(2024, 2, 29), "t": NOON,
    "ts": [YEAR], "v": [1.0, 2.0], "file": bytearray(b"\x00\x01"), "file@uri": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> og.Graph:
    """Two commits, so two fragments."""
    graph = og.init(tmp_path_factory.mktemp("source") / "g.omni", schema=SCHEMA)
    graph.load([{"type": "Thing", "data": FULL}, {"edge": "Links", "from": "full", "to": "full"}])
    graph.load([{"type": "Thing", "data": {"name": f"n{i:02}", "i": i, "g": i / 2}} for i in range(20)])
    return graph


def read(spark: SparkSession, graph: og.Graph, **options: object) -> DataFrame:
    return spark.read.format("omnigraph").options(**{"type": "Thing", **options}).load(graph.uri)


def test_every_type_is_read(spark: SparkSession, graph: og.Graph) -> None:
    rows = read(spark, graph, blobs="true").where("id = 'full'").collect()
    assert [row.asDict() for row in rows] == [EXPECTED]
    assert read(spark, graph, rowsPerTask=10).count() == 21
    links = read(spark, graph, type="Links").collect()
    assert [(row.src, row.dst, row.weight) for row in links] == [("full", "full", None)]


def test_filters_and_columns(spark: SparkSession, graph: og.Graph) -> None:
    """A frame may be used again: no filter of one query stays for the next."""
    frame = read(spark, graph, columns="id,i", rowsPerTask=1)
    assert frame.columns == ["id", "i"]
    assert frame.rdd.getNumPartitions() == 2
    assert {row.id for row in frame.where(f.col("i").between(3, 5)).collect()} == {"n03", "n04", "n05"}
    assert frame.where("i in (1, 2, 99) or id = 'full'").count() == 3
    assert frame.where("not i <=> 4 and i is not null").count() == 20
    assert read(spark, graph, filter="i >= 18").count() == 2
    pushed = read(spark, graph, pushdown="true").where("i < 3 and name > 'n00'").where("not b or b is null")
    assert {row.id for row in pushed.collect()} == {"n01", "n02"}
    pruned = spark.read.format("omnigraph").schema("g double").option("type", "Thing").load(graph.uri)
    assert pruned.agg(f.sum("g")).first()[0] == sum(i / 2 for i in range(20)) - 1.25


def test_a_commit_and_a_branch(spark: SparkSession, graph: og.Graph) -> None:
    commits = graph.commits.list()
    assert read(spark, graph, snapshot=commits[1].id).count() == 1
    assert read(spark, graph, snapshot=commits[2].id).count() == 0
    assert read(spark, graph, branch="main").count() == 21


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"type": "Thign"}, "did you mean"),
        ({"columns": "nope"}, "no column 'nope'"),
        ({"branch": "main", "snapshot": "x"}, "not both"),
        ({"tpye": "Thing"}, "no option 'tpye'"),
        ({"branch": "gone"}, "gone"),
    ],
)
def test_a_wrong_request_says_so(spark: SparkSession, graph: og.Graph, options: dict[str, str], said: str) -> None:
    with pytest.raises(PySparkException, match=said):
        read(spark, graph, **options)


def test_what_lance_takes() -> None:
    from pyspark.sql.datasource import EqualTo, GreaterThan, In, IsNotNull, Not, StringContains

    thing = compile_schema(SCHEMA).node_types["Thing"]
    moment = datetime(2024, 2, 29, 10, tzinfo=UTC)
    given = [
        EqualTo(("id",), "a'b"), GreaterThan(("i",), 3), In(("w",), (Decimal(1), Decimal(2))), IsNotNull(("e",)),
        Not(EqualTo(("d",), date(2024, 1, 2))), GreaterThan(("t",), moment), StringContains(("name",), "x"),
        EqualTo(("v",), [1.0]), EqualTo(("b",), True),
    ]  # fmt: skip
    assert lance_filter(given, thing) == " AND ".join(
        [
            "(`id` = 'a''b')", "(`i` > 3)", "(`w` IN (1, 2))", "(`e` IS NOT NULL)",
            "(NOT (`d` = date '2024-01-02'))", "(`t` > timestamp '2024-02-29 10:00:00.000')", "(`b` = true)",
        ]
    )  # fmt: skip
    assert lance_filter([], thing) is None


def left(graph: og.Graph) -> list[str]:
    """What a write has forgotten beside the tables."""
    store = graph.repository.parts.store
    return [info.path for folder in ("__staging", "__intents") for info in store.list(folder)]


def test_what_is_read_can_be_written(spark: SparkSession, graph: og.Graph, tmp_path: Path) -> None:
    """One commit for each write; what is wrong is told, and nothing is written."""
    other = og.init(tmp_path / "other.omni", schema=SCHEMA)
    before = len(other.commits.list())
    target = spark.createDataFrame([("x", None)], "name string, i int")
    columns = "id,name,b,i,j,u,w,f,g,d,t,e,ss,ts,v,file"
    read(spark, graph, columns=columns).write.format("omnigraph").option("type", "Thing").mode("append").save(other.uri)
    rows = [graph.snapshot().table("node:Thing").scan() for graph in (graph, other)]
    assert sorted(map(repr, rows[0].to_pylist())) == sorted(map(repr, rows[1].to_pylist()))
    write = target.write.format("omnigraph").option("type", "Thing").option("actor", "ada")
    write.mode("append").save(other.uri)
    with pytest.raises(PySparkException, match="Thing"):
        write.mode("append").save(other.uri)
    write.option("mode", "merge").mode("append").save(other.uri)
    assert other.snapshot().table("node:Thing").row_count == 22
    bad = spark.createDataFrame([("nobody", "full")], "src string, dst string")
    with pytest.raises(PySparkException, match="not found in Thing"):
        bad.write.format("omnigraph").option("type", "Links").mode("append").save(other.uri)
    target.write.format("omnigraph").option("type", "Thing").mode("overwrite").save(other.uri)
    commits = other.commits.list()
    assert len(commits) == before + 4
    assert [commit.actor for commit in commits[:3]] == [None, "ada", "ada"]
    assert other.snapshot().table("node:Thing").row_count == 1
    assert not left(other)


def test_a_stream_commits_each_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA)
    inputs = tmp_path / "in"
    inputs.mkdir()

    def run() -> None:
        lines = spark.readStream.schema("name string, i int").option("maxFilesPerTrigger", 1).json(str(inputs))
        sink = lines.writeStream.format("omnigraph").option("type", "Thing")
        query = sink.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        assert query.start(graph.uri).awaitTermination(120)

    for number in range(2):
        (inputs / f"{number}.json").write_text(f'{{"name": "n{number}", "i": {number}}}\n')
    run()
    streamed = [commit.operation.split()[-1] for commit in graph.commits.list() if commit.operation.startswith("str")]
    assert streamed == ["1", "0"]
    # As after a crash between the commit to the graph and Spark's own note of it: the last batch comes again.
    (tmp_path / "checkpoint/commits/1").unlink()
    (tmp_path / "checkpoint/commits/.1.crc").unlink()
    (inputs / "2.json").write_text('{"name": "n2", "i": 2}\n')
    run()
    assert graph.snapshot().table("node:Thing").scan(["id", "i"]).sort_by("i").to_pylist() == [
        {"id": f"n{i}", "i": i} for i in range(3)
    ]
    assert len([commit for commit in graph.commits.list() if commit.operation.startswith("stream")]) == 3
    assert not left(graph)


def test_a_stream_of_changes_goes_on_where_it_stopped(spark: SparkSession, tmp_path: Path) -> None:
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA, actor="ada")
    graph.load([{"type": "Thing", "data": {"name": "a", "i": 1}}, {"edge": "Links", "from": "a", "to": "a"}])

    def run() -> list[tuple[str, str, str, str, int | None]]:
        out = tmp_path / "out"
        changes = spark.readStream.format("omnigraph").options(start="beginning", types="Thing").load(graph.uri)
        query = changes.writeStream.format("json").option("checkpointLocation", str(tmp_path / "checkpoint"))
        assert query.trigger(availableNow=True).start(str(out)).awaitTermination(120)
        rows = spark.read.schema(changes.schema).json(str(out)).collect()
        return sorted(
            (row.commit, row.id, row.op, row.actor, (json.loads(row.after))["properties"]["i"]) for row in rows
        )

    def expected() -> list[tuple[str, str, str, str, int | None]]:
        pages = graph.changes.poll(start="beginning", types=["Thing"])
        return sorted(
            (block.cause.commit.id, change.id, str(change.op), "ada", change.after and change.after.properties["i"])
            for block in pages.blocks
            for change in block.changes
        )

    assert run() == expected()
    graph.load([{"type": "Thing", "data": {"name": "a", "i": 2}}])
    graph.load([{"type": "Thing", "data": {"name": "b", "i": 3}}])
    found = run()
    assert [row[1:] for row in found] == [
        ("a", "insert", "ada", 1),
        ("a", "update", "ada", 2),
        ("b", "insert", "ada", 3),
    ]
    assert found == expected()
    assert run() == found
