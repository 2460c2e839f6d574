"""Any text is answered: with a tree or with findings, in bounded time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnigraph.model.diagnostics import LanguageError
from omnigraph.schema import compile_schema, format_schema, lint_schema
from tests.schema.generate import valid_texts
from tests.support.effort import calls_in

SIZE = 20_000
CALLS_MAX = 1000
"""Of functions, for each character: what is worse than linear makes many thousands of a long text."""


def answer(text: str) -> None:
    findings = []
    for ask in (compile_schema, format_schema):
        try:
            ask(text)
        except LanguageError as error:
            findings.append((error.diagnostics, error.render().encode(), str(error).encode()))
            assert_spans(error)
    assert all(all(found) for found in findings)


def assert_spans(error: LanguageError) -> None:
    size = len(error.source.text)
    for found in error.diagnostics:
        assert found.span is not None
        assert 0 <= found.span.start <= found.span.end <= size + 1
        start, end = error.source.byte_span(found.span)
        assert start < end


def fill(unit: str) -> str:
    return unit * (SIZE // len(unit))


ADVERSARIAL = {
    "deep braces": fill("{"),
    "deep brackets": "node A { x: " + fill("["),
    "deep parentheses": "node A { @key" + fill("("),
    "deep bodies": fill("node A {"),
    "closing braces": fill("}"),
    "one long name": "node " + fill("A") + " {}",
    "one long unknown type": "node A { x: " + fill("Z") + " }",
    "long unknown end": "node " + fill("B")[:10_000] + " {} edge E: A -> " + fill("B")[:10_001],
    "one long number": "node A { x: I32 @range(x, 0.." + fill("9") + ") }",
    "one long fraction": "node A { x: F64 @range(x, 0.." + fill("9") + ".5) }",
    "long zeros": "node A { x: Vector(" + fill("0") + "1) }",
    "unclosed string": 'node A @description("' + fill("x"),
    "unclosed string of escapes": 'node A @description("' + fill("\\"),
    "bad escapes": 'node A @description("' + fill("\\q") + '") {}',
    "many unclosed strings": fill('node A @description("x\n'),
    "unclosed comment": "node A {} /*" + fill("* "),
    "many unclosed comments": fill("node A {} /* "),
    "comment stars": fill("/*") + fill("*"),
    "slashes": fill("/"),
    "at signs": fill("@"),
    "at signs with comments": "node A { x: I32 " + fill("@/*") + "}",
    "annotations": "node A { x: I32 " + fill("@a ") + "}",
    "twice the same annotation": "node A { x: I32 " + fill("@index ") + "}",
    "white space": fill(" \n\t"),
    "at sign and white space": "node A { x: I32 @key" + fill(" ") + "}",
    "many types": "".join(f"node A{i} {{}}\n" for i in range(SIZE // 14)),
    "many equal types": fill("node A {}\n"),
    "many properties": "node A {" + "".join(f"p{i}: I32\n" for i in range(SIZE // 12)) + "}",
    "many unknown names": "node A {" + "".join(f"p{i}: I32 @unique(q{i})\n" for i in range(SIZE // 28)) + "}",
    "many enum values": "node A { x: enum(" + ",".join(f"v{i}" for i in range(SIZE // 7)) + ") }",
    "equal enum values": "node A { x: enum(" + fill("a,") + "a) }",
    "many members of a key": "node A { x: I32 @key(" + fill("x,") + "x) }",
    "many interfaces": "node A implements " + fill("I,") + "I {}",
    "inherited by many": "interface I {"
    + "".join(f"p{i}: I32\n" for i in range(200))
    + "}"
    + "".join(f"node A{i} implements I {{}}\n" for i in range(1000)),
    "deep pattern": 'node A { x: String @check(x, "' + fill("(") + '") }',
    "repeated pattern": 'node A { x: String @check(x, "' + fill("a{1000}") + '") }',
    "nested repetition": 'node A { x: String @check(x, "((((a{100}){100}){100}){100}){100}") }',
    "commas": "node A { " + fill("x: I32, ") + "}",
    "hashes": fill("# x\n"),
    "null characters": fill("\0"),
    "surrogates": 'node A @description("' + "\ud800" * 10 + '") {}',
    "combining characters": fill("a\u0301"),
    "line ends": fill("\r"),
}


@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL.keys())
def test_bounded_effort(text: str) -> None:
    assert calls_in(answer, text) < CALLS_MAX * (100 + len(text))


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_answered(text: str) -> None:
    answer(text)


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_answered(data: bytes) -> None:
    answer(data.decode("utf-8", errors="replace"))
    answer(data.decode("latin-1"))


KEYWORDS = ["node", "edge", "interface", "implements", "enum", "Vector", "String", "I32", "Blob", "A", "B", "x", "y"]
SIGNS = [":", "->", "{", "}", "(", ")", "[", "]", ",", "..", "?", "//", "/*c*/", "/*", "#", "\\", "@", '"']
MARKS = ["@key", "@unique", "@index", "@range", "@check", "@card", "@embed", "@default", "@rename_from", "@other"]
WORDS = st.sampled_from([*KEYWORDS, *SIGNS, *MARKS, '"s"', "1", "-1", "2.5", "true"])


@given(st.lists(WORDS, max_size=40).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_any_words_are_answered(text: str) -> None:
    answer(text)


@given(valid_texts(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_schema_is_answered(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 5))
    answer(text[:at] + data.draw(st.text('@{}()[]",:?.-/*\\ aA1', max_size=3)) + text[at + length :])


@given(st.lists(WORDS, max_size=30).map(" ".join))
@settings(max_examples=50, deadline=None)
def test_lint_answers_any_words(text: str) -> None:
    assert all(f.message for f in lint_schema(text))
