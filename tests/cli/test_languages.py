"""`lint` and `fmt`, as users run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Command

GOOD = """
query older($n: I32) {
    match { $p: Person  $p.age > $n }
    return { $p.name }
}

query rename($who: String, $age: I32) {
    update Person set { age: $age } where name = $who
}
"""
BAD = """
query older($n: I32) {
    match { $p: Persn }
    return { $p.name }
}
query fine($n: I32) { match { $p: Person } return { $p.name } }
"""


@pytest.fixture
def place(omnigraph: Command) -> Command:
    (omnigraph.folder / "good.gq").write_text(GOOD)
    (omnigraph.folder / "bad.gq").write_text(BAD)
    (omnigraph.folder / "broken.gq").write_text("query older( {")
    (omnigraph.folder / "broken.pg").write_text("node Person {\n    name: Strin\n    age: I23\n}\n")
    return omnigraph


def test_queries_against_a_schema_file(place: Command) -> None:
    document = place("lint", "--schema", "people.pg", "--query", "good.gq", "--json").document
    assert document["status"] == "ok"
    assert document["schema_source"] == {"kind": "file", "path": "people.pg"}
    assert document["queries_processed"] == 2
    assert [(one["name"], one["kind"], one["status"]) for one in document["results"]] == [
        ("older", "read", "ok"),
        ("rename", "mutation", "ok"),
    ]
    assert document["results"][0]["operation"]["result"] == [{"name": "name", "kind": "string", "nullable": False}]
    assert place("lint", "--schema", "people.pg", "--query", "good.gq").out.splitlines()[-1].startswith("ok: 2 queries")


def test_queries_against_a_graph(place: Command) -> None:
    place("init", "--schema", "people.pg", "g.omni")
    document = place("lint", "g.omni", "--query", "good.gq", "--json").document
    assert document["schema_source"] == {"kind": "graph", "uri": str(place.folder / "g.omni")}
    assert document["status"] == "ok"


def test_a_wrong_query_says_where_and_what_was_meant(place: Command) -> None:
    ran = place("lint", "--schema", "people.pg", "--query", "bad.gq", code=1)
    assert "bad.gq:3:17" in ran.out
    assert "'Person'" in ran.out
    assert ran.out.splitlines()[-1].startswith("error: 2 queries, 1 error")
    results = place("lint", "--schema", "people.pg", "--query", "bad.gq", "--json", code=1).document["results"]
    assert [one["status"] for one in results] == ["error", "ok"]


def test_a_file_that_does_not_parse_is_q000(place: Command) -> None:
    document = place("lint", "--schema", "people.pg", "--query", "broken.gq", "--json", code=1).document
    assert document["queries_processed"] == 0
    assert document["errors"] == 1
    assert [one["code"] for one in document["findings"]] == ["Q000"]


def test_a_schema_alone(place: Command) -> None:
    assert place("lint", "--schema", "people.pg").out == "ok: 0 errors, 0 warnings\n"
    document = place("lint", "--schema", "broken.pg", "--json", code=1).document
    assert document["errors"] == 2
    assert {one["code"] for one in document["findings"]} == {"S000"}
    place("lint", "--schema", "broken.pg", "--query", "good.gq", code=1)


def test_a_schema_against_the_graph_it_would_change(place: Command) -> None:
    place("init", "--schema", "people.pg", "g.omni")
    (place.folder / "next.pg").write_text("node Person {\n    name: String @key\n    email: String\n}\n")
    document = place("lint", "g.omni", "--schema", "next.pg", "--json", code=1).document
    assert "OG-MF-103" in [one["code"] for one in document["findings"]]


def test_nothing_to_check_is_a_bad_request(place: Command) -> None:
    for arguments in (["lint"], ["lint", "--query", "good.gq"], ["lint", "--schema", "none.pg"]):
        assert place(*arguments, code=1).err.startswith("error: ")


def test_fmt_formats_once_and_keeps_comments(place: Command) -> None:
    messy = "// people\nquery  q(){match{$p:Person}return{$p.name}} // all\n"
    (place.folder / "messy.gq").write_text(messy)
    (place.folder / "messy.pg").write_text("node Person{name:String @key//the key\n}\n")
    assert "would change messy.gq" in place("fmt", "--check", "messy.gq", code=1).out
    assert (place.folder / "messy.gq").read_text() == messy
    done = place("fmt", "messy.gq", "messy.pg", "--json").document
    assert done == {"files": 2, "changed": ["messy.gq", "messy.pg"]}
    text = (place.folder / "messy.gq").read_text()
    assert "// people" in text
    assert "// all" in text
    assert "//the key" in (place.folder / "messy.pg").read_text()
    assert place("fmt", "messy.gq", "messy.pg").out == "2 files, 0 changed\n"
    place("fmt", "--check", "messy.gq")


def test_fmt_of_a_folder_touches_nothing_if_one_text_is_wrong(place: Command) -> None:
    before = {path: path.read_text() for path in Path(place.folder).glob("*.[gp]*")}
    ran = place("fmt", ".", code=1)
    assert "broken.gq:1:" in ran.err
    assert {path: path.read_text() for path in before} == before


def test_fmt_of_standard_input(place: Command) -> None:
    done = place("fmt", "--stdin", "pg", given="node Person{name:String @key}")
    assert done.out.startswith("node Person {\n")
    assert place("fmt", "--stdin", "sql", code=1).err.startswith("error: ")
    assert place("fmt", "people.txt", code=1).err.startswith("error: ")
