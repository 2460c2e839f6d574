"""Queries through the graph: where they look, what they refuse, and the forms of their results."""

from __future__ import annotations

import html
import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pyarrow as pa
import pytest

import omnigraph as og
from omnigraph.execute.engines import ReadRequest, register_engine, run_read
from omnigraph.model.errors import (
    BadRequest,
    BranchNotFound,
    Cancelled,
    CommitNotFound,
    NotFound,
    OmniGraphError,
    ResourceLimit,
    TimedOut,
)
from tests.support.social import SCHEMA, social

NAMES = "query names() { match { $p: Person } return { $p.name } order { $p.name } }"
KNOWN = "query known($who: String) { match { $p: Person { name: $who } $p knows $f } return { $p, $f } }"


@pytest.fixture
def graph(tmp_path: Path) -> og.Graph:
    return social(tmp_path / "g.omni")


def names(graph: og.Graph, **where: str) -> list[str]:
    return [row["p.name"] for row in graph.query(NAMES, **where)]


# -- where -----------------------------------------------------------------------------------------------


def test_branches_commits_and_tags(graph: og.Graph) -> None:
    first = graph.snapshot().commit_id
    graph.tags.create("v1", first)
    graph.branches.create("review")
    graph.load([{"type": "Person", "data": {"name": "dee"}}], branch="review")
    graph.load([{"type": "Person", "data": {"name": "eve"}}])
    assert names(graph) == ["ada", "bob", "cyd", "eve"]
    assert names(graph, branch="review") == ["ada", "bob", "cyd", "dee"]
    assert names(graph, snapshot=first) == names(graph, snapshot="v1") == ["ada", "bob", "cyd"]
    result = graph.query(NAMES, snapshot="v1")
    assert (result.graph_commit_id, result.branch, result.snapshot) == (first, None, "v1")
    assert graph.query(NAMES, branch="review").branch == "review"


def test_an_old_snapshot_has_its_own_schema(graph: og.Graph) -> None:
    first = graph.snapshot().commit_id
    graph.schema.apply(
        SCHEMA.replace("age: I32?", 'years: I32? @rename_from("age")').replace("range(age", "range(years")
    )
    ages = 'query ages() { match { $p: Person { name: "ada" } } return { $p.age } }'
    years = ages.replace("$p.age", "$p.years")
    assert graph.query(ages, snapshot=first).rows == [{"p.age": 36}]
    assert graph.query(years).rows == [{"p.years": 36}]
    with pytest.raises(OmniGraphError, match="age"):
        graph.query(ages)
    with pytest.raises(OmniGraphError, match="years"):
        graph.query(years, snapshot=first)


def test_a_result_does_not_change_with_the_graph(graph: og.Graph) -> None:
    before = graph.query(NAMES)
    graph.mutate('query gone() { delete Person where name = "cyd" }')
    assert len(before) == 3
    assert names(graph) == ["ada", "bob"]


# -- what is refused -------------------------------------------------------------------------------------


def test_wrong_requests(graph: og.Graph, tmp_path: Path) -> None:
    cases: list[tuple[type[OmniGraphError], str, dict[str, object]]] = [
        (BranchNotFound, "branch 'nope' not found; branches here: main", {"branch": "nope"}),
        (CommitNotFound, "'nope'", {"snapshot": "nope"}),
        (BadRequest, "not both", {"branch": "main", "snapshot": "v1"}),
        (BadRequest, "did you mean 'names'", {"name": "nams"}),
        (BadRequest, "did you mean 'local'", {"engine": "locl"}),
        (BadRequest, "more than 0", {"timeout_s": 0}),
        (BadRequest, "0 or more", {"max_rows": -1}),
    ]
    for kind, text, how in cases:
        with pytest.raises(kind, match=text):
            graph.query(NAMES, **how)  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="no file"):
        graph.query(tmp_path / "missing.gq")
    with pytest.raises(BadRequest, match="run it with mutate"):
        graph.query('query w() { delete Person where name = "a" }')
    with pytest.raises(BadRequest, match="multiple queries"):
        graph.query(NAMES + KNOWN)
    with pytest.raises(BadRequest, match="parse error"):
        graph.query("query broken() { match")


@pytest.mark.parametrize(
    ("params", "text"),
    [
        (None, "parameter 'who' not provided"),
        ({"whom": "ada"}, "instead there is 'whom'"),
        ({"who": 3}, "parameter 'who' is String: 3 is not a string"),
        ({"who": None}, "cannot be null"),
    ],
)
def test_wrong_parameters(graph: og.Graph, params: dict[str, object] | None, text: str) -> None:
    with pytest.raises(BadRequest, match=text):
        graph.query(KNOWN, params=params)


def test_limits(graph: og.Graph) -> None:
    assert len(graph.query(NAMES, max_rows=3)) == 3
    with pytest.raises(ResourceLimit, match="3 exceeds the limit of 2") as raised:
        graph.query(NAMES, max_rows=2)
    assert raised.value.facts == {"resource": "rows of the result", "limit": 2, "actual": 3}
    with pytest.raises(ResourceLimit):
        graph.query("query g() { match { $p: Person } return { $p.name, count($p) as n } }", max_rows=2)
    with pytest.raises(TimedOut):
        graph.query(NAMES, timeout_s=1e-9)


def test_a_page_cannot_be_negative(graph: og.Graph) -> None:
    text = "query page($n: I64) { match { $p: Person } return { $p.name } order { $p.name } limit $n offset $n }"
    assert graph.query(text, params={"n": 1}).rows == [{"p.name": "bob"}]
    assert graph.query(text, params={"n": 2**62}).rows == []
    with pytest.raises(BadRequest, match="limit is -1"):
        graph.query(text, params={"n": -1})


