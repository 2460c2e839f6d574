"""`load`, `mutate`, `schema` and `blob` as users run them."""

from __future__ import annotations

import json

import pytest

PEOPLE = '{"type":"Person","data":{"name":"ada","age":36}}\n{"type":"Person","data":{"name":"bob"}}\n'
KNOWS = '{"edge":"knows","from":"ada","to":"bob","data":{"since":"2020-01-01"}}\n'


@pytest.fixture
def loaded(graph) -> str:
    (graph.folder / "data.jsonl").write_text(PEOPLE + KNOWS)
    graph("load", "--data", "data.jsonl", "--mode", "append", "g.omni")
    return "g.omni"


def test_load_says_what_it_did(graph) -> None:
    (graph.folder / "data.jsonl").write_text(PEOPLE + KNOWS)
    ran = graph("load", "--data", "data.jsonl", "--mode", "append", "g.omni", "--json")
    document = ran.document
    assert document["nodes"] == [{"name": "Person", "entities_loaded": 2}]
    assert document["edges"] == [{"name": "Knows", "entities_loaded": 1}]
    assert document["total_entities"] == 3
    assert document["commit"]["graph_commit_id"]
    assert "omnigraph load →" in ran.err


def test_load_lists_everything_that_is_wrong(omnigraph, loaded) -> None:
    (omnigraph.folder / "bad.jsonl").write_text('{"type":"Persn"}\nnot json\n{"edge":"Knows","from":"ada","to":"x"}\n')
    ran = omnigraph("load", "--data", "bad.jsonl", "--mode", "merge", loaded, code=1)
    assert "line 1" in ran.err
    assert "line 2" in ran.err
    assert "line 3: edge Knows: dst 'x' not found in Person" in ran.err
    document = omnigraph("load", "--data", "bad.jsonl", "--mode", "merge", loaded, "--json", code=1).document
    assert document["code"] == "bad_request"
    assert document["validation"]["total"] == 3


def test_load_conflict(omnigraph, loaded) -> None:
    document = omnigraph("load", "--data", "data.jsonl", "--mode", "append", loaded, "--json", code=1).document
    assert document["key_conflict"] == {"entity_kind": "node", "type_name": "Person", "entity_id": "ada"}


def test_load_into_a_new_branch(omnigraph, loaded) -> None:
    (omnigraph.folder / "more.jsonl").write_text('{"type":"Person","data":{"name":"eve"}}\n')
    ran = omnigraph("load", "--data", "more.jsonl", "--mode", "merge", "--branch", "work", "--from", "main", loaded)
    assert "branch made from main" in ran.out
    assert omnigraph("branch", "list", "--uri", loaded, "--json").document["branches"] == ["main", "work"]


def test_load_csv(omnigraph, loaded) -> None:
    (omnigraph.folder / "p.csv").write_text("who,age\neve,5\nfay,x\n")
    arguments = ("load", "--data", "p.csv", "--type", "Person", "--map", "who=name", "--mode", "merge", loaded)
    assert "row 2" in omnigraph(*arguments, code=1).err
    (omnigraph.folder / "p.csv").write_text("who,age\neve,5\nfay,\n")
    assert "2 Person" in omnigraph(*arguments).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "nowhere.jsonl", "--mode", "merge"), "nowhere.jsonl"),
        (("--data", "data.jsonl", "--mode", "mrege"), "append, merge or overwrite"),
        (("--data", "data.jsonl", "--mode", "merge", "--map", "x"), "COLUMN=PROPERTY"),
        (("--data", "data.jsonl", "--mode", "merge", "--branch", "nope"), "nope"),
        (("--data", "data.jsonl", "--mode", "merge", "--format", "xml"), "unknown format"),
    ],
)
def test_load_refuses(omnigraph, loaded, arguments, message) -> None:
    assert message in omnigraph("load", *arguments, loaded, code=1).err


