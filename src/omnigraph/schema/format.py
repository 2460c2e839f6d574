"""Lays a schema text out in the one way schemas are written. Comments stay where they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.schema import ast
from omnigraph.schema.literals import write_number, write_string
from omnigraph.schema.parse import parse
from omnigraph.schema.scan import comments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.schema.scan import Comment

INDENT = "    "


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
            self._line(_head(declared) + empty, declared.span.end)
            return
        self._line(_head(declared) + " {", body.span.start + 1)
        for member in body.members:
            self.comments_before(member.span.end, INDENT)
            self._line(INDENT + _member(member), member.span.end)
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


def _head(declared: ast.Declaration) -> str:
    annotations = "".join(f" {_annotation(a)}" for a in declared.annotations)
    name = declared.name.text
    match declared:
        case ast.InterfaceDeclaration():
            return f"interface {name}{annotations}"
        case ast.NodeDeclaration():
            names = ", ".join(n.text for n in declared.implements)
            return f"node {name}{annotations}" + (f" implements {names}" if names else "")
        case ast.EdgeDeclaration():
            # `@card` comes first, as older readers of the language want it.
            cards = [a for a in declared.annotations if a.name.text == "card"]
            others = [a for a in declared.annotations if a.name.text != "card"]
            written = "".join(f" {_annotation(a)}" for a in (*cards, *others))
            return f"edge {name}: {declared.source.text} -> {declared.target.text}{written}"


def _member(member: ast.Member) -> str:
    if isinstance(member, ast.ConstraintDeclaration):
        return f"@{member.kind.text}({', '.join(_value(a) for a in member.arguments)})"
    annotations = "".join(f" {_annotation(a)}" for a in member.annotations)
    return f"{member.name.text}: {_type(member.type)}{annotations}"


def _type(declared: ast.TypeExpression) -> str:
    core = declared.scalar
    if declared.enum_values is not None:
        core = f"enum({', '.join(v.text for v in declared.enum_values)})"
    elif declared.vector_dim is not None:
        core = f"Vector({declared.vector_dim})"
    elif declared.is_list:
        core = f"[{core}]"
    return core + "?" * declared.nullable


def _annotation(annotation: ast.Annotation) -> str:
    return f"@{annotation.name.text}" + "".join(_arguments(annotation))


def _arguments(annotation: ast.Annotation) -> Iterator[str]:
    if annotation.value is not None:
        pairs = "".join(f", {name.text}={_value(value)}" for name, value in annotation.arguments)
        yield f"({_value(annotation.value)}{pairs})"


def _value(value: ast.Name | ast.Literal | ast.Bounds) -> str:
    match value:
        case ast.Name():
            return value.text
        case ast.Bounds():
            low = "" if value.minimum is None else write_number(value.minimum)
            return f"{low}..{'' if value.maximum is None else write_number(value.maximum)}"
        case ast.Literal(value=bool() as truth):
            return "true" if truth else "false"
        case ast.Literal(value=str() as text):
            return text if value.bare else write_string(text)
        case ast.Literal(value=int() | float() as number):
            return write_number(number)
        case _:
            raise AssertionError(value)
