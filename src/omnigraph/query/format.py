"""Lays queries out in the one way they are written. Comments and single blank lines stay where they belong."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from omnigraph.query.document import INDENT, WIDTH, Braces, Item, query_item
from omnigraph.query.lexer import lex, span_of
from omnigraph.query.parse import parse_queries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.query import ast
    from omnigraph.query.lexer import Lexed


def format_queries(text: str, name: str = "<queries>") -> str:
    """Lay out a `.gq` text: same meaning, same comments. Raises a LanguageError if it does not parse."""
    parsed = parse_queries(text, name)
    return _Layout(text, lex(text)).file(parsed.queries)


def print_queries(queries: Iterable[ast.ParsedQuery]) -> str:
    """Write queries that come from no text."""
    return _Layout("", lex("")).file(queries)


class _Layout:
    """Lines so far, and the comments that are not written yet."""

    def __init__(self, text: str, lexed: Lexed) -> None:
        self._lines: list[str] = []
        self._text = text
        self._comments = list(reversed(lexed.comments))
        self._opened = [span_of(token).end for token in lexed.tokens if token.type == "LBRACE"]
        self._closed = [span_of(token).start for token in lexed.tokens if token.type == "RBRACE"]

    def file(self, queries: Iterable[ast.ParsedQuery]) -> str:
        """Give the whole text."""
        for query in queries:
            if self._lines:
                self._lines.append("")
            self._item(query_item(query), "", "")
        self._comments_before(len(self._text) + 1, "")
        return "\n".join(self._lines).strip("\n") + "\n" if self._lines else ""

    def _item(self, item: Item, indent: str, separator: str) -> None:
        self._comments_before(item.span.start, indent)
        if indent and item.may_start_paragraph:
            self._blank_line(item.span.start)
        fits = len(indent) + len(item.text) + len(separator) <= WIDTH
        braces = item.braces
        if braces is not None:
            start = self._next(self._opened, braces.head_end)
            self._comments_before(start - 1, indent)
            if braces.stay_open or not fits or self._has_comment(item.span.end):
                self._braces(item, braces, start, indent, separator)
                return
        self._comments_before(item.span.end, indent)
        self._line(indent + item.text + separator, item.span.end)

    def _braces(self, item: Item, braces: Braces, start: int, indent: str, separator: str) -> None:
        self._line(indent + braces.opening, start)
        for inner in braces.items:
            self._item(inner, indent + INDENT, braces.separator)
        closed = self._next(self._closed, max(start, braces.items[-1].span.end))
        end = max(item.span.end, closed + 1)
        self._comments_before(end, indent + INDENT)
        self._line(indent + braces.closing + separator, end)

    @staticmethod
    def _next(offsets: list[int], start: int) -> int:
        position = bisect_left(offsets, start)
        return offsets[position] if position < len(offsets) else start

    # -- comments --------------------------------------------------------------------------------------

    def _comments_before(self, offset: int, indent: str) -> None:
        while self._comments and self._comments[-1].span.start < offset:
            comment = self._comments.pop()
            self._blank_line(comment.span.start)
            self._lines.append(indent + comment.text)
            if not indent and self._comments_end_paragraph(comment.span.end):
                self._lines.append("")

    def _comments_end_paragraph(self, end: int) -> bool:
        rest = self._text[end : end + 200].lstrip(" \t\r")
        return rest.startswith("\n") and rest[1:].lstrip(" \t\r").startswith("\n")

    def _line(self, line: str, end: int) -> None:
        """Write a line with the comment that stands behind it in the text, if there is one."""
        if self._comments and self._is_behind(end):
            line = f"{line}  {self._comments.pop().text}"
        self._lines.append(line)

    def _is_behind(self, end: int) -> bool:
        found = self._comments[-1].span
        if found.start < end or "\n" in self._text[end : found.end]:
            return False
        # A block comment with text behind it belongs to that text.
        after = self._text.find("\n", found.end)
        rest = self._text[found.end : after if after >= 0 else None]
        # Parentheses are not in the tree, so the last ones of an expression come after its end.
        return not self._text[end : found.start].strip(" \t\r,)") and not rest.strip()

    def _has_comment(self, end: int) -> bool:
        return bool(self._comments) and self._comments[-1].span.start < end

    def _blank_line(self, start: int) -> None:
        """Keep one blank line where the text had some, but not after an opening brace."""
        position = start
        while position > 0 and self._text[position - 1] in " \t\r\n(":
            position -= 1
        gap = self._text[position:start].partition("(")[0]
        if gap.count("\n") > 1 and self._lines and self._lines[-1]:
            before = self._lines[-1].partition("//")[0].rstrip()
            if not before.endswith("{"):
                self._lines.append("")
