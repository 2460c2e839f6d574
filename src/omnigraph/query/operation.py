"""What a query takes, gives and touches, as tools and clients read it: JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.types import PropType, ScalarType
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Iterable

_KINDS = {
    ScalarType.STRING: "string",
    ScalarType.BLOB: "blob",
    ScalarType.BOOL: "bool",
    ScalarType.I32: "int",
    ScalarType.U32: "int",
    ScalarType.I64: "bigint",
    ScalarType.U64: "bigint",
    ScalarType.F32: "float",
    ScalarType.F64: "float",
    ScalarType.DATE: "date",
    ScalarType.DATE_TIME: "datetime",
    ScalarType.VECTOR: "vector",
}


def describe_operation(query: ir.CheckedQuery) -> dict[str, object]:
    """Give the result columns of a query and the types it reads and writes."""
    columns = query.columns if isinstance(query, ir.CheckedRead) else ()
    return {
        "result": [_column(column) for column in columns],
        "reads": _uses(query.reads),
        "writes": _uses(query.writes),
    }


def describe_value(name: str, kind: ir.ValueType, nullable: bool) -> dict[str, object]:
    """Describe a parameter or a column: name, kind, and what the kind needs to be complete."""
    described: dict[str, object] = {"name": name}
    if not isinstance(kind, PropType):
        described["kind"] = "object"
    elif kind.is_list:
        described |= {"kind": "list", "item_kind": _KINDS[kind.scalar]}
    else:
        described["kind"] = _KINDS[kind.scalar]
        if kind.is_vector:
            described["vector_dim"] = kind.vector_dim
    described["nullable"] = nullable
    return described


def _column(column: ir.Column) -> dict[str, object]:
    # Aggregates are announced as nullable, a count too: clients generated from older descriptors rely on it.
    nullable = column.type.nullable or (isinstance(column.value, ir.Aggregate) and column.value.function != "collect")
    return describe_value(column.operation_name, column.type, nullable)


def _uses(uses: Iterable[ir.TypeUse]) -> list[dict[str, str]]:
    return [{"kind": "edge" if use.is_edge else "node", "type_name": use.type_name} for use in sorted(uses)]
