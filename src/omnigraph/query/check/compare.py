"""Which values can be compared, and what a literal or parameter may be given to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from omnigraph.model.diagnostics import suggest
from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.query import ir
from omnigraph.query.check.context import describe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.model.diagnostics import Span
    from omnigraph.query.check.context import Place

TEXT_OPERATORS = frozenset({"starts_with", "ends_with"})
EQUALITY = frozenset({"=", "!="})


def same_scalar(left: PropType, right: PropType) -> bool:
    """Tell whether two scalars compare: numbers with numbers, otherwise equal types."""
    if left.scalar.is_numeric and right.scalar.is_numeric:
        return True
    return left.scalar is right.scalar


def boolean(*parts: ir.Expression) -> PropType:
    """Give Bool, nullable if a part is."""
    return ir.BOOL.optional if any(part.type.nullable for part in parts) else ir.BOOL


def compare(place: Place, operator: str, left: ir.Expression, right: ir.Expression, span: Span) -> ir.Expression | None:
    """Check `left operator right`."""
    if isinstance(left.type, ir.NullValue) or isinstance(right.type, ir.NullValue):
        negated = " not" if operator == "!=" else ""
        return place.error("T7", "a comparison with null is never true", span, f"write is{negated} null")
    if isinstance(left, ir.Entity) and isinstance(right, ir.Entity):
        return _same_node(place, operator, left, right, span)
    if not isinstance(left.type, PropType) or not isinstance(right.type, PropType):
        entity = left if not isinstance(left.type, PropType) else right
        return place.error(
            "T7", f"{describe(entity.type)} cannot be compared with a value", span, "compare its .@id or a property"
        )
    if not _comparable(place, (left.type, right.type), span):
        return None
    if operator in ("in", "not in"):
        return _member(place, left, right, operator == "not in", span)
    if operator == "contains" and left.type.is_list:
        return _member(place, right, left, False, span)
    return _scalars(place, operator, left, right, span)


def _comparable(place: Place, kinds: Iterable[PropType], span: Span) -> bool:
    for kind in kinds:
        if kind.is_blob or kind.is_vector:
            place.error("T7", f"a {'Blob' if kind.is_blob else 'Vector'} cannot be compared", span)
            return False
    return True


def _same_node(place: Place, operator: str, left: ir.Entity, right: ir.Entity, span: Span) -> ir.Expression | None:
    if operator not in EQUALITY or isinstance(left.type, ir.PathValue) or isinstance(right.type, ir.PathValue):
        return place.error("T7", f"{operator!r} does not compare nodes or paths", span, "nodes compare by = and !=")
    if not set(left.type.types) & set(right.type.types):
        return place.error("T7", f"{describe(left.type)} is never the same as {describe(right.type)}", span)
    return ir.SameNode(left.variable, right.variable, operator == "!=", boolean(left, right))


def _member(place: Place, item: ir.Expression, items: ir.Expression, negated: bool, span: Span) -> ir.Expression | None:
    item_type, items_type = cast("PropType", item.type), cast("PropType", items.type)
    if not items_type.is_list or item_type.is_list:
        return place.error(
            "T7",
            f"membership needs a single value and a list, not {describe(item_type)} and {describe(items_type)}",
            span,
        )
    empty = isinstance(items, ir.Literal) and items.value == ()
    if not empty and not same_scalar(item_type, items_type):
        return place.error("T7", f"a list of {items_type.scalar} holds no {describe(item_type)}", span)
    if not in_enum(place, item, items, span) or not in_enum(place, items, item, span):
        return None
    return ir.Member(item, items, negated, boolean(item, items))


def _scalars(
    place: Place, operator: str, left: ir.Expression, right: ir.Expression, span: Span
) -> ir.Expression | None:
    left_type, right_type = cast("PropType", left.type), cast("PropType", right.type)
    if operator == "contains" or operator in TEXT_OPERATORS:
        if any(kind.scalar is not ScalarType.STRING or kind.is_list for kind in (left_type, right_type)):
            return place.error(
                "T7", f"{operator} needs text on both sides, not {describe(left_type)} and {describe(right_type)}", span
            )
        return ir.Compare(operator, left, right, boolean(left, right))
    if left_type.is_list or right_type.is_list:
        return place.error("T7", f"lists cannot be compared with {operator!r}", span, "use contains or in")
    if not same_scalar(left_type, right_type):
        return place.error(
            "T7", f"{describe(left_type)} cannot be compared with {describe(right_type)}", span, _cast_hint(left, right)
        )
    if not in_enum(place, left, right, span) or not in_enum(place, right, left, span):
        return None
    return ir.Compare(operator, left, right, boolean(left, right))


def _cast_hint(left: ir.Expression, right: ir.Expression) -> str | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(other, ir.Literal) and isinstance(other.value, str):
            scalar = cast("PropType", one.type).scalar
            if scalar in (ScalarType.DATE, ScalarType.DATE_TIME):
                return f"write {scalar.value.lower()}({other.value!r})".replace("'", '"')
    return None


def in_enum(place: Place, holder: ir.Expression, other: ir.Expression, span: Span) -> bool:
    """An enum compares as text, but a literal has to be one of its values."""
    values = cast("PropType", holder.type).enum_values
    if values is None or not isinstance(other, ir.Literal):
        return True
    for value in other.value if isinstance(other.value, tuple) else (other.value,):
        if value not in values:
            place.error("T3", f"{value!r} is not one of {', '.join(values)}", span, suggest(str(value), values))
            return False
    return True


def fits(place: Place, what: str, declared: PropType, value: ir.Expression, span: Span) -> bool:
    """Check that a value can be stored in a property: T3 for literals, T7 for everything else."""
    kind = value.type
    if isinstance(kind, ir.NullValue):
        if not declared.nullable:
            place.error("T3", f"{what} is not nullable", span)
        return declared.nullable
    if isinstance(value, ir.Literal):
        return _literal_fits(place, what, declared, value, span)
    if isinstance(kind, PropType) and _type_fits(declared, kind):
        return True
    place.error("T7", f"{what} is {declared.required}, the value is {describe(kind)}", span)
    return False


def _type_fits(declared: PropType, given: PropType) -> bool:
    if declared.is_list != given.is_list or declared.vector_dim != given.vector_dim:
        return False
    if declared.is_blob:
        return given.scalar in (ScalarType.BLOB, ScalarType.STRING)
    return same_scalar(declared, given)


def _literal_fits(place: Place, what: str, declared: PropType, value: ir.Literal, span: Span) -> bool:
    kind = cast("PropType", value.type)
    if declared.is_vector:
        return _vector_fits(place, what, declared, value, span)
    if declared.is_blob:
        place.error("T3", f"{what} is a Blob and takes a parameter, not a literal", span)
        return False
    if declared.is_list != kind.is_list:
        place.error("T3", f"{what} is {declared.required}, the value is {describe(kind)}", span)
        return False
    if value.value == ():
        return True
    if not same_scalar(declared, kind):
        hint = _cast_hint(ir.Property(None, what, declared), value)
        place.error("T3", f"{what} is {declared.required}, the value is {describe(kind)}", span, hint)
        return False
    if not in_enum(place, ir.Property(None, what, declared), value, span):
        return False
    return _numbers_fit(place, what, declared, value, span)


def _numbers_fit(place: Place, what: str, declared: PropType, value: ir.Literal, span: Span) -> bool:
    bounds = INTEGER_BOUNDS.get(declared.scalar)
    if bounds is None:
        return True
    for number in value.value if isinstance(value.value, tuple) else (value.value,):
        amount = cast("float", number)
        if not math.isfinite(amount) or amount != int(amount):
            place.error("T3", f"{what} is {declared.scalar} and takes no fractions", span)
            return False
        if not bounds[0] <= amount <= bounds[1]:
            place.error("T3", f"{number} is outside the range of {declared.scalar} ({what})", span)
            return False
    return True


def _vector_fits(place: Place, what: str, declared: PropType, value: ir.Literal, span: Span) -> bool:
    kind = cast("PropType", value.type)
    if not isinstance(value.value, tuple) or not kind.scalar.is_numeric:
        place.error("T3", f"{what} is {declared.required} and takes a list of numbers", span)
        return False
    if len(value.value) != declared.vector_dim:
        place.error("T3", f"{what} has {declared.vector_dim} dimensions, the list has {len(value.value)}", span)
        return False
    return True
