"""Parse tree to our tree, reporting what the grammar lets through but the language does not allow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from lark import Token, Tree

from omnigraph.model.diagnostics import Span
from omnigraph.model.types import VECTOR_DIMENSION_MAX, ScalarType
from omnigraph.schema import ast
from omnigraph.schema.literals import read_number, read_string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.model.diagnostics import Findings

BASE_TYPES = tuple(t.value for t in ScalarType if t is not ScalarType.VECTOR)
CARDINALITY_MAX = 2**32 - 1

_LAST_WORD = re.compile(r"[A-Za-z0-9_]+\Z")

_ALIASES = {
    **dict.fromkeys(("text", "str", "varchar", "char", "uuid", "json"), "String"),
    **dict.fromkeys(("int", "integer", "long", "bigint", "number"), "I64"),
    **dict.fromkeys(("float", "double", "decimal", "real"), "F64"),
    **dict.fromkeys(("timestamp", "time"), "DateTime"),
    **dict.fromkeys(("bytes", "binary"), "Blob"),
    "boolean": "Bool",
}


def build_declarations(tree: Tree, findings: Findings) -> Iterator[ast.Declaration]:
    """Build the declarations of a parse tree."""
    builder = _Builder(findings)
    for child in _trees(tree):
        yield getattr(builder, child.data)(child)


def _span(item: Tree | Token) -> Span:
    if isinstance(item, Token):
        return Span(cast("int", item.start_pos), cast("int", item.end_pos))
    return Span(item.meta.start_pos, item.meta.end_pos)


def _trees(tree: Tree, kind: str | None = None) -> list[Tree]:
    return [c for c in tree.children if isinstance(c, Tree) and (kind is None or c.data == kind)]


def _tokens(tree: Tree) -> list[Token]:
    return [c for c in tree.children if isinstance(c, Token)]


class _Builder:
    """One method for each rule of the grammar."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    # -- declarations ----------------------------------------------------------------------------------

    def interface(self, tree: Tree) -> ast.InterfaceDeclaration:
        name = self._type_name(_trees(tree, "name")[0])
        body = self._body(_trees(tree, "body")[0])
        for member in body.members:
            if isinstance(member, ast.ConstraintDeclaration):
                self._findings.add(
                    f"interface {name.text} has a constraint @{member.kind.text}(…); interfaces hold properties only",
                    member.span,
                    hint="put it on the node types, or annotate a property: @key, @unique, @index",
                )
        return ast.InterfaceDeclaration(name, body, self._annotations(tree), _span(tree))

    def node(self, tree: Tree) -> ast.NodeDeclaration:
        implements = tuple(self._type_name(n) for part in _trees(tree, "implements") for n in _trees(part))
        return ast.NodeDeclaration(
            name=self._type_name(_trees(tree, "name")[0]),
            body=self._body(_trees(tree, "body")[0]),
            annotations=self._annotations(tree),
            implements=implements,
            span=_span(tree),
        )

    def edge(self, tree: Tree) -> ast.EdgeDeclaration:
        name, source, target = (self._type_name(n) for n in _trees(tree, "name"))
        bodies = _trees(tree, "body")
        body = self._body(bodies[0]) if bodies else ast.Body()
        # `edge E: A -> B {}` and `edge E: A -> B` are the same tree.
        kept = body if body.members else None
        return ast.EdgeDeclaration(name, source, target, kept, self._annotations(tree), _span(tree))

    def _body(self, tree: Tree) -> ast.Body:
        members = tuple(
            self._property(child) if child.data == "property" else self._constraint(child) for child in _trees(tree)
        )
        return ast.Body(members, _span(tree))

    def _property(self, tree: Tree) -> ast.PropertyDeclaration:
        word = self._name(_trees(tree, "name")[0])
        if word.text[0].isupper():
            fixed = word.text[0].lower() + word.text[1:]
            self._findings.add(
                f"property name {word.text!r} starts with an upper-case letter",
                word.span,
                hint=f"write {fixed!r}",
            )
        declared = self._type(_trees(tree, "type")[0])
        return ast.PropertyDeclaration(word, declared, self._annotations(tree), _span(tree))

    # -- types -----------------------------------------------------------------------------------------

    def _type(self, tree: Tree) -> ast.TypeExpression:
        core = _trees(tree)[0]
        is_list = core.data == "list"
        if is_list:
            core = _trees(core)[0]
        scalar, values, dimension = "String", None, None
        if core.data == "enumeration":
            values = tuple(ast.Name(str(t), _span(t)) for t in _tokens(core))
            self._check_enum(values)
        elif core.data == "vector":
            scalar, dimension = "Vector", self._dimension(core)
        else:
            scalar = self._scalar(_tokens(core)[0])
        if is_list:
            self._check_list(core, scalar)
        nullable = bool(_tokens(tree))
        return ast.TypeExpression(scalar, nullable, is_list, values, dimension, _span(tree))

    def _scalar(self, token: Token) -> str:
        if token.type == "BASE":
            return str(token)
        alias = _ALIASES.get(token.lower())
        known = [alias] if alias else [*BASE_TYPES, "enum", "Vector"]
        hint = (
            f"did you mean {alias!r}?"
            if alias
            else "a property holds a value: String, Bool, I32, I64, U32, U64, F32, F64, Date, DateTime, "
            "Blob, enum(…), Vector(N); relate node types with an edge"
        )
        self._findings.add(f"unknown type {str(token)!r}", _span(token), hint=hint, unknown=(str(token), known))
        return ScalarType.STRING.value

    def _check_list(self, core: Tree, scalar: str) -> None:
        if core.data != "scalar":
            what = "enums" if core.data == "enumeration" else "vectors"
            self._findings.add(
                f"a list cannot hold {what}", _span(core), hint="lists hold one of the base types: [String]"
            )
        elif scalar == ScalarType.BLOB.value:
            self._findings.add(
                "a list cannot hold Blob",
                _span(core),
                hint="make a node type with one Blob, and an edge to it",
            )

    def _check_enum(self, values: tuple[ast.Name, ...]) -> None:
        seen: set[str] = set()
        for value in values:
            if value.text in seen:
                self._findings.add(f"enum value {value.text!r} is listed twice", value.span)
            seen.add(value.text)

    def _dimension(self, tree: Tree) -> int:
        number = self._number(_trees(tree)[0])
        if not isinstance(number, int) or not 1 <= number <= VECTOR_DIMENSION_MAX:
            self._findings.add(f"a vector has between 1 and {VECTOR_DIMENSION_MAX} dimensions", _span(_trees(tree)[0]))
            return 1
        return number

    # -- annotations and constraints -------------------------------------------------------------------

    def _annotations(self, tree: Tree) -> tuple[ast.Annotation, ...]:
        return tuple(self._annotation(child) for child in _trees(tree, "annotation"))

    def _annotation(self, tree: Tree) -> ast.Annotation:
        name = self._marked(_tokens(tree)[0])
        if name.text[0].isupper():
            self._findings.add(
                f"annotation name {name.text!r} starts with an upper-case letter",
                name.span,
                hint=f"write '@{name.text[0].lower()}{name.text[1:]}'",
            )
        bounds = _trees(tree, "bounds")
        literals = _trees(tree, "literal")
        value: ast.Literal | ast.Bounds | None = None
        if bounds:
            value = self._cardinality(bounds[0])
        elif literals:
            value = self._literal(literals[0])
        return ast.Annotation(name, value, self._pairs(tree), _span(tree))

    def _pairs(self, tree: Tree) -> tuple[tuple[ast.Name, ast.Literal], ...]:
        pairs: dict[str, tuple[ast.Name, ast.Literal]] = {}
        for pair in _trees(tree, "pair"):
            first, second = _trees(pair)
            name, value = self._name(first), self._literal(second)
            if name.text in pairs:
                self._findings.add(f"argument {name.text!r} is given twice", name.span, hint="keep one of them")
            if value.bare:
                written = f'{name.text}="{value.value}"'
                self._findings.add(
                    f"the value of {name.text!r} is a bare word", value.span, hint=f"put it in quotes: {written}"
                )
            pairs.setdefault(name.text, (name, value))
        return tuple(pairs.values())

    def _constraint(self, tree: Tree) -> ast.ConstraintDeclaration:
        arguments = tuple(self._argument(child) for child in _trees(tree))
        return ast.ConstraintDeclaration(self._marked(_tokens(tree)[0]), arguments, _span(tree))

    def _argument(self, tree: Tree) -> ast.Name | ast.Literal | ast.Bounds:
        if tree.data == "bounds":
            return self._bounds(tree)
        child = tree.children[0]
        if isinstance(child, Token) and child.type == "WORD":
            return ast.Name(str(child), _span(child))
        return self._literal(tree)

    def _bounds(self, tree: Tree) -> ast.Bounds:
        minimum: int | float | None = None
        maximum: int | float | None = None
        range_seen = False
        for child in tree.children:
            if isinstance(child, Token):
                range_seen = True
            elif range_seen:
                maximum = self._number(child)
            else:
                minimum = self._number(child)
        return ast.Bounds(minimum, maximum, _span(tree))

    def _cardinality(self, tree: Tree) -> ast.Bounds:
        bounds = self._bounds(tree)
        ends = (bounds.minimum, bounds.maximum)
        if bounds.minimum is None:
            self._findings.add("@card needs a minimum", bounds.span, hint="write @card(0..n)")
        elif any(n is not None and (not isinstance(n, int) or not 0 <= n <= CARDINALITY_MAX) for n in ends):
            self._findings.add(f"@card takes whole numbers from 0 to {CARDINALITY_MAX}", bounds.span)
        return bounds

    # -- words and values ------------------------------------------------------------------------------

    def _name(self, tree: Tree) -> ast.Name:
        return ast.Name(str(tree.children[0]), _span(tree))

    def _type_name(self, tree: Tree) -> ast.Name:
        name = self._name(tree)
        if not name.text[0].isupper():
            stripped = name.text.lstrip("_")
            hint = f"write {stripped[0].upper() + stripped[1:]!r}" if stripped[:1].isalpha() else None
            self._findings.add(
                f"type name {name.text!r} does not start with an upper-case letter", name.span, hint=hint
            )
        return name

    def _marked(self, token: Token) -> ast.Name:
        """Give the name after an at sign; white space and comments may lie between."""
        word = _LAST_WORD.search(token)
        assert word is not None
        return ast.Name(word.group(), _span(token))

    def _literal(self, tree: Tree) -> ast.Literal:
        child, span = tree.children[0], _span(tree)
        if isinstance(child, Tree):
            return ast.Literal(self._number(child), span=span)
        if child.type == "STRING":
            return ast.Literal(read_string(child, span.start, self._findings), span=span)
        if child in ("true", "false"):
            return ast.Literal(child == "true", span=span)
        return ast.Literal(str(child), bare=True, span=span)

    def _number(self, tree: Tree) -> int | float:
        return read_number("".join(str(c) for c in tree.children), _span(tree), self._findings)
