"""Clause lists: `match { … }` and the blocks inside it (T9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from omnigraph.query import ast, ir
from omnigraph.query.check.bindings import check_conditions, declare, merge_scans
from omnigraph.query.check.calls import aggregate_type
from omnigraph.query.check.compare import compare
from omnigraph.query.check.context import Scope, optional_value
from omnigraph.query.check.expressions import check_condition, check_expression
from omnigraph.query.check.traversals import check_traversals
from omnigraph.query.functions import AGGREGATES
from omnigraph.query.walk import direct_variables, outer_variables, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnigraph.query.check.context import Place

_Node = TypeVar("_Node")
_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})


def check_pattern(place: Place, clauses: Sequence[ast.Clause]) -> ir.Pattern:
    """Check a clause list; its variables come into the scope of the place."""
    clauses = [_settled(place, clause) for clause in clauses]
    declared = [found for node in _of(clauses, ast.Binding) if (found := declare(place, node))]
    expansions = check_traversals(place, _of(clauses, ast.Traversal))
    optionals = tuple(
        block for node in _of(clauses, ast.Block) if node.kind == "optional" and (block := _optional(place, node))
    )
    conditions: dict[str, list[ir.Expression]] = {}
    filters: list[ir.Expression] = []
    for binding in declared:
        own, joined = check_conditions(place, binding)
        conditions.setdefault(binding.name, []).extend(own)
        filters.extend(joined)
    filters.extend(_filters(place, _of(clauses, ast.Filter)))
    blocks = tuple(block for clause in clauses if (block := _block(place, clause)))
    scans = merge_scans(declared, conditions)
    return ir.Pattern(place.scope.own(), scans, expansions, optionals, tuple(filters), blocks)


def _of(clauses: Iterable[ast.Clause], kind: type[_Node]) -> list[_Node]:
    return [clause for clause in clauses if isinstance(clause, kind)]


def _settled(place: Place, clause: ast.Clause) -> ast.Clause:
    """Decide what `$a contains $b` is: an edge if the schema has one of that name."""
    if not isinstance(clause, ast.Ambiguous):
        return clause
    word, span = clause.word, clause.span
    if place.catalog.edge(word.text) is not None or word.text == "is":
        return ast.Traversal(clause.left, word, clause.right, span=span)
    if word.text in ("and", "or"):
        return ast.Filter(ast.Chain((clause.left, clause.right), (word.text,), span), span)
    return ast.Filter(ast.Comparison(clause.left, word.text, clause.right, span), span)


def _filters(place: Place, nodes: Iterable[ast.Filter]) -> Iterable[ir.Expression]:
    for node in nodes:
        found = check_condition(place, node.condition)
        if found is None:
            continue
        if any(isinstance(part, ir.Fusion) for part in walk(found)):
            place.error("T21", "rrf orders rows and cannot filter them", node.span, "use it in order { … }")
        else:
            yield found


# -- blocks --------------------------------------------------------------------------------------------


def _block(place: Place, clause: ast.Clause) -> ir.Block | None:
    if isinstance(clause, ast.AggregateBlock):
        return _aggregate(place, clause)
    if not isinstance(clause, ast.Block) or clause.kind == "optional":
        return None
    pattern = _inner(place, Scope(place.scope), clause)
    return pattern and ir.Block(ir.BlockKind(clause.kind), pattern, outer_variables(pattern))


def _optional(place: Place, node: ast.Block) -> ir.Block | None:
    scope = Scope(place.scope)
    pattern = _inner(place, scope, node)
    for name, kind in scope.bound():
        if "#" not in name:
            place.scope.bind(name, kind and optional_value(kind))
    return pattern and ir.Block(ir.BlockKind.OPTIONAL, pattern, outer_variables(pattern))


def _inner(place: Place, scope: Scope, node: ast.Block | ast.AggregateBlock) -> ir.Pattern | None:
    """Check the clauses of a block; it has to say something about the row outside."""
    before = place.findings.count
    pattern = check_pattern(place.within(scope), node.clauses)
    if place.findings.count > before:
        return None
    if not any(name in place.scope for name in direct_variables(pattern)):
        word = node.kind if isinstance(node, ast.Block) else node.function.text
        return place.error(
            "T9",
            f"this {word} block mentions no variable from outside",
            node.span,
            "without one it says the same for every row",
        )
    return pattern


def _aggregate(place: Place, node: ast.AggregateBlock) -> ir.Block | None:
    name = node.function.text
    if name not in AGGREGATES or name == "collect":
        return place.error(
            "T8", f"{name} cannot be computed over a block", node.function.span, "use count, sum, avg, min or max"
        )
    scope = Scope(place.scope)
    pattern = _inner(place, scope, node)
    value = check_expression(place, node.value)
    if pattern is None:
        return None
    argument = node.argument and check_expression(place.within(scope), node.argument)
    if value is None or (argument is None and node.argument is not None):
        return None
    kind = ir.I64 if argument is None else aggregate_type(place, name, argument, node)
    if kind is None:
        return None
    if node.operator not in _COMPARISONS:
        return place.error("T7", f"{node.operator!r} does not compare the value of a block", node.span)
    result = argument or ir.Literal(0, ir.I64)
    if compare(place, node.operator, ir.Aggregate(name, result, node.distinct, kind), value, node.span) is None:
        return None
    test = ir.BlockTest(name, argument, node.distinct, node.operator, value, kind)
    return ir.Block(ir.BlockKind.AGGREGATE, pattern, outer_variables(pattern, test), test)
