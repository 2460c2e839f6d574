"""What an expression or a pattern is made of, and which variables it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXPRESSIONS: frozenset[type] = frozenset(get_args(ir.Expression))


def parts(expression: ir.Expression) -> Iterator[ir.Expression]:
    """Give the expressions directly inside one."""
    for name in expression.__slots__:
        value: Any = getattr(expression, name)
        if type(value) in _EXPRESSIONS:
            yield value
        elif type(value) is tuple:
            yield from (item for item in value if type(item) in _EXPRESSIONS)


def walk(expression: ir.Expression) -> Iterator[ir.Expression]:
    """Give an expression and everything inside it."""
    yield expression
    for part in parts(expression):
        yield from walk(part)


def variables(expression: ir.Expression) -> Iterator[str]:
    """Give the pattern variables an expression reads, with repetitions."""
    for part in walk(expression):
        if isinstance(part, ir.SameNode):
            yield part.left
            yield part.right
        else:
            name = getattr(part, "variable", None)
            if name is not None:
                yield name


def has_aggregate(expression: ir.Expression) -> bool:
    """Tell whether an aggregate stands anywhere inside."""
    return any(isinstance(part, ir.Aggregate) for part in walk(expression))


def blocks(pattern: ir.Pattern) -> tuple[ir.Block, ...]:
    """Give every block of a pattern, optional ones first."""
    return (*pattern.optionals, *pattern.blocks)


def direct_variables(pattern: ir.Pattern) -> Iterator[str]:
    """Give the variables the clauses of a pattern mention; what stands in blocks is left out."""
    for scan in pattern.scans:
        yield scan.variable
    for expand in pattern.expansions:
        yield from filter(None, (expand.source, expand.target, expand.edge_variable, expand.path_variable))
    for condition in pattern.filters:
        yield from variables(condition)


def outer_variables(pattern: ir.Pattern, test: ir.BlockTest | None = None) -> tuple[str, ...]:
    """Give the variables a block takes from outside, sorted."""
    mentioned = set(direct_variables(pattern))
    if test is not None and test.argument is not None:
        mentioned.update(variables(test.argument))
    for block in blocks(pattern):
        mentioned.update(block.outer)
        if block.test is not None:
            mentioned.update(variables(block.test.value))
    return tuple(sorted(mentioned - {variable.name for variable in pattern.variables}))
