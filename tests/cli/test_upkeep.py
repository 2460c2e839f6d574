"""`optimize`, `index status`, `repair` and `embed` as users run them."""

from __future__ import annotations

import json

PEOPLE = '{"type":"Person","data":{"name":"ada","age":36}}\n{"type":"Person","data":{"name":"bob"}}\n'


def load(graph) -> None:
    (graph.folder / "data.jsonl").write_text(PEOPLE)
    graph("load", "--data", "data.jsonl", "--mode", "append", "g.omni")


def test_optimize_and_index_status(graph) -> None:
    load(graph)
    before = graph("index", "status", "g.omni", "--json").document
    states = {(each["type_key"], each["property"], each["kind"]): each["state"] for each in before["indexes"]}
    assert states["node:Person", "name", "inverted"] == "missing"
    done = graph("optimize", "g.omni", "--json").document
    person = next(each for each in done["datasets"] if each["type_key"] == "node:Person")
    assert person["committed"] is True
    assert person["skipped"] is None
    assert person["pending_indexes"] == []
    assert person["published_dataset_version"] == person["lance_head_version"]
    assert "nothing to do" in graph("optimize", "g.omni").out
    assert "ready" in graph("index", "status", "g.omni").out


def test_there_is_never_anything_to_repair(graph) -> None:
    load(graph)
    document = graph("repair", "g.omni", "--json").document
    assert {each["classification"] for each in document["datasets"]} == {"no_drift"}
    assert {each["action"] for each in document["datasets"]} == {"no_op"}
    assert (document["confirm"], document["force"]) == (False, False)
    assert "no_drift" in graph("repair", "g.omni", "--force", "--confirm").out
    assert "--confirm" in graph("repair", "g.omni", "--force", code=1).err


def test_embed_fills_records_in_files(omnigraph) -> None:
    spec = {"dimension": 2, "types": {"Person": {"target": "v", "fields": ["name"]}}}
    (omnigraph.folder / "spec.json").write_text(json.dumps(spec))
    (omnigraph.folder / "data.jsonl").write_text(PEOPLE)
    arguments = ("embed", "--input", "data.jsonl", "--output", "out.jsonl", "--spec", "spec.json", "--json")
    mock = {"OMNIGRAPH_EMBEDDINGS_MOCK": "1"}
    document = omnigraph(*arguments, env=mock).document
    assert document == {
        "input": "data.jsonl",
        "output": "out.jsonl",
        "records": 2,
        "selected_records": 2,
        "embedded_records": 2,
        "cleaned_records": 0,
        "mode": "fill_missing",
        "dimension": 2,
        "model": "mock",
    }
    assert len((omnigraph.folder / "out.jsonl").read_text().splitlines()) == 2
    assert omnigraph(*arguments, "--select", "name=ada", env=mock).document["mode"] == "reembed_selected"
    assert "exclude each other" in omnigraph(*arguments, "--clean", "--reembed-all", env=mock, code=1).out
    assert "--seed" in omnigraph("embed", "--input", "data.jsonl", env=mock, code=1).err


def test_embed_fills_what_a_graph_lacks(omnigraph) -> None:
    (omnigraph.folder / "notes.pg").write_text('node Note { text: String @key  at: Vector(4)? @embed("text") }')
    (omnigraph.folder / "notes.jsonl").write_text('{"type":"Note","data":{"text":"a"}}\n')
    omnigraph("init", "--schema", "notes.pg", "notes.omni")
    omnigraph("load", "notes.omni", "--data", "notes.jsonl", "--mode", "append")
    mock = {"OMNIGRAPH_EMBEDDINGS_MOCK": "1"}
    document = omnigraph("embed", "notes.omni", "--as", "ada", "--json", env=mock).document
    assert document["commit"]["actor_id"] == "ada"
    assert document["branch"] == "main"
    assert "no vector is missing" in omnigraph("embed", "--store", "notes.omni", "--type", "Note", env=mock).out
    assert omnigraph("embed", "notes.omni", "--reembed-all", env=mock).out.startswith("commit ")
    assert "not both" in omnigraph("embed", "notes.omni", "--input", "notes.jsonl", env=mock, code=1).err
