"""Grammar rules to tree nodes: what the parser calls for every rule it completes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from lark import Token, Transformer

from omnigraph.model.diagnostics import Diagnostic, Span
from omnigraph.query import ast
from omnigraph.query.lexer import span_of
from omnigraph.schema.literals import ESCAPE, ESCAPES

if TYPE_CHECKING:
    import re

_NOTES = ("description", "instruction")


class BuildProblem(Exception):
    """A rule matched, and yet the text is wrong; carries the finding."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


Children = list[Any]


def _name(token: Token) -> ast.Name:
    return ast.Name(str(token), span_of(token))


def _variable(token: Token) -> ast.Variable:
    return ast.Variable(token[1:], span_of(token))


def _reach(first: Any, last: Any) -> Span:
    return Span(_place(first).start, _place(last).end)


def _place(part: Any) -> Span:
    return span_of(part) if isinstance(part, Token) else cast("Span", part.span)


def _nodes(children: Children) -> tuple[Any, ...]:
    return tuple(child for child in children if child is not None and not isinstance(child, Token))


def unescape(token: Token) -> str:
    """Give the text a string literal stands for."""
    inner = token[1:-1]
    if "\\" not in inner:
        return inner

    def replaced(match: re.Match[str]) -> str:
        found = ESCAPES.get(match[1])
        if found is None:
            start = span_of(token).start + 1 + match.start()
            raise BuildProblem(
                Diagnostic(
                    f"unsupported escape '\\{match[1]}'",
                    Span(start, start + 2),
                    hint='known escapes are \\" \\\\ \\n \\r \\t',
                )
            )
        return found

    return ESCAPE.sub(replaced, inner)


def integer_of(token: Token) -> int:
    """Give the value of an integer literal; a number no type can hold is refused."""
    if len(token) > 20:
        raise BuildProblem(Diagnostic("this number is larger than any integer type", span_of(token)))
    return int(token)


