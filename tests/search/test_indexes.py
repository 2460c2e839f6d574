"""Indexes follow their tables: what is covered, what is pending, and that content never changes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omnigraph.graph import Graph, init_graph, open_graph
from omnigraph.search import upkeep

SCHEMA = """
node Note {
    slug: String @key
    kind: enum(a, b) @index
    size: I64? @index
    text: String? @index
    v: Vector(4)? @index
}
node Plain {
    name: String
}
edge Cites: Note -> Note
"""
WORDS = ["graph", "table", "lance", "cat", "dog", "river", "running", "quickly", "index", "vector", "search"]


def record(number: int, seed: int = 0, size: str = "size") -> dict[str, Any]:
    draw = random.Random(number * 1000 + seed)
    text = None if number % 11 == 0 else " ".join(draw.choices(WORDS, k=draw.randint(0, 8)))
    vector = None if number % 7 == 0 else [draw.uniform(-1, 1) for _ in range(4)]
    data = {"slug": f"n{number}", "kind": draw.choice("ab"), size: draw.randint(0, 50), "text": text, "v": vector}
    return {"type": "Note", "data": data}


def notes(start: int, end: int, seed: int = 0, size: str = "size") -> list[dict[str, Any]]:
    return [record(number, seed, size) for number in range(start, end)]


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return init_graph(tmp_path / "g", SCHEMA)


def states(graph: Graph) -> dict[str, str]:
    return {f"{each.table}.{each.column}.{each.form}": each.state for each in graph.indexes.status()}


def content(graph: Graph) -> list[dict[str, Any]]:
    return sorted(graph.snapshot().table("node:Note").scan().to_pylist(), key=lambda row: row["id"])


def test_every_declared_index_is_built_and_extended(graph: Graph) -> None:
    graph.load(notes(0, 600))
    graph.load([{"edge": "Cites", "from": "n1", "to": "n2"}])
    assert set(states(graph).values()) == {"missing", "ready"}
    assert {name for name, state in states(graph).items() if state == "ready"} == {"node:Plain.id.BTREE"}, "it is empty"
    before, head = content(graph), graph.snapshot().commit_id
    done = {each.key: each for each in graph.optimize()}
    assert done["node:Note"].is_committed
    assert not done["node:Plain"].is_committed
    assert done["node:Note"].pending == ()
    assert set(states(graph).values()) == {"ready"}
    assert set(states(graph)) == {
        "node:Note.id.BTREE",
        "node:Note.slug.BTREE",
        "node:Note.slug.INVERTED",
        "node:Note.kind.BTREE",
        "node:Note.size.BTREE",
        "node:Note.text.BTREE",
        "node:Note.text.INVERTED",
        "node:Note.v.IVF_FLAT",
        "node:Plain.id.BTREE",
        "edge:Cites.id.BTREE",
        "edge:Cites.src.BTREE",
        "edge:Cites.dst.BTREE",
    }
    assert content(graph) == before
    assert graph.snapshot().commit_id == head, "upkeep is no commit"
    graph.load(notes(600, 610))
    assert states(graph)["node:Note.text.INVERTED"] == "partial"
    again = {each.key: each for each in graph.optimize()}
    assert again["node:Note"].is_committed
    assert not again["edge:Cites"].is_committed, "there was nothing to do"
    assert set(states(graph).values()) == {"ready"}
    assert not any(each.is_committed for each in graph.optimize())


def test_a_vector_index_waits_for_vectors(graph: Graph) -> None:
    graph.load(notes(0, 20))
    (pending,) = next(each for each in graph.optimize() if each.key == "node:Note").pending
    assert pending.column == "v"
    assert "256" in pending.reason
    assert states(graph)["node:Note.v.IVF_FLAT"] == "pending"
    assert states(graph)["node:Note.text.INVERTED"] == "ready"


def test_optimizing_makes_few_fragments_and_drops_what_was_deleted(graph: Graph) -> None:
    for number in range(6):
        graph.load(notes(number * 10, number * 10 + 10), mode="append")
    graph.mutate("query q($s: String) { delete Note where slug = $s }", "q", {"s": "n3"})
    before = content(graph)
    done = next(each for each in graph.optimize() if each.key == "node:Note")
    assert done.fragments_removed >= 2
    assert done.fragments_added == 1
    assert content(graph) == before
    assert len(graph.snapshot().table("node:Note").fragments()) == 1


def test_what_is_written_meanwhile_stays(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    graph.load(notes(0, 300))
    graph.load([{"type": "Plain", "data": {"name": "x"}}])
    other = open_graph(graph.uri)
    publish = graph.repository.publish_upkeep

    def late(state: Any, staged: Any) -> Any:
        other.load(notes(300, 301))
        return publish(state, staged)

    monkeypatch.setattr(graph.repository, "publish_upkeep", late)
    done = {each.key: each for each in graph.optimize()}
    assert done["node:Plain"].is_committed
    assert done["node:Note"].is_lost
    assert len(content(graph)) == 301


def test_a_fold_indexes_what_it_made_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "ROWS_MIN", 16)
    monkeypatch.setattr(upkeep, "VECTORS_MIN", 8)
    graph = init_graph(tmp_path / "g", SCHEMA)
    for number in range(0, 64, 2):
        graph.load(notes(number, number + 2), mode="append")
    found = states(graph)
    assert found["node:Note.text.INVERTED"] in ("ready", "partial")
    assert found["node:Note.id.BTREE"] in ("ready", "partial")
    assert [row["slug"] for row in content(graph)] == sorted(f"n{number}" for number in range(64))


def test_indexes_tell_the_truth_through_any_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds, upserts, deletions, compaction, schema changes over indexed fragments: Lance finds what a scan does."""
    monkeypatch.setattr(upkeep, "ROWS_MIN", 8)
    monkeypatch.setattr(upkeep, "VECTORS_MIN", 8)
    graph = init_graph(tmp_path / "g", SCHEMA)
    draw = random.Random(5)
    size = "size"
    for turn in range(28):
        start = draw.randrange(0, 60)
        graph.load(notes(start, start + draw.choice((1, 2, 9)), seed=turn, size=size), mode="merge")
        if draw.random() < 0.3:
            doomed = f"n{draw.randrange(0, 60)}"
            graph.mutate("query q($s: String) { delete Note where slug = $s }", "q", {"s": doomed})
        if draw.random() < 0.2:
            graph.optimize()
        if turn == 14:
            size = "weight"
            graph.schema.apply(SCHEMA.replace("size: I64? @index", 'weight: I64? @index @rename_from("size")'))
        check(graph, size)


def check(graph: Graph, number: str) -> None:
    table: Any = graph.snapshot().table("node:Note")
    rows = {row["id"]: row for row in table.scan().to_pylist()}
    for value in (3, 20):
        found = table.scan(["id"], where=f"{number} = {value}").column("id").to_pylist()
        assert sorted(found) == sorted(each for each, row in rows.items() if row[number] == value)
    for word in ("graph", "running"):
        hits = table.dataset.scanner(columns=["id", "_score"], full_text_query={"columns": ["text"], "query": word})
        found = hits.to_table().column("id").to_pylist()
        assert sorted(found) == sorted(
            each for each, row in rows.items() if row["text"] and word in row["text"].split()
        )
    goal = np.array([1, 0, 0, 0], "f4")
    nearest = {"column": "v", "q": goal, "k": 10_000, "metric": "cosine", "minimum_nprobes": 100}
    found = table.dataset.scanner(columns=["id", "_distance"], nearest=nearest).to_table().column("id").to_pylist()
    assert sorted(found) == sorted(each for each, row in rows.items() if row["v"] is not None)
