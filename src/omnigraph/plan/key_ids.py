"""A key of one String is the node's id. Reading the id instead spares a table: edges carry the ids of their ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.model.types import ScalarType
from omnigraph.plan.transform import transform
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.schema.catalog import Catalog

Types = dict[str, tuple[str, ...]]
"""By variable, which types its nodes can be of."""


def keys_to_ids(read: ir.CheckedRead, catalog: Catalog) -> ir.CheckedRead:
    """Read ids instead of the keys they were made of."""
    types = _bound(read.pattern, {})
    return replace(
        read,
        pattern=_pattern(read.pattern, {}, catalog),
        columns=tuple(replace(column, value=_value(column.value, types, catalog)) for column in read.columns),
        order=tuple(replace(key, value=_value(key.value, types, catalog)) for key in read.order),
    )


def _pattern(pattern: ir.Pattern, outer: Mapping[str, tuple[str, ...]], catalog: Catalog) -> ir.Pattern:
    types = _bound(pattern, outer)
    return replace(
        pattern,
        scans=tuple(
            replace(scan, conditions=tuple(_value(each, types, catalog) for each in scan.conditions))
            for scan in pattern.scans
        ),
        optionals=tuple(_block(block, types, catalog) for block in pattern.optionals),
        filters=tuple(_value(each, types, catalog) for each in pattern.filters),
        blocks=tuple(_block(block, types, catalog) for block in pattern.blocks),
    )


def _block(block: ir.Block, outer: Types, catalog: Catalog) -> ir.Block:
    test = block.test
    if test is not None:
        inside = _bound(block.pattern, outer)
        argument = None if test.argument is None else _value(test.argument, inside, catalog)
        test = replace(test, argument=argument, value=_value(test.value, outer, catalog))
    return replace(block, pattern=_pattern(block.pattern, outer, catalog), test=test)


def _bound(pattern: ir.Pattern, outer: Mapping[str, tuple[str, ...]]) -> Types:
    """The types of the variables a pattern sees."""
    own = {each.name: each.type.types for each in pattern.variables if isinstance(each.type, ir.NodeValue)}
    hidden = {each.name for each in pattern.variables} - own.keys()
    return {name: types for name, types in {**outer, **own}.items() if name not in hidden}


def _value(value: ir.Expression, types: Types, catalog: Catalog) -> ir.Expression:
    def rewrite(part: ir.Expression) -> ir.Expression | None:
        if isinstance(part, ir.Property) and part.variable is not None:
            owners = types.get(part.variable, ())
            if owners and all(_is_id(part.name, owner, catalog) for owner in owners):
                return ir.Identity(part.variable, ir.IdentityField.ID, part.type)
        return None

    return transform(value, rewrite)


def _is_id(name: str, owner: str, catalog: Catalog) -> bool:
    table = catalog.node_types[owner]
    return table.key == (name,) and table.properties_by_name[name].type.scalar is ScalarType.STRING
