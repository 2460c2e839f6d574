"""A load that asks for it gets the vectors it leaves out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from omnigraph.embed import Embedder
from omnigraph.embed.settings import settings_for
from omnigraph.graph import Graph, init_graph
from omnigraph.model.errors import BadRequest
from omnigraph.model.violations import ValidationFailed
from tests.embed.provider import provider

SCHEMA = """
node Note {
    slug: String @key
    text: String?
    v: Vector(3) @embed("text", model="m")
}
"""


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    monkeypatch.setenv("OMNIGRAPH_EMBED_PROVIDER", "mock")
    monkeypatch.delenv("OMNIGRAPH_EMBED_MODEL", raising=False)
    return init_graph(tmp_path / "g", SCHEMA)


def vectors(graph: Graph) -> dict[str, list[float]]:
    rows = graph.snapshot().table("node:Note").scan(["slug", "v"])
    return dict(zip(rows.column("slug").to_pylist(), rows.column("v").to_pylist(), strict=True))


def test_vectors_that_are_left_out_are_made(graph: Graph) -> None:
    records = [
        {"type": "Note", "data": {"slug": "a", "text": "one"}},
        {"type": "Note", "data": {"slug": "b", "text": "two", "v": [1, 0, 0]}},
        {"type": "Note", "data": {"slug": "c", "text": "one", "v": None}},
    ]
    graph.load(records, embed=True)
    made = vectors(graph)
    (expected,) = Embedder(settings_for("mock")).embed(["one"], 3)
    assert made == {"a": expected.tolist(), "b": [1, 0, 0], "c": expected.tolist()}


def test_frames_too(graph: Graph) -> None:
    graph.load(pa.table({"slug": ["a", "b"], "text": ["one", "two"]}), type="Note", embed=True)
    assert len(vectors(graph)) == 2


def test_nobody_is_asked_unless_the_load_says_so(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider() as fake:
        monkeypatch.setenv("OMNIGRAPH_EMBED_PROVIDER", "openai")
        monkeypatch.setenv("OMNIGRAPH_EMBED_BASE_URL", fake.base_url)
        monkeypatch.setenv("OMNIGRAPH_EMBED_MODEL", "m")
        records = [{"type": "Note", "data": {"slug": "a", "text": "one"}}]
        with pytest.raises(ValidationFailed, match="v"):
            graph.load(records)
        assert fake.calls == []
        wrong = [*records, {"type": "Note", "data": {"slug": "b", "text": 7}}]
        with pytest.raises(ValidationFailed) as found:
            graph.load(wrong, embed=True)
        assert [each.property for each in found.value.violations] == ["text"], "what would be made is not missed"
        assert fake.calls == []
        graph.load(records, embed=True)
        assert [body["input"] for _, _, body in fake.calls] == [["one"]]


def test_without_a_text_there_is_no_vector(graph: Graph) -> None:
    with pytest.raises(ValidationFailed, match="v"):
        graph.load([{"type": "Note", "data": {"slug": "a"}}], embed=True)


def test_the_recorded_model_is_enforced(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNIGRAPH_EMBED_MODEL", "other")
    with pytest.raises(BadRequest, match="model 'm'"):
        graph.load([{"type": "Note", "data": {"slug": "a", "text": "x"}}], embed=True)
    query = "query q($t: String) { match { $n: Note } return { $n.slug } order { nearest($n.v, $t) } limit 1 }"
    with pytest.raises(BadRequest, match="model 'm'"):
        graph.query(query, "q", {"t": "x"})
    monkeypatch.setenv("OMNIGRAPH_EMBED_MODEL", "m")
    graph.load([{"type": "Note", "data": {"slug": "a", "text": "x"}}], embed=True)
    assert graph.query(query, "q", {"t": "x"}).rows == [{"n.slug": "a"}]