class Builder(Transformer[Token, ast.ParsedQuery]):
    """One method for each rule or alias of the grammar."""

    # -- atoms -----------------------------------------------------------------------------------------

    def variable(self, c: Children) -> ast.Variable:
        """`$x`."""
        return _variable(c[0])

    def access(self, c: Children) -> ast.Access:
        """`$x.name`."""
        return ast.Access(_variable(c[0]), _name(c[1]), _reach(c[0], c[1]))

    def identity(self, c: Children) -> ast.Identity:
        """`$x.@id`."""
        return ast.Identity(_variable(c[0]), ast.Name(c[1][1:], span_of(c[1])), _reach(c[0], c[1]))

    def row_identity(self, c: Children) -> ast.Identity:
        """`@id` in a mutation."""
        return ast.Identity(None, ast.Name(c[0][1:], span_of(c[0])), span_of(c[0]))

    def word(self, c: Children) -> ast.Word:
        """A bare name."""
        return ast.Word(str(c[0]), span_of(c[0]))

    def string(self, c: Children) -> ast.Literal:
        """A string literal."""
        return ast.Literal(unescape(c[0]), span_of(c[0]))

    def integer(self, c: Children) -> ast.Literal:
        """An integer literal."""
        return ast.Literal(integer_of(c[0]), span_of(c[0]))

    def decimal(self, c: Children) -> ast.Literal:
        """A number with a decimal point."""
        value = float(c[0])
        if not math.isfinite(value):
            raise BuildProblem(Diagnostic("this number is larger than any float type", span_of(c[0])))
        return ast.Literal(value, span_of(c[0]))

    def true(self, c: Children) -> ast.Literal:
        """`true`."""
        return ast.Literal(True, span_of(c[0]))

    def false(self, c: Children) -> ast.Literal:
        """`false`."""
        return ast.Literal(False, span_of(c[0]))

    def null(self, c: Children) -> ast.Literal:
        """`null`."""
        return ast.Literal(None, span_of(c[0]))

    def list_(self, c: Children) -> ast.ListOf:
        """`[a, b]`."""
        return ast.ListOf(_nodes(c), _reach(c[0], c[-1]))

    def call(self, c: Children) -> ast.Call | ast.TimeLiteral:
        """`function(…)`; `date("…")` and `datetime("…")` are literals."""
        arguments, span = _nodes(c), _reach(c[0], c[-1])
        if str(c[0]) in ("date", "datetime") and len(arguments) == 1:
            only = arguments[0]
            if isinstance(only, ast.Literal) and isinstance(only.value, str):
                return ast.TimeLiteral(str(c[0]), only.value, span)
        distinct = isinstance(c[2], Token) and c[2].type == "DISTINCT"
        return ast.Call(_name(c[0]), arguments, distinct, span)

    # -- operators -------------------------------------------------------------------------------------

    def prefix(self, c: Children) -> ast.Expression:
        """`not x`, `-x`; a minus before a number makes a negative literal."""
        operator, operand = c
        span = _reach(operator, operand)
        if operator == "-" and isinstance(operand, ast.Literal):
            value = operand.value
            if isinstance(value, int | float) and not isinstance(value, bool) and str(value)[0] != "-":
                return ast.Literal(-value, span)
        return ast.Prefix(str(operator), operand, span)

    def chain(self, c: Children) -> ast.Chain:
        """Operands and operators of one precedence, alternating."""
        return ast.Chain(tuple(c[::2]), tuple(map(str, c[1::2])), _reach(c[0], c[-1]))

    def compare(self, c: Children) -> ast.Comparison:
        """`left operator right`."""
        return ast.Comparison(c[0], str(c[1]), c[2], _reach(c[0], c[2]))

    def is_null(self, c: Children) -> ast.NullTest:
        """`x is null`."""
        return ast.NullTest(c[0], False, _reach(c[0], c[-1]))

    def is_not_null(self, c: Children) -> ast.NullTest:
        """`x is not null`."""
        return ast.NullTest(c[0], True, _reach(c[0], c[-1]))

    # -- match -----------------------------------------------------------------------------------------

    def filter(self, c: Children) -> ast.Filter:
        """A condition."""
        return ast.Filter(c[0], c[0].span)

    def pair(self, c: Children) -> ast.PropertyValue:
        """`name: value`."""
        return ast.PropertyValue(_name(c[0]), c[1], _reach(c[0], c[1]))

    def binding(self, c: Children) -> ast.Binding:
        """`$x: Type { … }`."""
        return ast.Binding(_variable(c[0]), _name(c[2]), _nodes(c[3:]), _reach(c[0], c[-1]))

    def hops(self, c: Children) -> ast.Hops:
        """`{1,3}`."""
        most = None if c[3] is None else integer_of(c[3])
        return ast.Hops(integer_of(c[1]), most, _reach(c[0], c[-1]))

    def directed(self, c: Children) -> dict[str, Any]:
        """`edge {1,3}`."""
        return {"edge": _name(c[0]), "hops": c[1]}

    def bound(self, c: Children) -> dict[str, Any]:
        """`$e:edge`."""
        return {"edge_variable": _variable(c[0]), "edge": _name(c[1]), "hops": c[2]}

    def undirected(self, c: Children) -> dict[str, Any]:
        """`<edge>`."""
        return {"edge": _name(c[1]), "undirected": True, "hops": c[3]}

    def undirected_bound(self, c: Children) -> dict[str, Any]:
        """`$e:<edge>`."""
        return {"edge_variable": _variable(c[0]), "edge": _name(c[2]), "undirected": True, "hops": c[4]}

    def traversal(self, c: Children) -> ast.Traversal:
        """`$a edge $b`."""
        return ast.Traversal(source=_variable(c[0]), target=_variable(c[2]), span=_reach(c[0], c[2]), **c[1])

    def shortest(self, c: Children) -> ast.Traversal:
        """`shortest $path = $a edge{1,} $b`."""
        inner: ast.Traversal = c[3]
        return ast.Traversal(
            inner.source,
            inner.edge,
            inner.target,
            inner.edge_variable,
            inner.undirected,
            inner.hops,
            _variable(c[1]),
            _reach(c[0], inner),
        )

    def ambiguous(self, c: Children) -> ast.Ambiguous:
        """`$a contains $b`."""
        return ast.Ambiguous(_variable(c[0]), _name(c[1]), _variable(c[2]), _reach(c[0], c[2]))

    def block(self, c: Children) -> ast.Block:
        """`not { … }`, `exists { … }`, `optional { … }`."""
        return ast.Block(str(c[0]), _nodes(c), _reach(c[0], c[-1]))

    def clauses(self, c: Children) -> tuple[Any, ...]:
        """The clauses of an aggregate block."""
        return tuple(c)

    def count_block(self, c: Children) -> ast.AggregateBlock:
        """`count { … } > 2`."""
        return ast.AggregateBlock(_name(c[0]), None, c[1], str(c[2]), c[3], False, _reach(c[0], c[3]))

    def call_block(self, c: Children) -> ast.AggregateBlock:
        """`sum($x.p) { … } > 2`."""
        call = c[0]
        if not isinstance(call, ast.Call) or len(call.arguments) != 1:
            raise BuildProblem(Diagnostic("a block takes one aggregate with one argument before it", call.span))
        return ast.AggregateBlock(
            call.function, call.arguments[0], c[1], str(c[2]), c[3], call.distinct, _reach(call, c[3])
        )

    # -- the body --------------------------------------------------------------------------------------

    def projection(self, c: Children) -> ast.Projection:
        """`value as name`."""
        alias = None if c[2] is None else _name(c[2])
        return ast.Projection(c[0], alias, _reach(c[0], c[2] if alias else c[0]))

    def order_key(self, c: Children) -> ast.OrderKey:
        """`value desc`."""
        direction = c[1]
        return ast.OrderKey(c[0], str(direction or ""), _reach(c[0], direction or c[0]))

    def match(self, c: Children) -> tuple[tuple[Any, ...], Span]:
        """`match { … }`."""
        return _nodes(c), _reach(c[0], c[-1])

    def return_(self, c: Children) -> tuple[tuple[Any, ...], Span, bool]:
        """`return { … }`."""
        return _nodes(c), _reach(c[0], c[-1]), c[1] is not None

    def order(self, c: Children) -> tuple[tuple[Any, ...], Span]:
        """`order { … }`."""
        return _nodes(c), _reach(c[0], c[-1])

    def limit(self, c: Children) -> Any:
        """`limit 10`."""
        return c[1]

    def offset(self, c: Children) -> Any:
        """`offset 10`."""
        return c[1]

    def read(self, c: Children) -> ast.Read:
        """A query that reads."""
        (clauses, matched), (projections, returned, distinct), order, limit, offset = c
        keys, ordered = order or ((), returned)
        last = offset or limit
        return ast.Read(
            clauses,
            projections,
            distinct,
            keys,
            limit,
            offset,
            tuple(ast.Section(span) for span in (matched, returned, ordered)),
            Span(matched.start, last.span.end if last else ordered.end),
        )

    def assignments(self, c: Children) -> tuple[Any, ...]:
        """The assignments of an update."""
        return _nodes(c)

    def assignment(self, c: Children) -> ast.PropertyValue:
        """`name: value,`."""
        return c[0]

    def insert(self, c: Children) -> ast.Insert:
        """`insert Type { … }`."""
        return ast.Insert(_name(c[1]), _nodes(c), _reach(c[0], c[-1]))

    def update(self, c: Children) -> ast.Update:
        """`update Type set { … } where …`."""
        return ast.Update(_name(c[1]), c[3], c[5], _reach(c[0], c[5]))

    def delete(self, c: Children) -> ast.Delete:
        """`delete Type where …`."""
        return ast.Delete(_name(c[1]), c[3], _reach(c[0], c[3]))

    def mutation(self, c: Children) -> ast.Mutation:
        """A query that writes."""
        return ast.Mutation(tuple(c), _reach(c[0], c[-1]))

    # -- the head --------------------------------------------------------------------------------------

    def plain_type(self, c: Children) -> ast.TypeReference:
        """`String?`."""
        return ast.TypeReference(str(c[0]), nullable=c[-1] == "?", span=_reach(c[0], c[-1]))

    def vector_type(self, c: Children) -> ast.TypeReference:
        """`Vector(3)`."""
        return ast.TypeReference(str(c[0]), dimension=integer_of(c[2]), nullable=c[-1] == "?", span=_reach(c[0], c[-1]))

    def list_type(self, c: Children) -> ast.TypeReference:
        """`[String]`."""
        return ast.TypeReference(str(c[1]), is_list=True, nullable=c[-1] == "?", span=_reach(c[0], c[-1]))

    def parameter(self, c: Children) -> ast.Parameter:
        """`$name: Type`."""
        return ast.Parameter(_variable(c[0]), c[1], _reach(c[0], c[1]))

    def note(self, c: Children) -> ast.Note:
        """`@description("…")`."""
        name = ast.Name(c[0][1:], span_of(c[0]))
        if name.text not in _NOTES:
            raise BuildProblem(
                Diagnostic(
                    f"unknown annotation @{name.text}",
                    name.span,
                    hint="a query has @description and @instruction",
                )
            )
        return ast.Note(name, unescape(c[2]), _reach(c[0], c[-1]))

    def query(self, c: Children) -> ast.ParsedQuery:
        """A whole query."""
        parameters = tuple(part for part in c[2:-1] if isinstance(part, ast.Parameter))
        notes = tuple(part for part in c[2:-1] if isinstance(part, ast.Note))
        seen: set[str] = set()
        for note in notes:
            if note.name.text in seen:
                raise BuildProblem(Diagnostic(f"@{note.name.text} is given twice for this query", note.name.span))
            seen.add(note.name.text)
        return ast.ParsedQuery(_name(c[1]), parameters, notes, c[-1], _reach(c[0], c[-1]))