def test_mutate(omnigraph, loaded) -> None:
    (omnigraph.folder / "q.gq").write_text(
        "query grow($n: String) { update Person set { age: age + 1 } where name = $n }\n"
        'query add() { insert Person { name: "eve" } }\n'
    )
    ran = omnigraph(
        "mutate", "grow", "--query", "q.gq", "--params", '{"n": "ada"}', "--uri", loaded, "--as", "ann", "--json"
    )
    assert ran.document["affected_nodes"] == 1
    assert ran.document["commit"]["actor_id"] == "ann"
    ran = omnigraph("mutate", "grow", "--query", "q.gq", "--params", '{"n": "nobody"}', "--uri", loaded, "--json")
    assert ran.document["commit"] is None
    assert "multiple queries" in omnigraph("mutate", "--query", "q.gq", "--uri", loaded, code=1).err
    assert "commit" in omnigraph("mutate", "-e", 'query x() { delete Person where name = "bob" }', "--uri", loaded).out


def test_mutate_on_a_condition(omnigraph, loaded) -> None:
    text = 'query x() { insert Person { name: "eve" } }'
    head = omnigraph("commit", "list", loaded, "--json").document["commits"][0]["graph_commit_id"]
    omnigraph("mutate", "-e", text, "--uri", loaded, "--if-commit", head)
    ran = omnigraph("mutate", "-e", text, "--uri", loaded, "--if-commit", head, "--json", code=4)
    assert ran.document["precondition_failure"]["expected"] == head


def test_mutate_points_at_what_is_wrong(omnigraph, loaded) -> None:
    ran = omnigraph("mutate", "-e", "query x() { insert Persn { name: 1 } }", "--uri", loaded, code=1)
    assert "did you mean" in ran.err
    assert "no JSON" in omnigraph("mutate", "-e", "query x() { }", "--params", "{", "--uri", loaded, code=1).err
    assert "give the query once" in omnigraph("mutate", "--uri", loaded, code=1).err


def test_schema(omnigraph, loaded) -> None:
    source = omnigraph("schema", "show", loaded, "--json").document["schema_source"]
    (omnigraph.folder / "new.pg").write_text(source.replace("age: I32?", "age: I64?\n    nick: String?"))
    plan = omnigraph("schema", "plan", loaded, "--schema", "new.pg", "--json").document
    assert plan["supported"]
    assert plan["step_count"] == 2
    done = omnigraph("schema", "apply", loaded, "--schema", "new.pg", "--json").document
    assert done["applied"]
    assert "nick" in omnigraph("schema", "show", loaded).out
    assert not omnigraph("schema", "apply", loaded, "--schema", "new.pg", "--json").document["applied"]
    (omnigraph.folder / "bad.pg").write_text(source.replace("age: I32?", "age: String"))
    assert "OG-MF-106" in omnigraph("schema", "apply", loaded, "--schema", "bad.pg", code=1).err


def test_blob(omnigraph) -> None:
    (omnigraph.folder / "b.pg").write_text("node Doc { name: String @key  body: Blob? }\n")
    (omnigraph.folder / "b.jsonl").write_text('{"type":"Doc","data":{"name":"d","body":"base64:aGVsbG8="}}\n')
    omnigraph("init", "--schema", "b.pg", "b.omni")
    omnigraph("load", "--data", "b.jsonl", "--mode", "append", "b.omni")
    assert omnigraph("blob", "get", "node", "Doc", "d", "body", "--uri", "b.omni").out == "hello"
    arguments = ("--offset", "1", "--length", "3", "--out", "part.bin", "--uri", "b.omni")
    omnigraph("blob", "get", "node", "Doc", "d", "body", *arguments)
    assert (omnigraph.folder / "part.bin").read_bytes() == b"ell"
    stat = omnigraph("blob", "stat", "node", "Doc", "d", "body", "--uri", "b.omni", "--json").document
    assert (stat["kind"], stat["size"]) == ("managed", 5)
    assert json.dumps(stat["selector"]) == '{"entity": "node", "type": "Doc", "id": "d", "property": "body"}'
    assert "there is no" in omnigraph("blob", "stat", "node", "Doc", "x", "body", "--uri", "b.omni", code=1).err
