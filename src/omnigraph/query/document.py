"""Queries as lines and braces: what a layout writes, whether comments stand in between or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.query import ast
from omnigraph.query.printer import print_condition, print_expression, print_row_condition, print_sum, print_type
from omnigraph.schema.literals import write_string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.model.diagnostics import Span

INDENT = "    "
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Item:
    """Something that stands on its own line, or on several if it has braces.

    A paragraph may start with it: a blank line before it is kept.
    """

    text: str
    span: Span
    braces: Braces | None = None
    may_start_paragraph: bool = True


@dataclass(frozen=True, slots=True)
class Braces:
    """`opening { items } closing`. `head_end` is an offset between the head and its brace."""

    opening: str
    items: tuple[Item, ...]
    closing: str
    head_end: int
    separator: str = ""
    stay_open: bool = False


def _braced(
    opening: str,
    items: Sequence[Item],
    span: Span,
    head_end: int,
    *,
    closing: str = "}",
    separator: str = "",
    stay_open: bool = False,
) -> Item:
    inner = f"{separator} ".join(item.text for item in items)
    braces = Braces(opening, tuple(items), closing, head_end, separator, stay_open)
    return Item(f"{opening} {inner} {closing}", span, braces)


def query_item(query: ast.ParsedQuery) -> Item:
    """Give a whole query."""
    parts = [query.name.span.end, *(p.span.end for p in query.parameters), *(n.span.end for n in query.notes)]
    items = _read(query.body) if isinstance(query.body, ast.Read) else [_statement(s) for s in query.body.statements]
    return _braced(_head(query), items, query.span, max(parts), stay_open=True)


def _head(query: ast.ParsedQuery) -> str:
    parameters = [f"${p.variable.name}: {print_type(p.type)}" for p in query.parameters]
    head = f"query {query.name.text}({', '.join(parameters)})"
    if len(head) + 2 > WIDTH:
        lines = "".join(f"{INDENT}{parameter},\n" for parameter in parameters)
        head = f"query {query.name.text}(\n{lines})"
    if not query.notes:
        return head + " {"
    return "\n".join([head, *(f"{INDENT}@{n.name.text}({write_string(n.text)})" for n in query.notes), "{"])


# -- reads ---------------------------------------------------------------------------------------------


def _read(read: ast.Read) -> list[Item]:
    matched, returned, ordered = [section.span for section in read.sections] if read.sections else [ast.NOWHERE] * 3
    items = [
        _block("match {", read.match, matched, matched.start, "}"),
        _braced(
            "return distinct {" if read.distinct else "return {",
            [_projection(p) for p in read.projections],
            returned,
            returned.start,
            separator=",",
        ),
    ]
    if read.order:
        items.append(_braced("order {", [_order_key(k) for k in read.order], ordered, ordered.start, separator=","))
    for word, amount in (("limit", read.limit), ("offset", read.offset)):
        if amount is not None:
            items.append(Item(f"{word} {print_expression(amount)}", amount.span, may_start_paragraph=False))
    return items


def _projection(node: ast.Projection) -> Item:
    alias = f" as {node.alias.text}" if node.alias else ""
    return Item(print_expression(node.value) + alias, node.span)


def _order_key(node: ast.OrderKey) -> Item:
    text = print_expression(node.value)
    if isinstance(node.value, ast.Literal) and (node.value.value is None or isinstance(node.value.value, bool)):
        text = f"({text})"  # a bare `null` is a column of that name here
    return Item(f"{text} {node.direction}".rstrip(), node.span)


def _clause(node: ast.Clause) -> Item:
    match node:
        case ast.Binding():
            head = f"${node.variable.name}: {node.type_name.text}"
            return (
                _pairs(head, node.properties, node.span, node.type_name.span.end)
                if node.properties
                else Item(head, node.span)
            )
        case ast.Traversal():
            return Item(_traversal(node), node.span)
        case ast.Ambiguous():
            return Item(f"${node.left.name} {node.word.text} ${node.right.name}", node.span)
        case ast.Filter():
            return Item(print_condition(node.condition), node.span)
        case ast.Block():
            return _block(f"{node.kind} {{", node.clauses, node.span, node.span.start, "}")
        case ast.AggregateBlock():
            return _aggregate(node)


def _block(opening: str, clauses: Sequence[ast.Clause], span: Span, head_end: int, closing: str) -> Item:
    items = [_clause(clause) for clause in clauses]
    return _braced(opening, items, span, head_end, closing=closing, stay_open=len(items) > 1)


def _aggregate(node: ast.AggregateBlock) -> Item:
    head, head_end = node.function.text, node.function.span.end
    if node.argument is not None:
        head += f"({'distinct ' * node.distinct}{print_expression(node.argument)})"
        head_end = node.argument.span.end
    closing = f"}} {node.operator} {print_sum(node.value)}"
    return _block(head + " {", node.clauses, node.span, head_end, closing)


def _traversal(node: ast.Traversal) -> str:
    edge = f"<{node.edge.text}>" if node.undirected else node.edge.text
    if node.edge_variable is not None:
        edge = f"${node.edge_variable.name}:{edge}"
    if node.hops is not None:
        edge += f"{{{node.hops.least},{'' if node.hops.most is None else node.hops.most}}}"
    path = "" if node.path_variable is None else f"shortest ${node.path_variable.name} = "
    return f"{path}${node.source.name} {edge} ${node.target.name}"


def _pairs(head: str, pairs: Sequence[ast.PropertyValue], span: Span, head_end: int, closing: str = "}") -> Item:
    items = [Item(f"{pair.property.text}: {print_expression(pair.value)}", pair.span) for pair in pairs]
    return _braced(head + " {", items, span, head_end, closing=closing, separator=",")


# -- mutations -----------------------------------------------------------------------------------------


def _statement(node: ast.Statement) -> Item:
    name, head_end = node.type_name.text, node.type_name.span.end
    match node:
        case ast.Insert():
            return _pairs(f"insert {name}", node.assignments, node.span, head_end)
        case ast.Update():
            closing = f"}} where {print_row_condition(node.condition)}"
            return _pairs(f"update {name} set", node.assignments, node.span, head_end, closing)
        case ast.Delete():
            return Item(f"delete {name} where {print_row_condition(node.condition)}", node.span)
