"""A checked query as text that a person can read: what the tests compare and `explain` shows."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from omnigraph.model.types import PropType
from omnigraph.query import ir
from omnigraph.schema.literals import write_number, write_string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_STEP = "  "


def dump_query(query: ir.CheckedQuery) -> str:
    """Write a query, one part a line."""
    return "\n".join(_read(query) if isinstance(query, ir.CheckedRead) else _mutation(query)) + "\n"


def _read(query: ir.CheckedRead) -> Iterator[str]:
    yield from _head("read", query)
    yield "match"
    yield from _indented(_pattern(query.pattern))
    words = [word for word, is_so in (("distinct", query.distinct), ("grouped", query.grouped)) if is_so]
    yield " ".join(["return", *words])
    for column in query.columns:
        word = "key " * (query.grouped and not column.aggregated)
        yield f"{_STEP}{word}{write_string(column.name)} = {dump_expression(column.value)} : {dump_type(column.type)}"
    if query.order:
        yield "order"
        for key in query.order:
            yield f"{_STEP}{dump_expression(key.value)} {'desc' if key.descending else 'asc'}{' rank' * key.is_rank}"
    for word, amount in (("limit", query.limit), ("offset", query.offset)):
        if amount is not None:
            yield f"{word} {dump_expression(amount)}"
    yield from _uses(query)


def _mutation(query: ir.CheckedMutation) -> Iterator[str]:
    yield from _head("mutation", query)
    for statement in query.statements:
        yield from _statement(statement)
    yield from _uses(query)


def _head(word: str, query: ir.CheckedQuery) -> Iterator[str]:
    yield f"{word} {query.name}({', '.join(f'${p.name}: {p.type}' for p in query.parameters)})"
    if query.description is not None:
        yield f"description {write_string(query.description)}"
    if query.instruction is not None:
        yield f"instruction {write_string(query.instruction)}"


def _uses(query: ir.CheckedQuery) -> Iterator[str]:
    for word, uses in (("reads", query.reads), ("writes", query.writes)):
        if uses:
            yield f"{word} {', '.join(f'edge {u.type_name}' if u.is_edge else f'node {u.type_name}' for u in uses)}"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (_STEP + line for line in lines)


# -- patterns ------------------------------------------------------------------------------------------


def _pattern(pattern: ir.Pattern) -> Iterator[str]:
    for variable in pattern.variables:
        yield f"bind ${variable.name}: {dump_type(variable.type)}"
    for scan in pattern.scans:
        yield f"scan ${scan.variable}: {_types(scan.types, scan.interface)}"
        yield from (f"{_STEP}where {dump_expression(condition)}" for condition in scan.conditions)
    yield from (f"expand {dump_traversal(expand)}" for expand in pattern.expansions)
    for block in pattern.optionals:
        yield from _block(block)
    yield from (f"filter {dump_expression(condition)}" for condition in pattern.filters)
    for block in pattern.blocks:
        yield from _block(block)


def dump_traversal(expand: ir.Expand) -> str:
    """Write a traversal as an arrow."""
    most = "*" if expand.max_hops is None else expand.max_hops
    hops = "" if (expand.min_hops, most) == (1, 1) else f"{{{expand.min_hops}..{most}}}"
    named = "" if expand.edge_variable is None else f"${expand.edge_variable}:"
    path = "" if expand.path_variable is None else f" as path ${expand.path_variable}"
    left, right = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}[expand.direction.value]
    source, target = (
        f"(${name}: {kind})"
        for name, kind in ((expand.source, expand.source_type), (expand.target, expand.target_type))
    )
    return f"{source}{left}[{named}{expand.edge}{hops}]{right}{target}{path}"


def _block(block: ir.Block) -> Iterator[str]:
    test = block.test
    names = ", ".join(f"${name}" for name in block.outer)
    if test is None:
        yield f"{block.kind} of {names}"
    else:
        argument = "*" if test.argument is None else dump_expression(test.argument)
        call = f"{test.function}({'distinct ' * test.distinct}{argument}): {test.type}"
        yield f"{block.kind} of {names}, {call} {test.operator} {dump_expression(test.value)}"
    yield from _indented(_pattern(block.pattern))


def _statement(statement: ir.Statement) -> Iterator[str]:
    match statement:
        case ir.InsertNode():
            yield f"insert node {statement.type_name}"
        case ir.InsertEdge():
            ends = f"{dump_expression(statement.source)} -> {dump_expression(statement.target)}"
            yield f"insert edge {statement.type_name} {ends}"
        case ir.Update() | ir.Delete():
            word = "update" if isinstance(statement, ir.Update) else "delete"
            yield f"{word} {'edge' if statement.is_edge else 'node'} {statement.type_name}"
    if not isinstance(statement, ir.Delete):
        for assignment in statement.assignments:
            yield f"{_STEP}{assignment.property}: {assignment.type} = {dump_expression(assignment.value)}"
    if isinstance(statement, ir.Update | ir.Delete):
        yield f"{_STEP}where {dump_expression(statement.condition)}"


# -- types and expressions -----------------------------------------------------------------------------


def dump_type(kind: ir.ValueType) -> str:
    """Write the type of a value."""
    mark = "?" if kind.nullable else ""
    match kind:
        case PropType():
            return str(kind)
        case ir.NodeValue():
            return f"node {_types(kind.types, kind.interface)}{mark}"
        case ir.EdgeValue():
            return f"edge {kind.edge}{mark}"
        case ir.PathValue():
            return f"path of {kind.edge}{mark}"
        case ir.NullValue():
            return "null"


def _types(types: tuple[str, ...], interface: str | None) -> str:
    return types[0] if interface is None else f"{interface} ({' | '.join(types)})"


def dump_expression(node: ir.Expression) -> str:
    """Write an expression; every operator has its parentheses."""
    return _FORMS[type(node)](node)


def _list(nodes: Iterable[ir.Expression]) -> str:
    return ", ".join(map(dump_expression, nodes))


def _literal(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return write_string(value)
        case int() | float():
            return write_number(value)
        case datetime():
            return f"datetime({write_string(value.isoformat().replace('+00:00', 'Z'))})"
        case date():
            return f"date({write_string(value.isoformat())})"
        case _:
            assert isinstance(value, tuple)
            return f"[{', '.join(map(_literal, value))}]"


def _owned(variable: str | None, name: str) -> str:
    return f"row.{name}" if variable is None else f"${variable}.{name}"


def _arithmetic(node: ir.Arithmetic) -> str:
    rest = (f" {op} {dump_expression(o)}" for op, o in zip(node.operators, node.operands[1:], strict=True))
    return f"({dump_expression(node.operands[0])}{''.join(rest)})"


def _logic(node: ir.Logic) -> str:
    return f"({f' {node.operator} '.join(map(dump_expression, node.operands))})"


def _text_match(node: ir.TextMatch) -> str:
    edits = "" if node.edits is None else f", {dump_expression(node.edits)}"
    return f"{node.function}(${node.variable}.{node.property}, {dump_expression(node.query)}{edits})"


def _nearest(node: ir.Nearest) -> str:
    query = dump_expression(node.query)
    return f"nearest(${node.variable}.{node.property}, {f'embed({query})' if node.embed_text else query})"


_FORMS: dict[type, Callable[[Any], str]] = {
    ir.Literal: lambda n: _literal(n.value),
    ir.Parameter: lambda n: f"${n.name}",
    ir.Now: lambda _: "now()",
    ir.Property: lambda n: _owned(n.variable, n.name),
    ir.Identity: lambda n: _owned(n.variable, f"@{n.field}"),
    ir.Entity: lambda n: f"${n.variable}",
    ir.SameNode: lambda n: f"(${n.left} is {'not ' * n.negated}${n.right})",
    ir.Compare: lambda n: f"({dump_expression(n.left)} {n.operator} {dump_expression(n.right)})",
    ir.Member: lambda n: f"({dump_expression(n.item)} {'not ' * n.negated}in {dump_expression(n.items)})",
    ir.IsNull: lambda n: f"({dump_expression(n.operand)} is {'not ' * n.negated}null)",
    ir.Logic: _logic,
    ir.Not: lambda n: f"(not {dump_expression(n.operand)})",
    ir.Arithmetic: _arithmetic,
    ir.Negate: lambda n: f"(-{dump_expression(n.operand)})",
    ir.ListOf: lambda n: f"[{_list(n.items)}]",
    ir.Call: lambda n: f"{n.function}({_list(n.arguments)})",
    ir.Aggregate: lambda n: f"{n.function}({'distinct ' * n.distinct}{dump_expression(n.argument)})",
    ir.TextMatch: _text_match,
    ir.Nearest: _nearest,
    ir.TextScore: lambda n: f"bm25(${n.variable}.{n.property}, {dump_expression(n.query)})",
    ir.Fusion: lambda n: f"rrf({dump_expression(n.first)}, {dump_expression(n.second)}, k={dump_expression(n.k)})",
    ir.ColumnRef: lambda n: f"column {write_string(n.name)}",
}
