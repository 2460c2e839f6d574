"""Queries on Spark give the rows they give embedded: every golden query that reads, and what needs more to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import omnigraph as og
from omnigraph.model.clock import SystemClock
from omnigraph.model.errors import BadRequest, ResourceLimit
from omnigraph.pipeline.analytics.topology import kept
from omnigraph.pipeline.frames import SnapshotFrames
from tests.execute.test_cases import FILES, PARAMS, reads
from tests.query.people import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def people(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[og.Graph]:
    """The graph of the goldens. Its tables are read once: reading them is tested elsewhere."""
    made = og.init(tmp_path_factory.mktemp("cases") / "people.omni", (CASES / "people.pg").read_text())
    made.load(CASES / "people.jsonl", mode="append")
    read_table, tables = SnapshotFrames.table, dict[str, Any]()

    def known(self: SnapshotFrames, key: str, columns: list[str], where: str | None = None) -> DataFrame:
        if key not in tables:
            kind, _, name = key.partition(":")
            types = self.catalog.node_types if kind == "node" else self.catalog.edge_types
            plain = [each.name for each in types[name].properties if not each.type.is_blob]
            tables[key] = kept(read_table(self, key, [*types[name].fields, *plain]))
        rows = tables[key] if where is None else tables[key].where(where)
        return rows.select(*(f"`{column}`" for column in columns))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMNIGRAPH_EMBEDDINGS_MOCK", "1")
        patch.setattr(SystemClock, "now_us", lambda _: 1_714_979_289_000_000)
        patch.setattr(SnapshotFrames, "table", known)
        yield made


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_rows(people: og.Graph, path: Path) -> None:
    for name in reads(path):
        params = PARAMS.get(name, {})
        local, spark = people.query(path, name, params), people.query(path, name, params, engine="spark")
        assert spark.to_arrow().schema == local.to_arrow().schema, name
        found, expected = (list(map(repr, each.to_json())) for each in (spark, local))
        if " order " not in people.explain(path, name).steps[-1].text:
            found.sort()
            expected.sort()
        assert found == expected, name


SCHEMA = """
node P { name: String @key  w: U64?  t: DateTime? }
edge E: P -> P { n: I32? }
"""
ARROWS = ["a b 2", "a b 1", "b c 1", "c a 1", "c d 1", "d d 1", "x b 3", "d e 5"]
QUERIES = [
    """match { $p: P  $p e{2,} $r } return { $p.@id as p, $r.@id as r } order { p, r }""",
    """match { $p: P  $p e{1,2} $p } return { $p.@id as p } order { p }""",
    """match { $p: P  shortest $way = $p e{1,} $r } return { $p.@id as p, $r.@id as r, $way } order { p, r }""",
    """match { $p: P  $p.name != $s } return { $p, $p.w as w, $p.t as t } order { $p.@id desc }""",
    """match { $p: P  $p e $r  $r e $z  $z e $p } return { count($p) as n }""",
    """match { $p: P  optional { $p e $r  $r e $z } } return { $p.@id as p, count($z) as n } order { p }""",
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> og.Graph:
    graph = og.init(tmp_path_factory.mktemp("small") / "g.omni", schema=SCHEMA)
    data = [{"name": name, "w": 2**64 - 1, "t": "2024-02-29T10:00:00.5Z"} for name in "abcdex"]
    edges = [dict(zip(("from", "to", "n"), arrow.split(), strict=True)) for arrow in ARROWS]
    records: list[dict[str, Any]] = [{"type": "P", "data": row} for row in data]
    records += [
        {"edge": "E", "from": e["from"], "to": e["to"], "data": {"id": f"e{n}", "n": int(e["n"])}}
        for n, e in enumerate(edges)
    ]
    graph.load(records)
    return graph


@pytest.mark.parametrize("text", QUERIES)
def test_hops_paths_and_values(spark: SparkSession, small: og.Graph, text: str) -> None:
    params = {"s": "it's a \\ {brace} \u20ac"} if "$s" in text else None
    text = f"query q({'$s: String' if params else ''}) {{ {text} }}"
    local, found = small.query(text, params=params), small.query(text, params=params, engine="spark")
    assert len(local)
    assert found.to_arrow().equals(local.to_arrow())


def test_a_frame_of_a_query(spark: SparkSession, small: og.Graph) -> None:
    frame = small.frame(
        "query q() { match { $p: P  $p e $r } return { $r.name as name, count($p) as n } }", spark=spark
    )
    assert frame.columns == ["name", "n"]
    assert {row.name: row.n for row in frame.where("n > 1").collect()} == {"b": 2, "d": 2}


def test_limits_and_refusals(spark: SparkSession, small: og.Graph) -> None:
    everyone = "query q() { match { $p: P } return { $p.name } }"
    with pytest.raises(ResourceLimit):
        small.query(everyone, max_rows=2, engine="spark")
    with pytest.raises(BadRequest, match="spark"):
        small.query(everyone, engine="sprak")
