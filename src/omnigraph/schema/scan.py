"""A single linear pass over a schema text that knows only strings, comments and where declarations start."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

# Possessive quantifiers: nothing here can backtrack, whatever the text.
_PIECES = re.compile(
    r"""
      (?P<string> "(?:[^"\\]|\\.)*+ "?+ )
    | (?P<line> //[^\n]*+ )
    | (?P<block> /\*(?:[^*]|\*(?!/))*+ (?:\*/)?+ )
    | (?P<annotation> @[ \t\r\n]*+[A-Za-z_][A-Za-z0-9_]*+ )
    | (?P<declaration> (?<![A-Za-z0-9_$.])(?:node|edge|interface)(?=[ \t\r\n]+[A-Za-z_]) )
    | (?P<joined> (?<![A-Za-z0-9_$.])(?:node|edge|interface)(?=[A-Z]) )
    | (?P<open> [{(] )
    | (?P<close> [})] )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its marks."""

    text: str
    span: Span


def pieces(text: str) -> Iterator[tuple[str, Span]]:
    """Give every string, comment, annotation, bracket and declaration keyword, in order, as (kind, span)."""
    for match in _PIECES.finditer(text):
        assert match.lastgroup is not None
        yield match.lastgroup, Span(match.start(), match.end())


def comments(text: str) -> tuple[Comment, ...]:
    """Give every comment of a text."""
    return tuple(
        Comment(text[span.start : span.end].rstrip(), span) for kind, span in pieces(text) if kind in ("line", "block")
    )


def declaration_starts(text: str) -> Iterator[int]:
    """Give the offsets at which a declaration starts, or seems to, where a body was not closed.

    `nodePerson {}` is a node type, but in a body `nodeType: String` is a property.
    """
    depth = 0
    for kind, span in pieces(text):
        if kind == "declaration" or (kind == "joined" and depth == 0):
            depth = 0
            yield span.start
        elif kind == "open":
            depth += 1
        elif kind == "close":
            # A closing brace ends a body, however many parentheses were left open in it.
            depth = 0 if text[span.start] == "}" else max(0, depth - 1)
