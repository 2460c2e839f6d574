"""Types of a table as Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_schema

from omnigraph.model.types import PropType, ScalarType, blob_uri_column

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.schema import EdgeType, NodeType

_SCALARS: dict[ScalarType, t.DataType] = {
    ScalarType.STRING: t.StringType(),
    ScalarType.BLOB: t.BinaryType(),
    ScalarType.BOOL: t.BooleanType(),
    ScalarType.I32: t.IntegerType(),
    ScalarType.I64: t.LongType(),
    ScalarType.U32: t.LongType(),
    ScalarType.U64: t.DecimalType(20, 0),
    ScalarType.F32: t.FloatType(),
    ScalarType.F64: t.DoubleType(),
    ScalarType.DATE_TIME: t.TimestampType(),
    ScalarType.DATE: t.DateType(),
    ScalarType.VECTOR: t.FloatType(),
}
"""Spark has no unsigned integers: the next type that holds them all stands for each."""


def spark_type(declared: PropType) -> t.DataType:
    """Spark's type for a property."""
    scalar = _SCALARS[declared.scalar]
    return t.ArrayType(scalar) if declared.is_list or declared.is_vector else scalar


def spark_schema(table: NodeType | EdgeType, *, blobs: bool = False) -> t.StructType:
    """The columns of a table. Blobs, which are read row by row, come only if they are wanted."""
    fields = [t.StructField(name, t.StringType()) for name in table.fields]
    for each in table.properties:
        if not each.type.is_blob:
            fields.append(t.StructField(each.name, spark_type(each.type)))
        elif blobs:
            fields.append(t.StructField(each.name, t.BinaryType()))
            fields.append(t.StructField(blob_uri_column(each.name), t.StringType()))
    return t.StructType(fields)


def arrow_schema(schema: t.StructType) -> pa.Schema:
    """The Arrow form in which Spark takes rows of a schema."""
    return to_arrow_schema(schema, timezone="UTC")
