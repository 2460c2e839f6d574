"""A type with a property of every kind, rows with edge values, and expressions compiled from text."""

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from omnigraph.execute.rows import compute
from omnigraph.query import CheckedMutation, compile_queries, decode_params, ir
from omnigraph.schema import compile_schema
from omnigraph.schema.arrow import table_schema

SCHEMA = """
node Row {
    key: String @key
    text: String?
    word: String?
    flag: Bool?
    i32: I32?
    i64: I64?
    u32: U32?
    u64: U64?
    f32: F32?
    f64: F64?
    day: Date?
    moment: DateTime?
    role: enum(admin, guest)?
    texts: [String]?
    whole: [I64]?
    small: [I32]?
    floats: [F64]?
    days: [Date]?
    vector: Vector(2)?
    userName: String?
    username: String?
}
edge Link: Row -> Row {
    since: Date?
    weight: F64?
}
"""
CATALOG = compile_schema(SCHEMA)
ROW = table_schema(CATALOG.node_types["Row"])
LINK = table_schema(CATALOG.edge_types["Link"])
NOW = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
NAN, INF = float("nan"), float("inf")


def expression(text: str, parameters: str = "", type_name: str = "Row") -> ir.Expression:
    """Compile an expression over the row of a mutation, whatever its type."""
    source = f"query q({parameters}) {{ delete {type_name} where ({text}) is null }}"
    (query,) = compile_queries(source, CATALOG).queries
    assert isinstance(query, CheckedMutation)
    (statement,) = query.statements
    assert isinstance(statement, ir.Delete)
    assert isinstance(statement.condition, ir.IsNull)
    return statement.condition.operand


def given(parameters: str, values: dict[str, Any]) -> dict[str, Any]:
    """Decode parameters as a caller gives them."""
    source = f"query q({parameters}) {{ delete Row where key is null }}"
    (query,) = compile_queries(source, CATALOG).queries
    return decode_params(query, values)


def rows(*each: dict[str, Any]) -> pa.Table:
    """Make rows of what matters; the rest is null."""
    filled = [dict.fromkeys(ROW.names) | {"id": str(n), "key": str(n)} | row for n, row in enumerate(each)]
    return pa.table({f.name: pa.array([row[f.name] for row in filled], f.type) for f in ROW})


def evaluate(
    text: str, row: dict[str, Any] | None = None, parameters: str = "", values: dict[str, Any] | None = None
) -> Any:
    """Evaluate an expression over one row, by the engine."""
    found = compute(rows(row or {}), {"value": expression(text, parameters)}, given(parameters, values or {}), NOW)
    assert found.num_rows == 1
    return found.column("value")[0].as_py()


def single(value: float) -> float:
    """Round to F32."""
    return float(np.float32(value))


__all__ = ["CATALOG", "INF", "LINK", "NAN", "NOW", "ROW", "UTC", "date", "datetime", "evaluate", "expression", "rows"]