def test_cancelling(graph: og.Graph) -> None:
    canceller = og.Canceller()
    assert len(graph.query(NAMES, canceller=canceller)) == 3
    canceller.cancel()
    with pytest.raises(Cancelled):
        graph.query(NAMES, canceller=canceller)


def test_values_that_cannot_be_computed(graph: og.Graph) -> None:
    text = "query q() { match { $p: Person } return { $p.age * 9223372036854775807 as much } }"
    with pytest.raises(BadRequest, match="cannot be evaluated"):
        graph.query(text)


def test_another_engine(graph: og.Graph) -> None:
    seen: list[ReadRequest] = []

    def other(request: ReadRequest) -> pa.Table:
        seen.append(request)
        return run_read(request)

    register_engine("other", other)
    assert graph.query(NAMES, engine="other").rows == graph.query(NAMES, engine="local").rows
    assert seen[0].plan.read.name == "names"


# -- results ---------------------------------------------------------------------------------------------


def test_forms(graph: og.Graph) -> None:
    graph.load([{"type": "Person", "data": {"name": "dot", "born": "2000-01-02", "seen": "2024-01-02T03:04:05.678Z"}}])
    text = (
        'query q() { match { $p: Person { name: "dot" } } return { $p.name, $p.age, $p.born, $p.seen, 0.5 as half } }'
    )
    result = graph.query(text)
    seen = datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    row = {"p.name": "dot", "p.age": None, "p.born": date(2000, 1, 2), "p.seen": seen, "half": 0.5}
    assert list(result) == result.rows == [row]
    assert list(result.rows[0]) == list(result.columns) == ["p.name", "p.age", "p.born", "p.seen", "half"]
    assert result.to_json() == [row | {"p.born": "2000-01-02", "p.seen": "2024-01-02T03:04:05.678Z"}]
    assert json.dumps(result.to_json())
    assert pa.table(result) == result.to_arrow()
    assert result.to_arrow().schema.field("p.seen").type == pa.timestamp("ms", "UTC")
    assert result.to_pandas()["p.name"].tolist() == ["dot"]
    assert isinstance(result.to_polars(), pl.DataFrame)
    assert pl.DataFrame(result).shape == (1, 5)
    assert len(result) == 1
    assert "1 rows of p.name" in repr(result)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_there(graph: og.Graph, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    result = graph.query(NAMES)
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BadRequest, match=f"pip install {library}"):
        getattr(result, f"to_{library}")()


def test_numbers_that_json_does_not_have(graph: og.Graph) -> None:
    text = "query q() { match { $p: Person } return { power(10.0, 400) as large } limit 1 }"
    assert graph.query(text).to_json() == [{"large": None}]


def test_html_escapes_what_people_wrote(graph: og.Graph) -> None:
    evil = "<script>alert('&')</script>"
    graph.load([{"type": "Person", "data": {"name": evil}}])
    shown = graph.query(
        KNOWN.replace("{ name: $who } $p knows $f", "").replace("($who: String)", "()").replace("$f", "$p.name")
    )
    for text in (shown._repr_html_(), shown.picture().svg):
        assert "<script" not in text
        assert html.escape(evil)[:10] in text


def test_pictures(graph: og.Graph, tmp_path: Path) -> None:
    result = graph.query(KNOWN, params={"who": "ada"})
    picture = result.picture()
    root = ET.fromstring(picture.svg)
    circles = [each for each in root.iter("{http://www.w3.org/2000/svg}circle") if each.get("r") == "12"]
    assert len(circles) == 2
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) == 1
    assert picture.svg in result._repr_html_()
    picture.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text() == picture._repr_svg_()
    path = graph.query(
        'query way() { match { $a: Person { name: "ada" } $b: Person { name: "cyd" } shortest $w = $a knows{1,} $b } '
        "return { $w } }"
    )
    assert path.rows == [{"w": {"nodes": ["ada", "bob", "cyd"], "edges": ["k1", "k2"]}}]
    assert path.picture().svg.count("<line") == 2
    assert "no nodes" in graph.query(KNOWN, params={"who": "nobody"}).picture().svg


def test_a_large_picture_says_what_it_leaves_out(graph: og.Graph) -> None:
    graph.load([{"type": "Person", "data": {"name": f"p{n}"}} for n in range(160)])
    svg = graph.query("query q() { match { $p: Person } return { $p } }").picture().svg
    assert "13 more nodes are not drawn" in svg


# -- plans -----------------------------------------------------------------------------------------------


def test_explain_and_profile(graph: og.Graph) -> None:
    text = "query q() { match { $p: Person $p knows $f not { $f livesIn $c } } return { $p.name, $f.name } }"
    explained = graph.explain(text)
    assert [(step.depth, step.text) for step in explained.steps] == [
        (0, "find $p: Person"),
        (0, "follow ($p: Person)-[Knows]->($f: Person)"),
        (0, "not for $f"),
        (1, "count ($f: Person)-[LivesIn]->($c: City)"),
        (0, "return p.name, f.name"),
    ]
    assert explained.result is None
    assert "estimated_rows" in explained.to_json()["steps"][0]
    profiled = graph.profile(text)
    assert profiled.result is not None
    assert profiled.result.rows == graph.query(text).rows
    assert [step.run.rows for step in profiled.steps if step.run is not None] == [3, 2, 2, 0, 2]
    assert str(profiled).splitlines()[0].split() == ["step", "expected", "rows", "ms", "requests"]
    with pytest.raises(BadRequest, match="not provided"):
        graph.profile(KNOWN)
