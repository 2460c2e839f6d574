"""Vectors of what is in the graph already: in process and in tasks, the same ones, as one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import omnigraph as og
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

SCHEMA = """
node Note { name: String @key  text: String?  at: Vector(8)? @embed("text") }
node Other { name: String @key }
"""
NOTES = [{"type": "Note", "data": {"name": f"n{n}", "text": None if n == 3 else f"text {n}"}} for n in range(6)]


def vectors(graph: og.Graph) -> dict[str, list[float] | None]:
    rows = graph.snapshot().table("node:Note").scan(["id", "at"]).to_pylist()
    return {row["id"]: row["at"] for row in rows}


def test_missing_vectors_are_made(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNIGRAPH_EMBED_PROVIDER", "mock")
    graphs = [og.init(tmp_path / name, schema=SCHEMA, actor="ada") for name in ("local.omni", "spark.omni")]
    for graph in graphs:
        graph.load(NOTES)
        graph.load([{"type": "Note", "data": {"name": "given", "text": "x", "at": [1] + [0] * 7}}])
    local, tasks = graphs
    commit = local.embed()
    assert commit is not None
    assert (commit.operation, commit.actor) == ("embed", "ada")
    assert tasks.embed(["Note"], spark=spark) is not None
    assert vectors(local) == vectors(tasks)
    assert [name for name, vector in vectors(local).items() if vector is None] == ["n3"]
    assert vectors(local)["given"] == [1] + [0] * 7
    assert local.embed() is None
    assert tasks.embed(spark=spark) is None
    assert local.embed(afresh=True) is not None
    assert vectors(local)["given"] != [1] + [0] * 7
    with pytest.raises(BadRequest, match="nothing to embed"):
        local.embed(["Other"])
