"""Ids looked up in memory: the same rows as by comparing all ids, whatever happens to the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import omnigraph as og
from omnigraph.execute import columns, lookup
from omnigraph.execute.cache import shared_cache

SCHEMA = "node Person { name: String @key  age: I32? }"
PEOPLE = 3_000
ONE = "query one($n: String) { match { $p: Person { name: $n } } return { $p.name as name, $p.age as age } }"
SOME = """query some($n: [String], $age: I32) {
    match { $p: Person $p.name in $n $p.age > $age } return { $p.name as name } order { $p.name }
}"""
ALL = "query all() { match { $p: Person } return { $p.name as name, $p.age as age, $p.@id as id } }"


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> og.Graph:
    """A table of which the ids are put in order at once, and whose columns are in memory."""
    monkeypatch.setattr(lookup, "_SCANS_OF_ORDER", 1)
    shared_cache().clear()
    made = og.init(tmp_path / "g.omni", SCHEMA)
    made.load([_person(f"p{number}", number % 90) for number in range(PEOPLE)], mode="append")
    made.query(ALL)
    return made


def _person(name: str, age: int) -> dict[str, object]:
    return {"type": "Person", "data": {"name": name, "age": age}}


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many ids were put in order, each time that was done."""
    made: list[int] = []

    def order_of(values: pa.ChunkedArray) -> Any:
        made.append(len(values))
        return columns.order_of(values)

    monkeypatch.setattr(lookup, "order_of", order_of)
    return made


def _one(graph: og.Graph, name: str) -> list[dict[str, object]]:
    return graph.query(ONE, params={"n": name}).rows


def test_rows_are_found_through_any_history(graph: og.Graph, orders: list[int]) -> None:
    assert _one(graph, "p77") == [{"name": "p77", "age": 77}]
    assert orders == [PEOPLE]
    assert _one(graph, "p7") == [{"name": "p7", "age": 7}]
    assert not _one(graph, "p")
    assert not _one(graph, "zz")
    assert not _one(graph, "")

    graph.load([_person("a new one", 1), _person("zzz", 2)], mode="append")
    graph.query(ALL)
    assert _one(graph, "a new one") == [{"name": "a new one", "age": 1}]
    assert _one(graph, "p2999") == [{"name": "p2999", "age": 2999 % 90}]
    assert orders == [PEOPLE], "what was appended is compared, and the order stays"

    graph.mutate('query gone() { delete Person where name = "p77" }')
    graph.mutate('query older() { update Person set { age: 1000 } where name = "p7" }')
    graph.query(ALL)
    assert not _one(graph, "p77")
    assert _one(graph, "p7") == [{"name": "p7", "age": 1000}]
    assert _one(graph, "zzz") == [{"name": "zzz", "age": 2}]

    graph.optimize()
    graph.query(ALL)
    assert [_one(graph, name)[0]["age"] for name in ("p0", "p7", "zzz")] == [0, 1000, 2]
    assert not _one(graph, "p77")


def test_several_ids_and_what_else_is_asked_of_the_rows(graph: og.Graph) -> None:
    names = ["p5", "p3", "p5", "nobody", "p89", "p2"]
    found = graph.query(SOME, params={"n": names, "age": 2}).rows
    assert [row["name"] for row in found] == ["p3", "p5", "p89"]
    assert not graph.query(SOME, params={"n": [], "age": 2}).rows
    many = [f"p{number}" for number in range(0, PEOPLE, 7)]
    assert len(graph.query(SOME, params={"n": many, "age": -1}).rows) == len(many)


def test_ids_are_put_in_order_only_once_that_pays(
    graph: og.Graph, orders: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "_SCANS_OF_ORDER", 5)
    for _ in range(4):
        _one(graph, "p1")
    assert not orders
    _one(graph, "p1")
    assert orders == [PEOPLE]
