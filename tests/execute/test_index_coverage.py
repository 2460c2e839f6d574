"""A query gives the same rows whether its indexes cover nothing, a part or everything."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from omnigraph.execute import choose, searching
from omnigraph.execute.cache import shared_cache
from omnigraph.graph import Graph, init_graph
from omnigraph.manifest import Snapshot

SCHEMA = """
node Note {
    slug: String @key
    text: String? @index
    size: I64? @index
    v: Vector(6)? @index
}
"""
_TEXT = """
graph graphs graphing database databases naïve naive Straße strasse lazy dogs the of and ½ Ⅷ x86 日本語
हिन्दी universe university pasted past dying die evening organization organ don't re-use ΑΒΓ αβγ
café CAFÉ
"""
WORDS = _TEXT.split()
QUERIES = {
    "search": "match { $n: Note search($n.text, $q) } return { $n.slug as s }",
    "phrase": "match { $n: Note match_text($n.text, $q) } return { $n.slug as s }",
    "neither": "match { $n: Note not search($n.text, $q) = true } return { $n.slug as s }",
    "filtered": "match { $n: Note $n.size > 20 search($n.text, $q) } return { $n.slug as s, bm25($n.text, $q) as b }",
    "fuzzy": "match { $n: Note fuzzy($n.text, $q) } return { $n.slug as s }",
    "bm25": "match { $n: Note } return { $n.slug as s } order { bm25($n.text, $q) desc } limit 7",
    "nearest": "match { $n: Note } return { $n.slug as s, nearest($n.v, $v) as d } order { nearest($n.v, $v) } limit 9",
    "rrf": "match { $n: Note } return { $n.slug as s } order { rrf(nearest($n.v, $v), bm25($n.text, $q)) } limit 9",
    "equal": "match { $n: Note $n.text = $q } return { $n.slug as s }",
    "ordered": "match { $n: Note $n.size >= 45 } return { $n.slug as s }",
}
TEXTS = [
    "graph",
    "lazy dogs",
    "naive strasse",
    "past",
    "dying evening",
    "日本語 हिन्दी",
    "the of",
    "cafe universe",
    "½ x86",
]


def records(count: int) -> list[dict[str, Any]]:
    draw = random.Random(3)
    found: list[dict[str, Any]] = []
    for number in range(count):
        text = None if draw.random() < 0.1 else " ".join(draw.choices(WORDS, k=draw.randint(0, 9)))
        vector = None if draw.random() < 0.1 else [draw.choice((-1.0, 0.0, 0.5, 1.0)) for _ in range(6)]
        data = {"slug": f"n{number:04}", "text": text, "size": draw.randint(0, 50), "v": vector}
        found.append({"type": "Note", "data": data})
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether an index could answer, for each time one was asked."""
    monkeypatch.setattr(searching, "_INDEX_ROWS", 1)
    monkeypatch.setattr(searching, "_NEAR_ROWS", 1)
    monkeypatch.setattr(searching, "_SHARE", 2)
    found: list[bool] = []
    real = Snapshot.text_rows

    def spy(self: Snapshot, *given: Any, **how: Any) -> Any:
        rows = real(self, *given, **how)
        found.append(rows is not None)
        return rows

    monkeypatch.setattr(Snapshot, "text_rows", spy)
    return found


def answers(graph: Graph) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name, body in QUERIES.items():
        for text in TEXTS:
            shared_cache().clear()
            source = f"query q($q: String, $v: Vector(6)) {{ {body} }}"
            rows = graph.query(source, "q", {"q": text, "v": [1, 0.5, -1, 0, 0, 1]}).rows
            found[name, text] = rows if "order" in body else sorted(rows, key=lambda row: row["s"])
    return found


def test_answers_do_not_depend_on_indexes(tmp_path: Path, asked: list[bool]) -> None:
    data = records(700)
    graph = init_graph(tmp_path / "plain", SCHEMA)
    graph.load(data, mode="append")
    expected = answers(graph)
    assert not any(asked), "there is no index yet"
    assert sum(map(len, expected.values())) > 1000
    graph.optimize()
    assert answers(graph) == expected
    assert any(asked)
    partly = init_graph(tmp_path / "partly", SCHEMA)
    partly.load(data[:400], mode="append")
    partly.optimize()
    partly.load(data[400:], mode="append")
    assert {each.state for each in partly.indexes.status()} == {"partial"}
    asked.clear()
    assert answers(partly) == expected
    assert any(asked)


def test_rows_that_were_deleted_or_changed_are_not_found(tmp_path: Path, asked: list[bool]) -> None:
    data = records(300)
    graph = init_graph(tmp_path / "g", SCHEMA)
    graph.load(records(301)[-1:] + data, mode="append")
    graph.optimize()
    graph.mutate("query q($s: String) { delete Note where slug = $s }", "q", {"s": "n0300"})
    changed = [{"type": "Note", "data": {**each["data"], "text": "evening graph"}} for each in data[:20]]
    graph.load(changed, mode="merge")
    fresh = init_graph(tmp_path / "fresh", SCHEMA)
    fresh.load([*changed, *data[20:]], mode="append")
    expected = answers(fresh)
    assert answers(graph) == expected
    graph.optimize()
    assert answers(graph) == expected


def test_both_ways_to_reach_rows_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = init_graph(tmp_path / "g", SCHEMA)
    graph.load(records(150), mode="append")
    found: list[dict[tuple[str, str], list[dict[str, Any]]]] = []
    for by_probes in (True, False):
        monkeypatch.setattr(choose, "starts_with_probes", lambda *_, chosen=by_probes: chosen)
        found.append(answers(graph))
    assert found[0] == found[1]
