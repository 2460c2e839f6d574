"""`order`, `limit` and `offset` (T9, T17, T18, T21, T27, T28)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.query import ast, ir
from omnigraph.query.check.columns import check_value, is_grouped
from omnigraph.query.check.context import describe
from omnigraph.query.walk import has_aggregate, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omnigraph.query.check.context import Place

Amount = ir.Literal | ir.Parameter


def check_order(
    place: Place, read: ast.Read, columns: Mapping[str, ir.Column | None]
) -> tuple[tuple[ir.OrderKey, ...], bool]:
    """Check `order { … }`; tells, too, whether a key aggregates."""
    inside = replace(place, columns=columns, aggregates=True)
    keys = [(node, _key(inside, node, columns)) for node in read.order]
    found = [key for _, key in keys if key is not None]
    _check_nearest(place, read, keys)
    return tuple(found), any(has_aggregate(key.value) for key in found)


def _key(place: Place, node: ast.OrderKey, columns: Mapping[str, ir.Column | None]) -> ir.OrderKey | None:
    value = check_value(place, node.value)
    if value is None:
        return None
    kind = value.type
    if not isinstance(kind, PropType) or kind.is_list or kind.is_vector:
        hint = "order by its .@id or a property" if isinstance(kind, ir.NodeValue) else None
        return place.error("T7", f"rows cannot be ordered by {describe(kind)}", node.span, hint)
    if isinstance(value, ir.ColumnRef):
        column = columns[value.name]
        if column is not None and isinstance(column.value, ir.Rank):
            return ir.OrderKey(column.value, node.descending)
        return ir.OrderKey(value, node.descending)
    if isinstance(value, ir.Nearest):
        if node.direction == "desc":
            return place.error(
                "T15", "nearest puts the nearest first", node.span, "name it as a column to turn it round"
            )
        return ir.OrderKey(value, descending=False)
    # A direction behind a score has no meaning: the best comes first.
    return ir.OrderKey(value, node.descending or isinstance(value, ir.TextScore | ir.Fusion))


def _check_nearest(place: Place, read: ast.Read, keys: Sequence[tuple[ast.OrderKey, ir.OrderKey | None]]) -> None:
    """T17: a distance orders every row, so it needs a limit. T18: it stands alone or has a name."""
    direct = False
    for node, key in keys:
        if key is not None and isinstance(key.value, ir.Nearest):
            direct = direct or isinstance(node.value, ast.Call)
            if read.limit is None:
                place.error("T17", "ordering by nearest needs a limit", node.span, "add limit 10 behind order")
    names = [node for node, _ in keys if isinstance(node.value, ast.Word)]
    if direct and names:
        place.error(
            "T18",
            "nearest in order cannot stand beside a column name",
            names[0].span,
            "return it as a column too: nearest( … ) as distance, then order { distance, … }",
        )


def check_fusion(place: Place, read: ast.Read, columns: Iterable[ir.Column], order: Iterable[ir.OrderKey]) -> None:
    """T21: a fusion ranks the best of both arms, and `limit` says how many that are."""
    if read.limit is not None or place.findings.count:
        return
    values = [*(column.value for column in columns), *(key.value for key in order)]
    for node, value in zip((*read.projections, *read.order), values, strict=True):
        if any(isinstance(part, ir.Fusion) for part in walk(value)):
            place.error("T21", "rrf needs a limit", node.value.span, "add limit 10 at the end")
            return


def check_order_scope(
    place: Place,
    read: ast.Read,
    order: Sequence[ir.OrderKey],
    columns: Sequence[ir.Column],
    *,
    grouped: bool,
) -> None:
    """Check that what orders the rows is still there after grouping (T9) or `distinct` (T28)."""
    if len(order) != len(read.order):
        return
    keys = {column.value for column in columns if not column.aggregated}
    values = {column.value for column in columns}
    for node, key in zip(read.order, order, strict=True):
        if grouped and not is_grouped(key.value, keys):
            place.error("T9", "this key differs within a group", node.span, "order by a column or an aggregate")
        elif read.distinct and not is_grouped(key.value, values):
            place.error("T28", "distinct rows are ordered by what they return", node.span, "return this value too")


def check_amount(place: Place, word: str, node: ast.Expression | None) -> Amount | None:
    """Check the number behind `limit` or `offset`: T27."""
    if node is None:
        return None
    if isinstance(node, ast.Literal):
        amount = node.value
        assert isinstance(amount, int)
        if amount > INTEGER_BOUNDS[ScalarType.U64][1]:
            return place.error("T27", f"{word} is larger than any integer type", node.span)
        return ir.Literal(amount, ir.I64)
    assert isinstance(node, ast.Variable)
    if node.name not in place.parameters:
        hint = suggest(node.name, place.parameters)
        return place.error("T27", f"{word} takes a number or a parameter; ${node.name} is neither", node.span, hint)
    kind = place.parameters[node.name]
    if kind is None:
        return None
    if kind.is_list or not kind.scalar.is_integer or kind.nullable:
        return place.error("T27", f"{word} takes an integer, and ${node.name} is {kind}", node.span)
    return ir.Parameter(node.name, kind)
