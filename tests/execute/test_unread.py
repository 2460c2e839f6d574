"""Nodes that only their edges are wanted of: when they are not looked up, and that nothing else changes by it."""

from __future__ import annotations

from typing import Any

import pytest

import omnigraph as og
from omnigraph.execute import choose
from omnigraph.execute.explain import Explanation
from omnigraph.manifest import Snapshot

SCHEMA = """
node Person { name: String @key  nick: String?  age: I32? }
node Number { value: I32 @key }
node Spot { x: I32  y: I32  @key(x, y) }
edge Knows: Person -> Person
edge Likes: Person -> Number
edge At: Person -> Spot
"""
PEOPLE = [{"name": name, "nick": name.upper(), "age": age} for age, name in enumerate(["ann", "bob", "cyd", "dee"])]
EDGES = [("Knows", "ann", "bob"), ("Knows", "ann", "cyd"), ("Knows", "cyd", "ann"), ("Likes", "ann", "7"),
         ("At", "bob", '["1","2"]')]  # fmt: skip
TRUSTED = [
    '$p: Person { name: "ann" } $p knows $f } return { $f.@id }',
    '$p: Person { name: "ann" } $p knows $f } return { $p.name, $f.name }',
    '$p: Person { name: "nobody" } $p knows $f } return { $f.name }',
    '$p: Person { name: "nobody" } $p knows $f } return { count($f) as n }',
    '$p: Person $p.@id = "ann" $p knows $f } return { count(distinct $p) as n }',
    '$p: Person $p.name in ["ann", "nobody", "ann"] $p knows $f } return { $p.@id, $f.nick }',
    '$p: Person { name: "ann" } $f knows $p } return { $f.name }',
    '$p: Person { name: "ann" } $p <knows> $f } return { $f.name }',
    '$p: Person { name: "ann" } $p knows{1,3} $f } return { $f.name }',
    "$n: Number { value: 7 } $p likes $n } return { $p.name }",
    "$s: Spot { x: 1, y: 2 } $p at $s } return { $p.name }",
]
LOOKED_UP = [
    '$p: Person { name: "ann" } } return { $p.@id }',
    '$p: Person { name: "nobody" } } return { $p.@id }',
    '$p: Person { name: "nobody" } } return { count($p) as n }',
    '$p: Person { name: "dee" } optional { $p knows $f } } return { $p.@id, $f.@id }',
    '$p: Person { name: "nobody" } optional { $p knows $f } } return { $p.@id, $f.@id }',
    '$p: Person { name: "dee" } not { $p knows $f } } return { $p.@id }',
    '$p: Person { name: "nobody" } not { $p knows $f } } return { $p.@id }',
    '$p: Person { name: "nobody" } count { $p knows $f } = 0 } return { $p.@id }',
    '$p: Person { name: "ann", nick: "ANN" } $p knows $f } return { $f.@id }',
    '$p: Person { name: "ann" } $p knows $f } return { $p.age, $f.@id }',
    '$p: Person { nick: "ANN" } $p knows $f } return { $f.@id }',
    "$s: Spot { x: 1 } $p at $s } return { $p.name }",
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> og.Graph:
    made = og.init(tmp_path_factory.mktemp("unread") / "g.omni", SCHEMA)
    rows: list[dict[str, Any]] = [{"type": "Person", "data": person} for person in PEOPLE]
    rows += [{"type": "Number", "data": {"value": 7}}, {"type": "Spot", "data": {"x": 1, "y": 2}}]
    rows += [{"edge": kind, "from": start, "to": end} for kind, start, end in EDGES]
    made.load(rows)
    return made


def found(explanation: Explanation) -> str:
    return next(step.text for step in explanation.steps if step.text.startswith("find"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Queries go through indexes; here is which columns were asked for values."""
    monkeypatch.setattr(choose, "starts_with_probes", lambda *_: True)
    columns: list[str] = []
    plainly = Snapshot.find

    def find(self: Snapshot, key: str, column: str, *more: Any) -> Any:
        columns.append(f"{key}.{column}")
        return plainly(self, key, column, *more)

    monkeypatch.setattr(Snapshot, "find", find)
    return columns


def rows(graph: og.Graph, text: str) -> list[dict[str, Any]]:
    """The rows in some order of their own."""
    return sorted(graph.query(f"query q() {{ match {{ {text} }}").rows, key=repr)


@pytest.mark.parametrize("text", TRUSTED)
def test_edges_alone_are_asked(graph: og.Graph, text: str, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(graph.explain(f"query q() {{ match {{ {text} }}")).endswith(", by its edges")
    by_edges = rows(graph, text)
    assert asked[0].startswith("edge:")
    variable = text.split(":", 1)[0]
    asked.clear()
    assert rows(graph, text.replace(" } return", f' {variable}.@id < "~" }} return')) == by_edges
    assert asked[0].startswith("node:")  # with more to test of it, the node is looked up
    monkeypatch.setattr(choose, "starts_with_probes", lambda *_: False)
    assert rows(graph, text) == by_edges


@pytest.mark.parametrize("text", LOOKED_UP)
def test_a_node_is_looked_up_where_its_being_there_counts(
    graph: og.Graph, text: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "by its edges" not in found(graph.explain(f"query q() {{ match {{ {text} }}"))
    by_indexes = rows(graph, text)
    if "nobody" in text:
        assert by_indexes == ([{"n": 0}] if "count($p)" in text else [])
    monkeypatch.setattr(choose, "starts_with_probes", lambda *_: False)
    assert rows(graph, text) == by_indexes


def test_one_hop_by_id_is_one_look(graph: og.Graph, asked: list[str]) -> None:
    text = '$p: Person { name: "ann" } $p knows $f } return { $f.name }'
    assert rows(graph, text) == [{"f.name": "bob"}, {"f.name": "cyd"}]
    assert asked == ["edge:Knows.src"]
    asked.clear()
    rows(graph, text.replace("$f.name", "$f.nick"))
    assert asked == ["edge:Knows.src", "node:Person.id"]


def test_a_profile_shows_that_nothing_is_read(graph: og.Graph, asked: list[str]) -> None:
    text = 'query q() { match { $p: Person { name: "ann" } $p knows $f } return { $f.@id } }'
    cold = og.open(graph.uri)
    runs = [step.run for step in cold.profile(text).steps]
    assert [(run.rows, run.requests > 0) for run in runs if run is not None] == [(1, False), (2, True), (2, False)]
