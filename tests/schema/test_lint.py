"""Every finding, each with a schema that causes it."""

import pytest

from omnigraph.model.findings import Finding
from omnigraph.schema import compile_schema, lint_schema

CASES = {
    "nothing to say": ('node A { x: I32 @key } edge E: A -> A @card(0..1) @description("e")', []),
    "S000 does not parse": (
        "node A { x: Int }\nnode b {}",
        [
            ("error", "S000", "parse error: unknown type 'Int'; did you mean 'I64'? (my.pg:1:13)", None, None),
            (
                "error",
                "S000",
                "parse error: type name 'b' does not start with an upper-case letter; write 'B' (my.pg:2:6)",
                None,
                None,
            ),
        ],
    ),
    "S000 does not compile": (
        "edge E: A -> A",
        [
            (
                "error",
                "S000",
                "catalog error: edge E ends at 'A', which is not a node type; declare 'node A { … }' (my.pg:1:9)",
                None,
                None,
            ),
            (
                "error",
                "S000",
                "catalog error: edge E ends at 'A', which is not a node type; declare 'node A { … }' (my.pg:1:14)",
                None,
                None,
            ),
        ],
    ),
    "S201 unused interface": (
        "interface I {}",
        [("warning", "S201", "no node type implements interface I", "I", None)],
    ),
    "S202 index of the key": (
        "node A { x: I32 @key @index @unique }",
        [
            ("warning", "S202", "@index(x) adds nothing: the key is unique and indexed", "A", "x"),
            ("warning", "S202", "@unique(x) adds nothing: the key is unique and indexed", "A", "x"),
        ],
    ),
    "S202 index of an end": (
        "node A {} edge E: A -> A { @index(src) @unique(dst) }",
        [("warning", "S202", "@index(src) adds nothing: the ends of edges are always indexed", "E", "src")],
    ),
    "S203 unique list": (
        "node A { x: [I32]? @unique(x) }",
        [("warning", "S203", "no value can be stored: @unique cannot compare [I32]", "A", "x")],
    ),
    "S204 misspelt annotation": (
        'node A { x: I32 @desciption("d") @unit }',
        [("warning", "S204", "@desciption is kept, but means nothing; did you mean '@description'?", "A", "x")],
    ),
    "S205 default out of range": (
        'node A { x: I32 @default(-1) @range(x, 0..) s: String @default("b") @check(s, "a") y: F64 @range(y, 0..) }',
        [
            (
                "warning",
                "S205",
                "the default 'b' violates its @check: every insert has to give a value",
                "A",
                "s",
            ),
            ("warning", "S205", "the default -1 violates its @range: every insert has to give a value", "A", "x"),
        ],
    ),
    "S206 old spellings": (
        "nodeA { t: String v: Vector(2) @embed(t) } edge E: A -> A @a @card(0..1)",
        [
            ("info", "S206", "write a space: node A", "A", None),
            ("info", "S206", 'write the text of @embed in quotes: @embed("t")', "A", "v"),
            ("info", "S206", "write @card right behind the ends of the edge", "E", None),
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_findings(text: str, expected: list[tuple[str, ...]]) -> None:
    assert list(lint_schema(text, "my.pg")) == [Finding(*found) for found in expected]


def test_findings_about_a_migration() -> None:
    before = compile_schema("node A { x: I32 y: I32? z: I32 v: Vector(2) } node B {} node C {} edge E: A -> A")
    after = """
        node A { x: String y: I32 new: I32 }
        node C @rename_from("B") {}
        node D @rename_from("Bb") {}
    """
    assert [(f.severity, f.code, f.type_name, f.property_name) for f in lint_schema(after, previous=before)] == [
        ("error", "OG-MF-103", "A", "new"),
        ("error", "OG-MF-106", "A", "x"),
        ("error", "S301", "C", None),
        ("warning", "OG-DS-105", "A", "v"),
        ("warning", "OG-MF-104", "A", "y"),
        ("warning", "OG-DS-104", "A", "z"),
        ("warning", "OG-DS-102", "B", None),
        ("warning", "S302", "D", None),
        ("warning", "OG-DS-103", "E", None),
    ]


def test_json_leaves_out_what_is_not_known() -> None:
    assert Finding("error", "S000", "m").to_json() == {"severity": "error", "code": "S000", "message": "m"}
    assert Finding("info", "S206", "m", "A", "x").to_json() == {
        "severity": "info",
        "code": "S206",
        "message": "m",
        "type_name": "A",
        "property": "x",
    }
