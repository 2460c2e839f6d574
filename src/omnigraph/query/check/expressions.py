"""Expressions: names resolved, operators typed. Each check gives a typed node, or None once it has reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.diagnostics import suggest
from omnigraph.model.times import DATE_FORM, DATE_TIME_FORM, read_date, read_date_time
from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.query import ast, ir
from omnigraph.query.check.calls import check_call
from omnigraph.query.check.compare import boolean, compare, same_scalar
from omnigraph.query.check.context import describe, properties_of
from omnigraph.schema.catalog import EDGE_FIELDS, NODE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.query.check.context import Place

_EMPTY_LIST = PropType(ScalarType.STRING, is_list=True)


def check_expression(place: Place, node: ast.Expression) -> ir.Expression | None:
    """Check any expression."""
    return _CHECKS[type(node)](place, node)


def check_condition(place: Place, node: ast.Expression) -> ir.Expression | None:
    """Check an expression that has to be true or false."""
    found = check_expression(place, node)
    if found is None or _is_bool(found):
        return found
    return place.error("T7", f"a condition is true or false, this is {describe(found.type)}", node.span)


def _is_bool(found: ir.Expression) -> bool:
    kind = found.type
    return isinstance(kind, PropType) and kind.scalar is ScalarType.BOOL and not kind.is_list


# -- names ---------------------------------------------------------------------------------------------


def _variable(place: Place, node: ast.Variable) -> ir.Expression | None:
    if node.name in place.parameters:
        declared = place.parameters[node.name]
        return None if declared is None else ir.Parameter(node.name, declared)
    if place.row is not None:
        return place.error(
            "T14", f"${node.name} is not a parameter of this query", node.span, suggest(node.name, place.parameters)
        )
    if node.name not in place.scope:
        return place.error(None, f"${node.name} is not bound", node.span, _variable_hint(place, node.name))
    kind = place.scope.find(node.name)
    if kind is None:
        return None
    if isinstance(kind, ir.EdgeValue):
        return place.error(
            "T23", f"${node.name} is an edge and cannot be used whole", node.span, f"use ${node.name}.@id or a property"
        )
    return ir.Entity(node.name, kind)


def _variable_hint(place: Place, name: str) -> str | None:
    return suggest(name, {*place.scope.names(), *place.parameters})


def check_access(place: Place, node: ast.Access) -> ir.Property | None:
    """Check `$x.property`: T6."""
    name, prop = node.variable.name, node.property.text
    if name not in place.scope:
        what = "is a parameter, which has no properties" if name in place.parameters else "is not bound"
        return place.error("T6", f"${name} {what}", node.variable.span, _variable_hint(place, name))
    kind = place.scope.find(name)
    if kind is None:
        return None
    known = properties_of(kind, place.catalog)
    if prop not in known:
        hint = suggest(prop, known)
        if prop in ("id", "src", "dst"):
            hint = f"write ${name}.@{prop}"
        return place.error("T6", f"{describe(kind)} has no property {prop!r}", node.property.span, hint)
    declared = known[prop].type
    return ir.Property(name, prop, declared.optional if kind.nullable else declared)


def _identity(place: Place, node: ast.Identity) -> ir.Identity | None:
    name, where = node.field.text, node.field.span
    if node.variable is None:
        if place.row is None or not place.row_is_readable:
            return place.error("T6", f"@{name} needs a variable here", where, f"write $x.@{name}")
        fields: tuple[str, ...] = place.row.fields
        kind, variable = None, None
    else:
        variable = node.variable.name
        if variable not in place.scope:
            return place.error("T6", f"${variable} is not bound", node.variable.span, _variable_hint(place, variable))
        kind = place.scope.find(variable)
        if kind is None:
            return None
        fields = (
            () if isinstance(kind, ir.PathValue) else EDGE_FIELDS if isinstance(kind, ir.EdgeValue) else NODE_FIELDS
        )
    if name not in fields:
        known = ", ".join(f"@{known}" for known in fields) or "none"
        return place.error("T6", f"there is no @{name} here", where, f"known: {known}")
    nullable = kind is not None and kind.nullable
    return ir.Identity(variable, ir.IdentityField(name), ir.STRING.optional if nullable else ir.STRING)


def _word(place: Place, node: ast.Word) -> ir.Expression | None:
    if place.row is not None:
        return _row_property(place, node)
    if place.columns is None:
        return place.error("T6", f"{node.name!r} is no value here", node.span, f"a variable is written ${node.name}")
    if node.name not in place.columns:
        hint = suggest(node.name, place.columns) or f"a variable is written ${node.name}"
        if node.name.lower() == "distinct":
            hint = "it stands before the braces: return distinct { … }"
        return place.error("T6", f"there is no column {node.name!r}", node.span, hint)
    column = place.columns[node.name]
    return column and ir.ColumnRef(column.name, column.type)


def _row_property(place: Place, node: ast.Word) -> ir.Expression | None:
    row = place.row
    assert row is not None
    if not place.row_is_readable:
        return place.error(
            "T14",
            f"{node.name!r} is no value: an insert has no row to read",
            node.span,
            f"a parameter is written ${node.name}",
        )
    if "src" in row.fields and node.name in ("from", "to"):
        return ir.Identity(None, ir.IdentityField.SRC if node.name == "from" else ir.IdentityField.DST)
    found = row.property(node.name)
    if found is None:
        known = row.properties_by_name
        return place.error("T11", f"{row.name} has no property {node.name!r}", node.span, suggest(node.name, known))
    if found.type.is_blob:
        return place.error("T11", f"{row.name}.{node.name} is a Blob and cannot be read here", node.span)
    return ir.Property(None, found.name, found.type)


# -- constants -----------------------------------------------------------------------------------------


def check_literal(place: Place, node: ast.Literal) -> ir.Literal | None:
    """Give a literal its type."""
    value = node.value
    if value is None:
        return ir.Literal(None, ir.NullValue())
    if isinstance(value, bool):
        return ir.Literal(value, ir.BOOL)
    if isinstance(value, str):
        return ir.Literal(value, ir.STRING)
    if isinstance(value, float):
        return ir.Literal(value, ir.F64)
    for scalar in (ScalarType.I64, ScalarType.U64):
        least, most = INTEGER_BOUNDS[scalar]
        if least <= value <= most:
            return ir.Literal(value, PropType(scalar))
    return place.error("T3", f"{value} is larger than any integer type", node.span)


def _time(place: Place, node: ast.TimeLiteral) -> ir.Literal | None:
    try:
        if node.function == "date":
            return ir.Literal(read_date(node.text), ir.DATE)
        return ir.Literal(read_date_time(node.text), ir.DATE_TIME)
    except ValueError:
        form = DATE_FORM if node.function == "date" else DATE_TIME_FORM
        return place.error("T3", f"{node.text!r} is not a {node.function}", node.span, f"write {form}")


def _list(place: Place, node: ast.ListOf) -> ir.Expression | None:
    items = [check_expression(place, item) for item in node.items]
    if any(item is None for item in items):
        return None
    values = cast("list[ir.Expression]", items)
    if not values:
        return ir.Literal((), _EMPTY_LIST)
    first = values[0].type
    for value, item in zip(values, node.items, strict=True):
        kind = value.type
        if not isinstance(kind, PropType) or kind.is_list or kind.is_vector or kind.is_blob:
            return place.error(None, f"a list holds single values, not {describe(kind)}", item.span)
        if not isinstance(first, PropType) or not same_scalar(first, kind):
            return place.error(
                None, f"this list mixes {describe(first)} and {describe(kind)}", item.span, "items have one type"
            )
    assert isinstance(first, PropType)
    kinds = [cast("PropType", value.type) for value in values]
    scalar = ScalarType.F64 if any(k.scalar.is_float for k in kinds) else first.scalar
    kind = PropType(scalar, any(k.nullable for k in kinds), is_list=True)
    if all(isinstance(value, ir.Literal) for value in values):
        return ir.Literal(tuple(cast("ir.Literal", value).value for value in values), kind.required)
    return ir.ListOf(tuple(values), kind)


# -- operators -----------------------------------------------------------------------------------------


def _comparison(place: Place, node: ast.Comparison) -> ir.Expression | None:
    left, right = check_expression(place, node.left), check_expression(place, node.right)
    if left is None or right is None:
        return None
    return compare(place, node.operator, left, right, node.span)


def _prefix(place: Place, node: ast.Prefix) -> ir.Expression | None:
    if node.operator == "not":
        condition = check_condition(place, node.operand)
        return condition and ir.Not(condition, boolean(condition))
    operand = check_expression(place, node.operand)
    if operand is None:
        return None
    if not isinstance(operand.type, PropType) or not operand.type.is_numeric:
        return place.error("T7", f"'-' needs a number, not {describe(operand.type)}", node.span)
    return ir.Negate(operand, arithmetic_type((operand.type,), ("-",)))


def _chain(place: Place, node: ast.Chain) -> ir.Expression | None:
    logic = node.operators[0] in ("and", "or")
    check = check_condition if logic else _number
    found = [check(place, operand) for operand in node.operands]
    if any(operand is None for operand in found):
        return None
    operands = tuple(cast("list[ir.Expression]", found))
    if logic:
        return ir.Logic(node.operators[0], operands, boolean(*operands))
    kinds = tuple(cast("PropType", operand.type) for operand in operands)
    return ir.Arithmetic(operands, node.operators, arithmetic_type(kinds, node.operators))


def _number(place: Place, node: ast.Expression) -> ir.Expression | None:
    found = check_expression(place, node)
    if found is None or (isinstance(found.type, PropType) and found.type.is_numeric):
        return found
    hints = {
        ScalarType.STRING: "use concat(a, b) for text",
        ScalarType.DATE: "use date_add and date_diff",
        ScalarType.DATE_TIME: "use date_add and date_diff",
    }
    hint = hints.get(found.type.scalar) if isinstance(found.type, PropType) else None
    return place.error("T7", f"arithmetic needs numbers, not {describe(found.type)}", node.span, hint)


def arithmetic_type(kinds: tuple[PropType, ...], operators: tuple[str, ...]) -> PropType:
    """Integers stay I64 except when divided; everything else is F64. A zero divisor gives null."""
    whole = all(kind.scalar.is_integer for kind in kinds) and "/" not in operators
    nullable = any(kind.nullable for kind in kinds) or "/" in operators or "%" in operators
    return PropType(ScalarType.I64 if whole else ScalarType.F64, nullable)


def _null_test(place: Place, node: ast.NullTest) -> ir.Expression | None:
    operand = check_expression(place, node.operand)
    return operand and ir.IsNull(operand, node.negated)


def _call(place: Place, node: ast.Call) -> ir.Expression | None:
    return check_call(place, node, check_expression)


_CHECKS: dict[type, Callable[[Place, Any], ir.Expression | None]] = {
    ast.Variable: _variable,
    ast.Literal: check_literal,
    ast.TimeLiteral: _time,
    ast.Access: check_access,
    ast.Identity: _identity,
    ast.Word: _word,
    ast.ListOf: _list,
    ast.Call: _call,
    ast.Prefix: _prefix,
    ast.Chain: _chain,
    ast.Comparison: _comparison,
    ast.NullTest: _null_test,
}
