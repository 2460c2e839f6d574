"""Tree to text: the one way each thing is written. Comments are not part of a tree; `format` keeps those."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.schema import ast
from omnigraph.schema.literals import write_number, write_string

if TYPE_CHECKING:
    from collections.abc import Iterator

INDENT = "    "


def print_schema(schema: ast.ParsedSchema) -> str:
    """Write a tree so that parsing gives the same tree again."""
    return "\n".join(_declaration(declared) for declared in schema.declarations)


def _declaration(declared: ast.Declaration) -> str:
    body = declared.body
    if body is None or not body.members:
        return print_head(declared) + ("\n" if isinstance(declared, ast.EdgeDeclaration) else " {}\n")
    members = "".join(f"{INDENT}{print_member(member)}\n" for member in body.members)
    return f"{print_head(declared)} {{\n{members}}}\n"


def print_head(declared: ast.Declaration) -> str:
    """Write what stands before the body of a declaration."""
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


def print_member(member: ast.Member) -> str:
    """Write a property or a constraint."""
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
