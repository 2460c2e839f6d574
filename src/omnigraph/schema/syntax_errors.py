"""Says what is wrong where the parser stopped, in the words of the language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from lark import Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from omnigraph.model.diagnostics import Diagnostic, Span
from omnigraph.schema.scan import pieces
from omnigraph.schema.syntax_hints import ARROW, hint_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark.parsers.lalr_parser_state import ParserState

_EXPECTED = {
    "_NODE": "'node'",
    "_EDGE": "'edge'",
    "_INTERFACE": "'interface'",
    "_IMPLEMENTS": "'implements'",
    "BASE": "a type",
    "WORD": "a name",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LPAR": "'('",
    "RPAR": "')'",
    "RSQB": "']'",
    "COLON": "':'",
    "COMMA": "','",
    "EQUAL": "'='",
    "RANGE": "'..'",
    ARROW: "'->'",
    "INTEGER": "a number",
    "STRING": "a string",
    "ENUM_VALUE": "an enum value",
    "CONSTRAINT": "a constraint",
    "ANNOTATION": "an annotation",
}
_ANONYMOUS = re.compile(r"__ANON_\d+|MINUS_MORETHAN")
_WORD = re.compile(r"[A-Za-z0-9_]+")
_PREVIOUS_WORD = re.compile(r"[A-Za-z0-9_]+\Z")
_BASE = re.compile(r"DateTime|Date|String|Blob|Bool|I32|I64|U32|U64|F32|F64")


def explain(error: UnexpectedInput, text: str, start: int, end: int) -> Diagnostic:
    """Turn the parser's complaint about text[start:end] into a finding with a place and a way out."""
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return _ends_too_early(_named(error.accepts or error.expected), text, start, end)
    at, expected = _place(error)
    word = _WORD.match(text, at, end)
    span = Span(at, word.end() if word else at + 1)
    special = (
        _unclosed(text, at, start, end)
        or _known_mistake(text, span, expected)
        or (_joined_type(text, span, start) if expected == {"COLON"} else None)
    )
    if special is not None:
        return special
    found = text[span.start : span.end]
    hint = hint_for(text, span, start, expected) or _long_string_hint(text, span.start, start)
    return Diagnostic(f"expected {_one_of(expected)}, found {found!r}", span, hint=hint)


def _place(error: UnexpectedInput) -> tuple[int, set[str]]:
    if isinstance(error, UnexpectedCharacters):
        return cast("int", error.pos_in_stream), _named(_accepted(error))
    assert isinstance(error, UnexpectedToken)
    return cast("int", error.token.start_pos), _named(error.accepts or error.expected)


def _accepted(error: UnexpectedCharacters) -> set[str]:
    """Try what the lexer was looking for: the parser's tables promise more than can really follow."""
    state = cast("ParserState[Any]", error.state)
    accepted: set[str] = set()
    for name in error.allowed:
        try:
            state.copy(deepcopy_values=False).feed_token(Token(name, ""))
        except UnexpectedToken:
            continue
        accepted.add(name)
    return accepted


def _named(expected: Iterable[str]) -> set[str]:
    """Give the arrow a name; the grammar gives it a number."""
    return {ARROW if _ANONYMOUS.fullmatch(name) else name for name in expected}


def _ends_too_early(expected: set[str], text: str, start: int, end: int) -> Diagnostic:
    """Point behind the last word of an unfinished declaration, not at what follows it."""
    last = start + len(text[start:end].rstrip())
    found = "the end of the text" if end == len(text) else "the next declaration"
    hint = "close the body with '}'" if "RBRACE" in expected else None
    return Diagnostic(f"expected {_one_of(expected)}, found {found}", Span(last, last), hint=hint)


def _unclosed(text: str, at: int, start: int, end: int) -> Diagnostic | None:
    if text.startswith("/*", at) and "*/" not in text[at + 2 : end]:
        return Diagnostic("this comment is not closed", Span(at, at + 2), hint="close it with '*/'")
    if text.startswith('"', at):
        for kind, span in pieces(text[start:end]):
            whole = text[start + span.start : start + span.end]
            if kind == "string" and span.start + start == at and not _is_closed(whole):
                return Diagnostic("this string is not closed", Span(at, at + 1), hint="close it with '\"'")
    return None


def _is_closed(string: str) -> bool:
    return len(string) > 1 and string.endswith('"') and (len(string) - len(string[:-1].rstrip("\\"))) % 2 == 1


def _known_mistake(text: str, span: Span, expected: set[str]) -> Diagnostic | None:
    found = text[span.start : span.end]
    if found == "#":
        return Diagnostic("'#' does not start a comment", span, hint="comments are // … and /* … */")
    if found == ",":
        if "RBRACE" in expected:
            return Diagnostic("properties are not separated by commas", span, hint="remove the ','")
        if "_NODE" in expected:
            return Diagnostic("declarations are not separated by commas", span, hint="remove the ','")
    if found == ";":
        return Diagnostic("nothing ends with ';' here", span, hint="remove the ';'")
    if found == "'":
        return Diagnostic("strings are written in double quotes", span, hint="write \"…\" instead of '…'")
    if found == "@" and "CONSTRAINT" in expected and "ANNOTATION" not in expected:
        return Diagnostic(
            "an annotation follows the property it belongs to; a constraint in a body names its properties",
            span,
            hint="write 'name: String @key', or '@key(name)'",
        )
    if found == "[" and "BASE" in expected:
        return Diagnostic("a list cannot hold lists", span, hint="lists hold one of the base types: [String]")
    return None


def _one_of(expected: set[str]) -> str:
    if {"_NODE", "_EDGE", "_INTERFACE"} <= expected:
        return "'node', 'edge' or 'interface'"
    if "RBRACE" in expected:
        return "a property, a constraint or '}'"
    if "BASE" in expected:
        return "a type"
    if "STRING" in expected:
        return "a value"
    names = [_EXPECTED[name] for name in _EXPECTED if name in expected]
    return " or ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + " or " + names[-1]


def _joined_type(text: str, span: Span, start: int) -> Diagnostic | None:
    """`a: Stringx` was read as the type `String` and the property `x`: speak of the word that was written."""
    before = text[start : span.start].rstrip()
    previous = _PREVIOUS_WORD.search(before, max(0, len(before) - 100))
    if previous is None:
        return None
    prefix = _BASE.match(previous.group())
    if prefix is None or prefix.end() == len(previous.group()):
        return None
    place = Span(start + previous.start(), start + previous.end())
    return Diagnostic(f"unknown type {previous.group()!r}", place, hint=f"did you mean {prefix.group()!r}?")


def _long_string_hint(text: str, at: int, start: int) -> str | None:
    """A forgotten quote shows up after the next string: say where the string before this place began."""
    last: Span | None = None
    for kind, span in pieces(text[start:at]):
        if kind == "string":
            last = span
    if last is None or "\n" not in text[start + last.start : start + last.end]:
        return None
    line = text.count("\n", 0, start + last.start) + 1
    return f"the string that starts on line {line} runs over several lines; is a quote missing?"
