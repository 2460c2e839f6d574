"""How many rows to expect. Rough on purpose: it only has to tell a few from many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from omnigraph.query import ir
from omnigraph.query.conditions import column_name, conjuncts
from omnigraph.schema.arrow import table_key

if TYPE_CHECKING:
    from omnigraph.schema.catalog import Catalog, EdgeType, NodeType

_ONE_OF_MANY = 0.05
_RANGE = 0.3
_TEXT = 0.1
_OTHER = 0.5
_HOPS_COUNTED = 4
"""Beyond this many hops most of what can be reached is reached."""


class Sizes(Protocol):
    """How large tables are."""

    def rows(self, key: str) -> int:
        """Give the number of rows of a table."""
        ...


class Estimates:
    """Expected numbers of rows for one catalog and the tables of one snapshot."""

    def __init__(self, catalog: Catalog, sizes: Sizes) -> None:
        self._catalog = catalog
        self._sizes = sizes

    def nodes(self, types: tuple[str, ...], condition: ir.Expression | None) -> float:
        """How many nodes of some types meet a condition."""
        found = 0.0
        for name in types:
            table = self._catalog.node_types[name]
            rows = self._sizes.rows(table_key(table))
            found += rows * share(condition, table, rows)
        return found

    def share(self, types: tuple[str, ...], condition: ir.Expression | None) -> float:
        """Which share of the nodes of some types meets a condition."""
        total = sum(self._sizes.rows(f"node:{name}") for name in types)
        return min(1.0, self.nodes(types, condition) / total) if total else 1.0

    def edges(self, expand: ir.Expand) -> int:
        """How many edges there are to follow."""
        return self._sizes.rows(f"edge:{expand.edge}")

    def fanout(self, expand: ir.Expand) -> float:
        """How many nodes one source reaches."""
        sources = max(1, self._sizes.rows(f"node:{expand.source_type}"))
        targets = max(1, self._sizes.rows(f"node:{expand.target_type}"))
        each = self.edges(expand) / sources * (2 if expand.direction is ir.Direction.BOTH else 1)
        hops = _HOPS_COUNTED if expand.max_hops is None else min(expand.max_hops, _HOPS_COUNTED)
        if hops == 1 or not expand.chains:
            return each
        return min(float(targets), sum(each**hop for hop in range(1, hops + 1)))

    def connected(self, expand: ir.Expand) -> float:
        """How likely a given source and a given target are connected."""
        targets = max(1, self._sizes.rows(f"node:{expand.target_type}"))
        return min(1.0, self.fanout(expand) / targets)


def share(condition: ir.Expression | None, table: NodeType | EdgeType, rows: int) -> float:
    """Which share of a table's rows meets a condition."""
    if condition is None:
        return 1.0
    found = 1.0
    for part in conjuncts(condition):
        found *= _share(part, table, max(1, rows))
    return max(found, 1 / max(1, rows))


def _share(part: ir.Expression, table: NodeType | EdgeType, rows: int) -> float:
    match part:
        case ir.Compare(operator="=", left=left, right=right):
            column = left if isinstance(left, ir.Property | ir.Identity) else right
            return 1 / rows if _is_unique(column, table) else _ONE_OF_MANY
        case ir.Compare(operator=operator):
            return _RANGE if operator in ("<", "<=", ">", ">=") else _OTHER if operator == "!=" else _TEXT
        case ir.Member(item=item, negated=False):
            return min(1.0, 10 / rows) if _is_unique(item, table) else 2 * _ONE_OF_MANY
        case ir.TextMatch():
            return _TEXT
        case ir.Logic(operator="or", operands=operands):
            return min(1.0, sum(_share(operand, table, rows) for operand in operands))
        case _:
            return _OTHER


def _is_unique(column: ir.Expression, table: NodeType | EdgeType) -> bool:
    if isinstance(column, ir.Identity):
        return column.field is ir.IdentityField.ID
    if not isinstance(column, ir.Property):
        return False
    name = (column_name(column),)
    return table.key == name or name in table.uniques
