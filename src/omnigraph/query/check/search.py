"""The search functions: text filters (T19, T20), distances (T15), scores (T20) and fusion (T21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.model.types import PropType, ScalarType
from omnigraph.query import ast, ir
from omnigraph.query.check.context import describe, properties_of
from omnigraph.query.walk import variables

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.query.check.context import Place

    Check = Callable[[Place, ast.Expression], ir.Expression | None]

_CODES = {"search": "T19", "fuzzy": "T19", "match_text": "T20", "bm25": "T20", "nearest": "T15", "rrf": "T21"}
_ARGUMENTS = {
    "search": (2, 2),
    "fuzzy": (2, 3),
    "match_text": (2, 2),
    "bm25": (2, 2),
    "nearest": (2, 2),
    "rrf": (2, 3),
}
_DEFAULT_K = ir.Literal(60, ir.I64)


def check_search(place: Place, node: ast.Call, check: Check) -> ir.Expression | None:
    """Check a call of a search function."""
    name = node.function.text
    fewest, most = _ARGUMENTS[name]
    if not fewest <= len(node.arguments) <= most:
        wanted = f"{fewest}" if fewest == most else f"{fewest} or {most}"
        return place.error(_CODES[name], f"{name}() takes {wanted} arguments", node.span)
    if name == "nearest":
        return _nearest(place, node, check)
    if name == "rrf":
        return _fusion(place, node, check)
    return _text(place, node, check)


def _target(place: Place, node: ast.Expression, code: str, what: str) -> ir.Property | None:
    """The searched property: of a node, and named directly."""
    if not isinstance(node, ast.Access):
        return place.error(code, f"{what} searches a property", node.span, "write $x.property")
    variable = node.variable.name
    if variable not in place.scope:
        return place.error(
            "T15" if code == "T15" else "T6",
            f"${variable} is not bound",
            node.variable.span,
            suggest(variable, place.scope.names()),
        )
    kind = place.scope.find(variable)
    if kind is None:
        return None
    if not isinstance(kind, ir.NodeValue):
        return place.error("T23", f"${variable} is {describe(kind)}; only nodes are searched", node.variable.span)
    known = properties_of(kind, place.catalog)
    if node.property.text not in known:
        return place.error(
            "T15" if code == "T15" else "T6",
            f"{describe(kind)} has no property {node.property.text!r}",
            node.property.span,
            suggest(node.property.text, known),
        )
    declared = known[node.property.text].type
    return ir.Property(variable, node.property.text, declared.optional if kind.nullable else declared)


def _constant(place: Place, node: ast.Expression, check: Check, code: str) -> ir.Expression | None:
    """What is looked for is the same for every row: an index answers one question at a time."""
    found = check(place, node)
    if found is not None and any(variables(found)):
        return place.error(code, "what is looked for cannot depend on the row", node.span, "use a parameter or literal")
    return found


def _text(place: Place, node: ast.Call, check: Check) -> ir.Expression | None:
    name = node.function.text
    code = _CODES[name]
    target = _target(place, node.arguments[0], code, name)
    query = _constant(place, node.arguments[1], check, code)
    edits = _constant(place, node.arguments[2], check, code) if len(node.arguments) == 3 else None
    if target is None or query is None or (edits is None and len(node.arguments) == 3):
        return None
    if target.type.scalar is not ScalarType.STRING or target.type.is_list:
        return place.error(
            code, f"{name} searches String properties, not {describe(target.type)}", node.arguments[0].span
        )
    if not _is_text(query):
        return place.error(
            code, f"{name} needs a String to look for, not {describe(query.type)}", node.arguments[1].span
        )
    if edits is not None and not _is_integer(edits):
        return place.error(
            code, f"the number of edits is an integer, not {describe(edits.type)}", node.arguments[2].span
        )
    assert target.variable is not None
    nullable = target.type.nullable or query.type.nullable
    if name == "bm25":
        return ir.TextScore(target.variable, target.name, query, ir.F64.optional)
    kind = ir.BOOL.optional if nullable else ir.BOOL
    return ir.TextMatch(name, target.variable, target.name, query, edits, kind)


def _is_text(found: ir.Expression) -> bool:
    kind = found.type
    return isinstance(kind, PropType) and kind.scalar is ScalarType.STRING and not kind.is_list


def _is_integer(found: ir.Expression) -> bool:
    kind = found.type
    return isinstance(kind, PropType) and kind.scalar.is_integer and not kind.is_list


def _nearest(place: Place, node: ast.Call, check: Check) -> ir.Nearest | None:
    target = _target(place, node.arguments[0], "T15", "nearest")
    query = _constant(place, node.arguments[1], check, "T15")
    if target is None or query is None:
        return None
    if not target.type.is_vector:
        return place.error(
            "T15", f"nearest needs a Vector property, not {describe(target.type)}", node.arguments[0].span
        )
    wanted, where = target.type.vector_dim, node.arguments[1].span
    kind = query.type
    text = _is_text(query)
    if isinstance(query, ir.Literal) and isinstance(query.value, tuple):
        numbers = isinstance(kind, PropType) and kind.scalar.is_numeric
        given = len(query.value) if numbers else None
    else:
        given = kind.vector_dim if isinstance(kind, PropType) else None
    if given is None and not text:
        return place.error("T15", f"nearest needs a Vector({wanted}) or a String, not {describe(kind)}", where)
    if given is not None and given != wanted:
        return place.error("T15", f"the property has {wanted} dimensions, the query has {given}", where)
    assert target.variable is not None
    nullable = target.type.nullable or kind.nullable
    return ir.Nearest(target.variable, target.name, query, text, ir.F64.optional if nullable else ir.F64)


def _fusion(place: Place, node: ast.Call, check: Check) -> ir.Fusion | None:
    found = [check(place, argument) for argument in node.arguments[:2]]
    found += [_constant(place, argument, check, "T21") for argument in node.arguments[2:]]
    if any(argument is None for argument in found):
        return None
    first, second = found[:2]
    for arm, argument in zip((first, second), node.arguments, strict=False):
        if not isinstance(arm, ir.Nearest | ir.TextScore):
            return place.error("T21", "rrf merges nearest(…) and bm25(…)", argument.span)
    assert isinstance(first, ir.Nearest | ir.TextScore)
    assert isinstance(second, ir.Nearest | ir.TextScore)
    k = found[2] if len(found) == 3 else _DEFAULT_K
    assert k is not None
    if not _is_integer(k) or (isinstance(k, ir.Literal) and isinstance(k.value, int) and k.value <= 0):
        return place.error("T21", "the k of rrf is an integer above zero", node.arguments[-1].span)
    return ir.Fusion(first, second, k, ir.F64.optional)
