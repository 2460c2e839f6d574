"""The catalog as Arrow schemas: what the columns of each table look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.types import BLOB_MARK, PropType, ScalarType, blob_uri_column

if TYPE_CHECKING:
    from omnigraph.schema.catalog import Catalog, EdgeType, NodeType

_SCALARS: dict[ScalarType, pa.DataType] = {
    ScalarType.STRING: pa.string(),
    ScalarType.BLOB: pa.large_binary(),
    ScalarType.BOOL: pa.bool_(),
    ScalarType.I32: pa.int32(),
    ScalarType.I64: pa.int64(),
    ScalarType.U32: pa.uint32(),
    ScalarType.U64: pa.uint64(),
    ScalarType.F32: pa.float32(),
    ScalarType.F64: pa.float64(),
    ScalarType.DATE_TIME: pa.timestamp("ms", "UTC"),
    ScalarType.DATE: pa.date32(),
}


def table_schemas(catalog: Catalog) -> dict[str, pa.Schema]:
    """Give the schema of every table, keyed `node:Person` or `edge:Knows`."""
    return {key: table_schema(table) for key, table in catalog.tables_by_key.items()}


def table_key(table: NodeType | EdgeType) -> str:
    """Give the name a table goes by: a node type and an edge type may share theirs."""
    return f"{table.kind}:{table.name}"


def table_schema(table: NodeType | EdgeType) -> pa.Schema:
    """Give the schema of one table: the implicit columns, then the properties by name."""
    implicit = [pa.field(name, pa.string(), nullable=False) for name in table.fields]
    declared = [field for p in table.properties for field in property_fields(p.name, p.type)]
    return pa.schema([*implicit, *declared])


def property_fields(name: str, declared: PropType) -> list[pa.Field]:
    """Give the columns that store a property. A Blob has two: its bytes, or the address of what is held elsewhere.

    Both may be null, of a required Blob as well, because one of them always is.
    """
    if not declared.is_blob:
        return [pa.field(name, arrow_type(declared), nullable=declared.nullable)]
    return [pa.field(name, arrow_type(declared), metadata=BLOB_MARK), pa.field(blob_uri_column(name), pa.string())]


def arrow_type(declared: PropType) -> pa.DataType:
    """Give the Arrow type that stores a property's values; an enum is stored as its strings."""
    if declared.vector_dim is not None:
        return pa.list_(pa.float32(), declared.vector_dim)
    scalar = _SCALARS[declared.scalar]
    return pa.list_(scalar) if declared.is_list else scalar
