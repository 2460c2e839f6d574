"""Result columns: names, types, and what may stand beside an aggregate (T9, T24, T25)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.model.types import PropType
from omnigraph.query import ast, ir
from omnigraph.query.check.expressions import check_expression
from omnigraph.query.walk import parts, variables, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from omnigraph.model.diagnostics import Span
    from omnigraph.query.check.context import Place


def check_columns(place: Place, projections: Sequence[ast.Projection]) -> dict[str, ir.Column | None]:
    """Check `return { … }`; a column that is wrong keeps its name, so that `order` can still use it."""
    columns: dict[str, ir.Column | None] = {}
    for node in projections:
        # A column may use those before it by name.
        value = check_value(replace(place, columns=columns, aggregates=True), node.value)
        name = node.alias.text if node.alias else column_name(value) if value else f"#{len(columns)}"
        if name in columns:
            _report_twice(place, name, node)
            continue
        operation_name = node.alias.text if node.alias else operation_name_of(value) if value else name
        columns[name] = value and ir.Column(name, operation_name, value, _is_aggregated(value, columns))
    return columns


def _is_aggregated(value: ir.Expression, columns: Mapping[str, ir.Column | None]) -> bool:
    for part in walk(value):
        column = columns.get(part.name) if isinstance(part, ir.ColumnRef) else None
        if isinstance(part, ir.Aggregate) or (column is not None and column.aggregated):
            return True
    return False


def _report_twice(place: Place, name: str, node: ast.Projection) -> None:
    hint = "choose another name" if node.alias else "name this one: … as other_name"
    place.error("T25", f"two columns are named {name!r}", node.alias.span if node.alias else node.span, hint)


def check_value(place: Place, node: ast.Expression) -> ir.Expression | None:
    """Check an expression whose value is read: no Blob, no bare null."""
    value = check_expression(place, node)
    if value is None:
        return None
    kind = value.type
    if isinstance(kind, PropType) and kind.is_blob:
        return place.error("T24", "a Blob cannot be read", node.span)
    if isinstance(kind, ir.NullValue):
        return place.error("T7", "null alone has no type", node.span, "use a property or a literal of some type")
    return value


# -- names ---------------------------------------------------------------------------------------------


def column_name(value: ir.Expression) -> str:
    """Name a column that has no alias, as rows do: an aggregate has the name of its argument."""
    match value:
        case ir.Property():
            return f"{value.variable}.{value.name}"
        case ir.Identity():
            return f"{value.variable}.@{value.field}"
        case ir.Aggregate():
            return column_name(value.argument)
        case _:
            return _plain_name(value)


def operation_name_of(value: ir.Expression) -> str:
    """Name a column that has no alias, as the operation descriptor does."""
    match value:
        case ir.Property():
            return value.name
        case ir.Identity():
            return value.field.value
        case ir.Aggregate():
            return value.function
        case _:
            return _plain_name(value)


def _plain_name(value: ir.Expression) -> str:
    match value:
        case ir.Entity():
            return value.variable
        case ir.Parameter() | ir.ColumnRef():
            return value.name
        case ir.Call() | ir.TextMatch():
            return value.function
        case _:
            return _WORDS.get(type(value), "value")


_WORDS: dict[type, str] = {
    ir.Literal: "literal",
    ir.Now: "now",
    ir.Nearest: "nearest",
    ir.TextScore: "bm25",
    ir.Fusion: "rrf",
}


# -- grouping ------------------------------------------------------------------------------------------


def check_groups(place: Place, columns: Sequence[ir.Column | None], spans: Iterable[Span]) -> None:
    """Check the columns of a query that aggregates: T9."""
    keys = {column.value for column in columns if column is not None and not column.aggregated}
    for column, span in zip(columns, spans, strict=False):
        if column is None:
            continue
        if not column.aggregated:
            if not is_group_key(column.value):
                place.error("T9", f"{column.name!r} is no group key beside an aggregate", span, "leave it out")
        elif not is_grouped(column.value, keys):
            place.error(
                "T9", f"{column.name!r} mixes an aggregate with values of single rows", span, "return those too"
            )


def is_group_key(value: ir.Expression) -> bool:
    """Tell whether rows can be grouped by a value: it comes from the row and is no ranking."""
    ranks = any(isinstance(part, ir.Rank) for part in walk(value))
    from_row = any(variables(value)) or any(isinstance(part, ir.ColumnRef) for part in walk(value))
    return from_row and not ranks


def is_grouped(value: ir.Expression, keys: AbstractSet[ir.Expression]) -> bool:
    """Tell whether a value is the same for all rows of a group, or an aggregate over them."""
    if isinstance(value, ir.Aggregate | ir.ColumnRef | ir.Literal | ir.Parameter | ir.Now) or value in keys:
        return True
    if isinstance(value, ir.Property | ir.Identity):
        return any(isinstance(key, ir.Entity) and key.variable == value.variable for key in keys)
    inner = list(parts(value))
    return bool(inner) and not any(_reads_directly(value)) and all(is_grouped(part, keys) for part in inner)


def _reads_directly(value: ir.Expression) -> Iterable[str]:
    return () if not isinstance(value, ir.SameNode | ir.TextMatch | ir.Nearest | ir.TextScore) else variables(value)
