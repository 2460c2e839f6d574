"""Lays a schema text out in the one way schemas are written. Comments stay where they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.schema import ast
from omnigraph.schema.parse import parse
from omnigraph.schema.printer import INDENT, print_head, print_member
from omnigraph.schema.scan import comments

if TYPE_CHECKING:
    from omnigraph.schema.scan import Comment


def format_schema(text: str, name: str = "<schema>") -> str:
    """Lay out a schema text: same meaning, same comments, one declaration or member a line."""
    parsed = parse(text, name)
    writer = _Writer(text)
    for declaration in sorted(parsed.declarations, key=lambda d: d.span.start):
        writer.declaration(declaration)
    writer.comments_before(len(text) + 1, "")
    return "\n".join(writer.lines).strip("\n") + "\n" if writer.lines else ""


class _Writer:
    """Lines so far, and the comments that are not written yet."""

    def __init__(self, text: str) -> None:
        self.lines: list[str] = []
        self._text = text
        self._comments = list(comments(text))

    def declaration(self, declared: ast.Declaration) -> None:
        body = declared.body
        is_empty = body is None or not (body.members or self._has_comment(body.span.start, body.span.end))
        if self.lines and not (is_empty and self._follows_directly(declared.span.start)):
            self.lines.append("")
        self.comments_before(declared.span.start, "")
        head_end = declared.span.end if body is None else body.span.start
        self.comments_before(head_end, "")
        if body is None or is_empty:
            empty = "" if isinstance(declared, ast.EdgeDeclaration) else " {}"
            self._line(print_head(declared) + empty, declared.span.end)
            return
        self._line(print_head(declared) + " {", body.span.start + 1)
        for member in body.members:
            self.comments_before(member.span.end, INDENT)
            self._line(INDENT + print_member(member), member.span.end)
        self.comments_before(body.span.end, INDENT)
        self._line("}", body.span.end)

    def comments_before(self, offset: int, indent: str) -> None:
        while self._comments and self._comments[0].span.start < offset:
            self.lines.append(indent + self._comments.pop(0).text)

    def _line(self, line: str, end: int) -> None:
        """Write a line with the comment that stands behind it in the text, if there is one."""
        behind = self._behind(end)
        self.lines.append(line if behind is None else f"{line}  {behind.text}")

    def _behind(self, end: int) -> Comment | None:
        if not self._comments or "\n" in self._text[end : self._comments[0].span.end]:
            return None
        found = self._comments[0]
        # A block comment with text behind it belongs to that text.
        rest = self._text[found.span.end :].split("\n", 1)[0]
        if self._text[end : found.span.start].strip() or rest.strip():
            return None
        return self._comments.pop(0)

    def _has_comment(self, start: int, end: int) -> bool:
        return any(start < c.span.start < end for c in self._comments)

    def _follows_directly(self, start: int) -> bool:
        """Tell whether a one-line declaration stood right under another one: such lists stay together."""
        gap = self._text[:start]
        return not gap[len(gap.rstrip()) :].count("\n") > 1 and not self.lines[-1].startswith("}")
