"""Calls: scalar functions, aggregates, and the search functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from omnigraph.model.diagnostics import suggest
from omnigraph.model.types import PropType, ScalarType
from omnigraph.query import ast, ir
from omnigraph.query.check.compare import same_scalar
from omnigraph.query.check.context import describe
from omnigraph.query.check.search import check_search
from omnigraph.query.functions import AGGREGATES, ALL_NAMES, FUNCTIONS, SEARCHES, UNITS, Function, Kind, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.query.check.context import Place

    Check = Callable[[Place, ast.Expression], ir.Expression | None]

_ORDERED = frozenset({ScalarType.STRING, ScalarType.BOOL, ScalarType.DATE, ScalarType.DATE_TIME})


def check_call(place: Place, node: ast.Call, check: Check) -> ir.Expression | None:
    """Check `function(…)`."""
    name = node.function.text
    if name in AGGREGATES:
        return _aggregate(place, node, check)
    if node.distinct:
        return place.error("T26", f"distinct belongs into an aggregate, not into {name}", node.span)
    if name == "now":
        if node.arguments:
            return place.error("T26", "now() takes no arguments", node.span)
        return ir.Now()
    if name in SEARCHES:
        return check_search(place, node, check)
    function = FUNCTIONS.get(name)
    if function is None:
        return place.error("T26", f"there is no function {name!r}", node.function.span, suggest(name, ALL_NAMES))
    return _function(place, function, node, check)


# -- aggregates ----------------------------------------------------------------------------------------


def _aggregate(place: Place, node: ast.Call, check: Check) -> ir.Expression | None:
    name = node.function.text
    if not place.aggregates:
        hint = f"use a block: {name} {{ … }} > 2" if name == "count" else f"use a block: {name}($x.p) {{ … }} > 2"
        return place.error("T7", f"{name}() belongs into return or order", node.span, hint)
    if len(node.arguments) != 1:
        return place.error("T26", f"{name}() takes one argument", node.span)
    argument = check(replace(place, aggregates=False, columns=None), node.arguments[0])
    if argument is None:
        return None
    kind = aggregate_type(place, name, argument, node)
    return kind and ir.Aggregate(name, argument, node.distinct, kind)


def aggregate_type(
    place: Place, name: str, argument: ir.Expression, node: ast.Call | ast.AggregateBlock
) -> PropType | None:
    """Check an aggregate's argument (T8, T24) and give the type of its result."""
    kind = argument.type
    if isinstance(kind, PropType) and kind.is_blob:
        return place.error("T24", "a Blob cannot be read", node.span)
    if name == "count":
        return ir.I64
    if not isinstance(kind, PropType):
        return place.error("T8", f"{name}() needs values, not {describe(kind)}", node.span, "name a property")
    if name == "collect":
        if kind.is_list or kind.is_vector:
            return place.error("T8", "collect() takes single values, not lists", node.span)
        return PropType(kind.scalar, is_list=True)
    if name in ("sum", "avg"):
        if not kind.is_numeric:
            return place.error("T8", f"{name}() needs a number, not {describe(kind)}", node.span)
        return ir.F64.optional
    if not kind.is_numeric and (kind.is_list or kind.scalar not in _ORDERED):
        return place.error("T8", f"{name}() cannot order {describe(kind)}", node.span)
    return kind.optional


# -- scalar functions ----------------------------------------------------------------------------------


def _function(place: Place, function: Function, node: ast.Call, check: Check) -> ir.Expression | None:
    given, most = len(node.arguments), function.most
    if given < function.fewest or (most is not None and given > most):
        return place.error(
            "T26", f"{function.name}() takes {_arity(function)}, not {given}", node.span, function.summary
        )
    found = [check(place, argument) for argument in node.arguments]
    if any(argument is None for argument in found):
        return None
    arguments = tuple(cast("list[ir.Expression]", found))
    for position, argument in enumerate(arguments):
        kind = function.kind(position)
        if not _accepts(kind, argument):
            return place.error(
                "T26",
                f"{function.name}() takes {kind.value} here, not {describe(argument.type)}",
                node.arguments[position].span,
                f"units are {', '.join(UNITS)}" if kind is Kind.UNIT else None,
            )
    result = _result(place, function, arguments, node)
    return result and ir.Call(function.name, arguments, result)


def _arity(function: Function) -> str:
    if function.most is None:
        return f"{function.fewest} or more arguments"
    if function.most == function.fewest:
        return f"{function.most} argument{'s' if function.most != 1 else ''}"
    return f"{function.fewest} or {function.most} arguments"


def _accepts(kind: Kind, argument: ir.Expression) -> bool:
    given = argument.type
    if isinstance(given, ir.NullValue):
        return kind not in (Kind.UNIT, Kind.PATH)
    if isinstance(given, ir.PathValue):
        return kind in (Kind.PATH, Kind.SEVERAL)
    if not isinstance(given, PropType) or given.is_blob or given.is_vector:
        return False
    if kind is Kind.UNIT:
        return isinstance(argument, ir.Literal) and argument.value in UNITS
    if given.is_list:
        return kind in (Kind.LIST, Kind.SEVERAL)
    scalar = given.scalar
    text, day, clock = scalar is ScalarType.STRING, scalar is ScalarType.DATE, scalar is ScalarType.DATE_TIME
    return {
        Kind.TEXT: text,
        Kind.INTEGER: scalar.is_integer,
        Kind.NUMBER: scalar.is_numeric,
        Kind.TIME: day or clock,
        Kind.CLOCK: clock,
        Kind.SCALAR: True,
        Kind.SEVERAL: text,
        Kind.DATED: text or clock,
        Kind.TIMED: text or day,
    }.get(kind, False)


def _result(place: Place, function: Function, arguments: tuple[ir.Expression, ...], node: ast.Call) -> PropType | None:
    nullable = function.may_fail or any(argument.type.nullable for argument in arguments)
    if isinstance(function.result, PropType):
        result = function.result
    elif function.result is Result.COMMON:
        nullable = all(argument.type.nullable for argument in arguments)
        common = _common(place, arguments, node)
        if common is None:
            return None
        result = common
    else:
        chosen = arguments[0 if function.result is Result.FIRST else -1].type
        result = chosen if isinstance(chosen, PropType) else ir.F64
    return PropType(result.scalar, nullable, result.is_list)


def _common(place: Place, arguments: tuple[ir.Expression, ...], node: ast.Call) -> PropType | None:
    kinds = [argument.type for argument in arguments if isinstance(argument.type, PropType)]
    if not kinds:
        return ir.STRING
    first = kinds[0]
    for kind, argument in zip(kinds, node.arguments, strict=False):
        if not same_scalar(first, kind):
            return place.error(
                "T26", f"{node.function.text}() mixes {describe(first)} and {describe(kind)}", argument.span
            )
    if len({kind.scalar for kind in kinds}) == 1:
        return first
    return ir.F64 if any(kind.scalar.is_float for kind in kinds) else ir.I64
