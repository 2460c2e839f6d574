"""An export in tasks: the same rows as in process, in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import omnigraph as og
from omnigraph.model.errors import BadRequest
from tests.export.test_roundtrip import SCHEMA, same

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_parts_are_the_graph(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnigraph.pipeline.export.cut.__defaults__", (None, 5))
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA)
    for start in (0, 7, 14):
        names = [f"n{number}" for number in range(start, start + 7)]
        things = [{"type": "Thing", "data": {"name": name, "file": name.encode(), "v": [1, 2, 3]}} for name in names]
        graph.load([*things, {"edge": "Links", "from": names[0], "to": names[1], "data": {"since": 5}}])
    result = graph.export(tmp_path / "out", spark=spark)
    assert result.nodes == {"Loose": 0, "Thing": 21}
    assert [name for name in result.files if "Thing" in name] == [
        f"nodes/Thing/part-{part:05}-00000.jsonl" for part in range(3)
    ]
    again = og.init(tmp_path / "b.omni", schema=SCHEMA)
    again.load(b"".join((tmp_path / "out" / name).read_bytes() for name in result.files))
    same(graph, again)
    with pytest.raises(BadRequest, match="not a file"):
        graph.export(tmp_path / "one.jsonl", spark=spark)
