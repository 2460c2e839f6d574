"""`export` as users run it."""

from __future__ import annotations

import pytest

LINES = """\
{"edge":"Knows","from":"ada","to":"bob","data":{"id":"k1","since":"2020-01-01"}}
{"type":"Person","data":{"id":"ada","age":36,"name":"ada"}}
{"type":"Person","data":{"id":"bob","age":null,"name":"bob"}}
"""


@pytest.fixture
def loaded(graph) -> str:
    (graph.folder / "data.jsonl").write_text(LINES)
    graph("load", "--data", "data.jsonl", "--mode", "append", "g.omni", "--quiet")
    return "g.omni"


def test_lines_on_standard_output(omnigraph, loaded) -> None:
    assert omnigraph("export", loaded).out == LINES
    assert omnigraph("export", loaded, "--type", "Knows", "--jsonl").out == LINES.splitlines(keepends=True)[0]
    ran = omnigraph("export", loaded, "--type", "Persn", code=1)
    assert "did you mean" in ran.err
    assert ran.out == ""


def test_files_in_a_folder(omnigraph, loaded) -> None:
    ran = omnigraph("export", loaded, "--format", "csv", "--out", "csv", "--json")
    assert ran.document["files"] == ["edges/Knows/part-00000.csv", "nodes/Person/part-00000.csv"]
    assert ran.document["total_entities"] == 3
    text = (omnigraph.folder / "csv/nodes/Person/part-00000.csv").read_text()
    assert text == '"id","age","name"\n"ada","36","ada"\n"bob",,"bob"\n'
    assert "exported 2 nodes and 1 edge to" in omnigraph("export", loaded, "--out", "all.jsonl", "--quiet").out
    assert (omnigraph.folder / "all.jsonl").read_text() == LINES
    assert "not an empty folder" in omnigraph("export", loaded, "--out", "csv", code=1).err
    assert "--out" in omnigraph("export", loaded, "--format", "csv", code=1).err
