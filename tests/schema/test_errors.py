"""Errors point at the exact place, say what was meant, and come all at once."""

import pytest

from omnigraph.model.diagnostics import FINDINGS_MAX, LanguageError
from omnigraph.schema import compile_schema

PLACES = {
    "unknown type": ("node A {\n    x: Strin\n}", [(2, 8, "unknown type 'Strin'", "did you mean 'String'?")]),
    "type in the wrong case": (
        "node A { x: string y: BOOL }",
        [
            (1, 13, "unknown type 'string'", "did you mean 'String'? names are case-sensitive"),
            (1, 23, "unknown type 'BOOL'", "did you mean 'Bool'? names are case-sensitive"),
        ],
    ),
    "type of another language": ("node A { x: integer }", [(1, 13, "unknown type 'integer'", "did you mean 'I64'?")]),
    "type joined to the next word": ("node A { x: Stringx }", [(1, 13, "unknown type 'Stringx'", "mean 'String'?")]),
    "keyword in the wrong case": ("NODE A {}", [(1, 1, "found 'NODE'", "write 'node'")]),
    "keyword misspelt": ("nod A {}", [(1, 1, "found 'nod'", "did you mean 'node'?")]),
    "keyword of another language": ("relationship E: A -> B", [(1, 1, "found 'relationship'", "did you mean 'edge'?")]),
    "enum in the wrong case": ("node A { x: Enum(a) }", [(1, 17, "found '('", "did you mean 'enum'?")]),
    "list of another language": ("node A { x: I32[] }", [(1, 16, "found '['", "[String]")]),
    "unknown end": (
        "node Person {}\nedge Knows: Person -> Persom",
        [(2, 23, "'Persom', which is not a node type", "did you mean 'Person'?")],
    ),
    "end in the wrong case": (
        "node PersonX {} edge E: PersonX -> Personx",
        [(1, 36, "'Personx'", "did you mean 'PersonX'? names are case-sensitive")],
    ),
    "end in lower case": ("node A {} edge E: A -> b", [(1, 24, "type name 'b'", "write 'B'")]),
    "unknown interface": (
        "interface Named {} node A implements Name {}",
        [(1, 38, "'Name', which is not an interface", "did you mean 'Named'?")],
    ),
    "unknown member": (
        "node A { email: String nick: String @unique(emial, Nick) }",
        [
            (1, 45, "names 'emial'", "did you mean 'email'?"),
            (1, 52, "names 'Nick'", "did you mean 'nick'? names are case-sensitive"),
        ],
    ),
    "unknown source of an embedding": (
        'node A { bio: String\n v: Vector(2) @embed("boi") }',
        [(2, 22, "reads 'boi'", "did you mean 'bio'?")],
    ),
    "escape": ('node A @description("ab\\qc") {}', [(1, 24, "unsupported escape", "\\n \\r \\t")]),
    "pattern": ('node A { x: String @check(x, "(") }', [(1, 30, "not a regular expression", None)]),
    "unclosed body": (
        "node A {\n x: I32\n\nnode B {}",
        [(2, 8, "found the next declaration", "close the body with '}'")],
    ),
    "missing quote": (
        'node A @description("x {}\nnode B @description("y") {}',
        [(2, 22, "expected", "the string that starts on line 1 runs over several lines; is a quote missing?")],
    ),
    "inherited contradiction": (
        "interface I { x: I32 }\nnode A implements I { x: I64 }",
        [(2, 26, "A.x is I64, but I.x is I32", "write I32")],
    ),
}


@pytest.mark.parametrize(("text", "expected"), PLACES.values(), ids=PLACES.keys())
def test_place_and_way_out(text: str, expected: list[tuple[int, int, str, str | None]]) -> None:
    with pytest.raises(LanguageError) as raised:
        compile_schema(text, "my.pg")
    error = raised.value
    for found, (line, column, message, hint) in zip(error.diagnostics, expected, strict=True):
        assert found.span is not None
        at = error.source.position(found.span.start)
        assert (at.line, at.column) == (line, column)
        assert message in found.message
        assert hint is None or (found.hint is not None and hint in found.hint)
        assert f"(my.pg:{line}:{column})" in str(error)


def test_every_declaration_reports_its_own_mistakes() -> None:
    text = "node A { x: I32, y: I32 }\nnode B { z: Foo }\nedge E: A -> \nnode C {}\nedge f: A -> B\n"
    with pytest.raises(LanguageError) as raised:
        compile_schema(text)
    lines = [raised.value.source.position(d.span.start).line for d in raised.value.diagnostics if d.span]
    assert lines == [1, 2, 3, 5]


def test_every_rule_reports_in_one_run() -> None:
    text = """
        node A { x: I32? @key id: String v: Vector(2) @embed(nope) }
        node A {}
        edge E: A -> Nowhere @card(2..1) { x: I32 @key }
    """
    with pytest.raises(LanguageError) as raised:
        compile_schema(text)
    assert [d.message for d in raised.value.diagnostics] == [
        "@key is not allowed on A.x: a key is never null",
        "property name 'id' is taken on node A",
        "@embed on A.v reads 'nope', which node A does not have",
        "node A is declared twice",
        "edge E ends at 'Nowhere', which is not a node type",
        "the bounds of @card on edge E allow nothing: 2 is above 1",
        "@key is not allowed on E.x",
    ]


def test_findings_are_bounded() -> None:
    with pytest.raises(LanguageError) as raised:
        compile_schema("node A {" + "x: Foo\n" * 1000 + "}")
    assert len(raised.value.diagnostics) == FINDINGS_MAX
    assert "there may be more" in str(raised.value)


def test_a_person_sees_the_line() -> None:
    with pytest.raises(LanguageError) as raised:
        compile_schema("node A {\n\tx: Strin\n}", "my.pg")
    assert raised.value.render() == (
        "parse error: unknown type 'Strin'; did you mean 'String'? (my.pg:2:5)\n2 | \tx: Strin\n  | \t   ^^^^^"
    )
