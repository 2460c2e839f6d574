"""`query`, `explain` and `repl` as users run them."""

from __future__ import annotations

import io
import json

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

import omnigraph as og
from omnigraph.cli.repl import Repl, WordCompleter, is_complete, whole_query
from omnigraph.cli.results import ReadFormat, print_result
from omnigraph.query import compile_queries
from omnigraph.schema import compile_schema
from tests.cli.conftest import SCHEMA

QUERIES = """
query people() { match { $p: Person } return { $p.name, $p.age } order { $p.name } }
query named($name: String) { match { $p: Person { name: $name } } return { $p } }
"""


class Terminal(io.StringIO):
    """Standard input as a person has it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def people(tmp_path) -> og.Graph:
    graph = og.init(tmp_path / "people.omni", SCHEMA)
    graph.load(
        [
            {"type": "Person", "data": {"name": "ada", "age": 36}},
            {"type": "Person", "data": {"name": 'b "the" ob,'}},
            {"edge": "Knows", "from": "ada", "to": 'b "the" ob,', "data": {"since": "2020-01-01"}},
        ],
        mode="append",
    )
    return graph


def printed(graph: og.Graph, form: ReadFormat, capsys: pytest.CaptureFixture[str]) -> str:
    print_result(graph.query(QUERIES, "people"), form)
    return capsys.readouterr().out


def test_table(people: og.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(people, ReadFormat.TABLE, capsys).splitlines() == [
        "2 rows from branch main via people",
        "p.name      | p.age",
        "------------+------",
        "ada         | 36",
        'b "the" ob, | null',
    ]


@pytest.mark.parametrize(
    ("layout", "lines"),
    [("truncate", ["one two t… | 7"]), ("wrap", ["one two    | 7", "three four |"])],
)
def test_long_cells_are_laid_out_as_the_operator_likes(omnigraph, layout: str, lines: list[str]) -> None:
    home = omnigraph.folder / ".omnigraph"
    home.mkdir()
    (home / "config.yaml").write_text(f"defaults: {{table_max_column_width: 10, table_cell_layout: {layout}}}\n")
    graph = og.init(omnigraph.folder / "long.omni", SCHEMA)
    graph.load([{"type": "Person", "data": {"name": "one two three four", "age": 7}}])
    out = omnigraph("query", "people", "-e", QUERIES.splitlines()[1], "--uri", "long.omni").out.splitlines()
    assert out[1:3] == ["p.name     | p.age", "-----------+------"]
    assert out[3:] == lines


def test_kv(people: og.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(people, ReadFormat.KV, capsys).splitlines()
    assert lines == [
        "2 rows from branch main via people",
        *("row 1", "p.name: ada", "p.age: 36"),
        *("row 2", 'p.name: b "the" ob,', "p.age: null"),
    ]


def test_csv(people: og.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(people, ReadFormat.CSV, capsys) == 'p.name,p.age\nada,36\n"b ""the"" ob,",\n'


def test_jsonl(people: og.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    head, *rows = map(json.loads, printed(people, ReadFormat.JSONL, capsys).splitlines())
    target = {"branch": "main", "snapshot": None}
    assert head == {"kind": "metadata", "query_name": "people", "target": target, "row_count": 2}
    assert rows == [{"p.name": "ada", "p.age": 36}, {"p.name": 'b "the" ob,', "p.age": None}]


def test_json(people: og.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(people, ReadFormat.JSON, capsys))
    assert list(document) == ["query_name", "target", "row_count", "columns", "rows", "graph_commit_id"]
    assert document["columns"] == ["p.name", "p.age"]
    assert document["graph_commit_id"] == people.snapshot().commit_id


def test_the_command(omnigraph, people: og.Graph) -> None:
    (omnigraph.folder / "people.gq").write_text(QUERIES)
    at = ("--uri", "people.omni")
    named = ("query", "named", "--query", "people.gq", "--params", '{"name": "ada"}', *at)
    assert omnigraph(*named, "--json").document["rows"] == [{"p": {"@id": "ada", "age": 36, "name": "ada"}}]
    assert omnigraph("read", *named[1:], "--format", "csv").out.startswith("p\n")
    head = people.snapshot().commit_id
    ran = omnigraph("query", "people", "--query", "people.gq", *at, "--snapshot", head)
    assert ran.out.startswith(f"2 rows from snapshot {head} via people\n")


def test_what_the_command_refuses(omnigraph, people: og.Graph) -> None:
    at = ("--uri", "people.omni")
    source = ("-e", QUERIES.splitlines()[1])
    for arguments, text in [
        (at, "give the query once"),
        ((*source, *at, "--format", "csv", "--json"), "give one of them"),
        ((*source, *at, "--branch", "nope"), "branch 'nope' not found"),
        ((*source, *at, "--max-rows", "1"), "exceeds the limit of 1"),
    ]:
        assert text in "".join((omnigraph("query", *arguments, code=1)).__dict__[each] for each in ("out", "err"))
    assert "longer than" in omnigraph("query", *source, *at, "--timeout", "0.000001", code=1).err


def test_explain(omnigraph, people: og.Graph) -> None:
    source = ("-e", QUERIES.splitlines()[1], "--uri", "people.omni")
    assert "find $p: Person" in omnigraph("explain", *source).out
    steps = omnigraph("explain", *source, "--run", "--json").document["steps"]
    assert steps[0]["rows"] == 2


# -- the prompt ------------------------------------------------------------------------------------------


def test_the_prompt_reads_and_writes(people: og.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    repl = Repl(people, "main")
    people.branches.create("other")
    for text in [
        ".format csv",
        "match { $p: Person } return { count($p) as n }",
        'insert Person { name: "eve" }',
        "match { $p: Person } return { count($p) as n }",
        ".branch other",
        "match { $p: Person } return { count($p) as n }",
        '.params {"name": "ada"}',
        "query q($name: String) { match { $p: Person { name: $name } } return { $p.age } }",
        ".explain match { $p: Person } return { $p.name }",
        ".profile match { $p: Person } return { $p.name }",
        ".schema",
        ".help",
    ]:
        repl.answer(text)
    out, err = capsys.readouterr()
    assert err == ""
    assert [line for line in out.splitlines() if line.isdigit()] == ["2", "3", "2", "36"]
    assert "1 node, 0 edges on main; commit" in out
    assert "find $p: Person" in out
    assert "node Person" in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (".brnch x", "did you mean 'branch'"),
        (".branch nope", "branch 'nope' not found"),
        (".format xml", "formats are table"),
        (".params [1]", "JSON object"),
        (".params {", "no JSON"),
        ("match { $p: Persn } return { $p }", "did you mean 'Person'"),
        ("query q() {", "parse error"),
        ("insert Person { age: 3 }", "name"),
    ],
)
def test_the_prompt_tells_what_is_wrong(
    people: og.Graph, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    Repl(people, "main").answer(text)
    assert told in capsys.readouterr().err


def test_a_conversation(
    people: og.Graph, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMNIGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sys.stdin", Terminal())
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("match { $p: Person }\rreturn { count($p) as n }\r.quit\r")
        Repl(people, "main").run()
    assert "1 row from branch main" in capsys.readouterr().out
    assert "return { count" in (tmp_path / "home" / "history").read_text()


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("match { $p: Person } return { $p }", True),
        ("match { $p: Person }", False),
        ("match {", False),
        ('insert Person { name: "}" ', False),
        ('insert Person { name: "a\\"}" }', True),
        ("query q() { // }", False),
        ('insert Person { name: "', False),
        (".help", True),
    ],
)
def test_when_an_input_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


def test_bare_queries_become_whole() -> None:
    catalog = compile_schema(SCHEMA)
    for text in (
        "match { $p: Person } return { $p }",
        'insert Person { name: "a" } // why',
        "match{$p: Person} return {$p}",
    ):
        assert len(compile_queries(whole_query(text), catalog).queries) == 1


@pytest.mark.parametrize(
    ("before", "offered", "not_offered"),
    [
        ("match { $p: Pe", "Person", "name"),
        ("match { $p.na", "name", "Person"),
        ("match { $p kn", "knows", "Person"),
        ("mat", "match", "return"),
        ("return { cou", "count", "name"),
    ],
)
def test_completion(before: str, offered: str, not_offered: str) -> None:
    found = WordCompleter(compile_schema(SCHEMA)).get_completions(Document(before), CompleteEvent())
    words = [completion.text for completion in found]
    assert offered in words
    assert not_offered not in words


def test_what_is_piped_in_is_answered(people: og.Graph, omnigraph) -> None:
    lines = """
    .format csv

    query all() {
        match { $p: Person }
        return { count($p) as n }
    }
    insert Person { name: "eve" }
    .quit
    insert Person { name: "nobody" }
    """
    ran = omnigraph("repl", "people.omni", given=lines)
    assert ran.out.splitlines()[:2] == ["n", "2"]
    assert ran.err == ""
    assert "1 node, 0 edges on main; commit" in ran.out
    ran = omnigraph("repl", "people.omni", given="match { $p: Persn } return { $p.name }\n.branch main\n", code=1)
    assert "did you mean 'Person'" in ran.err
    assert "parse error" in omnigraph("repl", "people.omni", given="query q() { match {", code=1).err
