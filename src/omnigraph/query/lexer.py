"""Text to tokens. Words have no fixed meaning in `.gq`: `limit` may be a property and `in` an edge.

What a word is follows from its neighbours and the block it stands in, so it is decided here, once, in one
pass; the grammar behind it is then free of ambiguity. Brackets and prefix operators are counted here too:
their depth bounds the depth of every later tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lark import Token

from omnigraph.model.diagnostics import FINDINGS_MAX, Diagnostic, Span
from omnigraph.query.words import classify

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 40
MAX_PREFIXES = 4

_PATTERN = re.compile(
    r"""
    (?P<SPACE>[ \t\r\n]++)
  | (?P<COMMENT>//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)
  | (?P<VARIABLE>\$[a-z_][A-Za-z0-9_]*+)
  | (?P<NOT_IN>not[ \t\r\n]++in(?![A-Za-z0-9_]))
  | (?P<WORD>[a-z_][A-Za-z0-9_]*+)
  | (?P<TYPE>[A-Z][A-Za-z0-9_]*+)
  | (?P<FLOAT>[0-9]++\.[0-9]++)
  | (?P<INTEGER>[0-9]++)
  | (?P<STRING>"[^"\\]*+(?:\\.[^"\\]*+)*+")
  | (?P<AT>@[a-z_][A-Za-z0-9_]*+)
  | (?P<UNREADABLE>/\*|'[^'\n]*+'?+)
  | (?P<PUNCTUATION><=|>=|!=|[{}()\[\],:.<>=+\-*/%?])
  | (?P<OTHER>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_PUNCTUATION = {
    "{": "LBRACE",
    "}": "RBRACE",
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    ",": "COMMA",
    ":": "COLON",
    ".": "DOT",
    "?": "QMARK",
    "+": "PLUS",
    "-": "MINUS",
    "*": "TIMES",
    "/": "TIMES",
    "%": "TIMES",
    "<": "COMPARE",
    ">": "COMPARE",
    "=": "COMPARE",
    "<=": "COMPARE",
    ">=": "COMPARE",
    "!=": "COMPARE",
}
_OPENING = frozenset({"LBRACE", "LPAR", "LSQB"})
_CLOSING = frozenset({"RBRACE", "RPAR", "RSQB"})


class Comment(NamedTuple):
    """A comment as written, with its place."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Lexed:
    """The tokens of a text, its comments, and what could not be read at all."""

    tokens: list[Token]
    comments: tuple[Comment, ...]
    problems: tuple[Diagnostic, ...]


def span_of(token: Token) -> Span:
    """Give the place of a token."""
    start, end = token.start_pos, token.end_pos
    assert start is not None
    assert end is not None
    return Span(start, end)


def lex(text: str) -> Lexed:
    """Split a text into classified tokens."""
    tokens: list[Token] = []
    comments: list[Comment] = []
    problems: list[Diagnostic] = []
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup
        if kind == "SPACE":
            continue
        value, (start, end) = match.group(), match.span()
        if kind == "PUNCTUATION":
            kind = _PUNCTUATION[value]
        elif kind == "COMMENT":
            comments.append(Comment(value.rstrip(), Span(start, end)))
            continue
        elif kind == "NOT_IN":
            if tokens and tokens[-1].type == "DOT":
                # A property named `not`, asked for with `in`.
                tokens.append(Token("WORD", "not", start, None, None, None, None, start + 3))
                kind, value, start = "WORD", "in", end - 2
            else:
                kind, value = "COMPARE", "not in"
        elif kind in ("UNREADABLE", "OTHER"):
            problems.append(_unreadable(value, Span(start, end)))
            if value in ('"', "/*") or len(problems) >= FINDINGS_MAX:
                break
            continue
        assert kind is not None
        tokens.append(Token(kind, value, start, None, None, None, None, end))
    classify(tokens)
    problems.extend(_too_deep(tokens))
    return Lexed(tokens, tuple(comments), tuple(problems))


_MESSAGES = {
    '"': "this string has no closing quote",
    "/*": "this comment has no closing */",
    "'": "strings are written in double quotes",
    "$": "a variable is '$' and a name that starts with a lower-case letter or '_'",
}
_HINTS = {
    "#": "comments start with //",
    "!": "write != or not ( … )",
    "&": "write and",
    "|": "write or",
    ";": "nothing separates clauses",
}


def _unreadable(found: str, span: Span) -> Diagnostic:
    message = _MESSAGES.get(found) or _MESSAGES.get(found[0]) or f"{found!r} is not part of the language"
    return Diagnostic(message, span, hint=_HINTS.get(found))


def _too_deep(tokens: list[Token]) -> Iterator[Diagnostic]:
    depth = prefixes = 0
    for token in tokens:
        kind = token.type
        if kind in _OPENING:
            depth += 1
            if depth > MAX_DEPTH:
                yield Diagnostic(f"brackets are nested deeper than {MAX_DEPTH} levels", span_of(token))
                return
        elif kind in _CLOSING:
            depth = max(depth - 1, 0)
        if kind in ("NOT", "MINUS"):
            prefixes += 1
            if prefixes > MAX_PREFIXES:
                yield Diagnostic(f"more than {MAX_PREFIXES} prefix operators stand in a row", span_of(token))
                return
        else:
            prefixes = 0
