"""SQL text in either dialect."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from sqlglot import ErrorLevel
from sqlglot import exp as e
from sqlglot.dialects import DuckDB, Spark

if TYPE_CHECKING:
    from sqlglot import exp


def _split(generator: Spark.Generator, node: e.Split) -> str:
    """Spark splits by a pattern: quote the separator as Java does, an end of quotation within it included."""
    separator = e.Replace(this=node.expression, expression=_text(r"\E"), replacement=_text(r"\E\\E\Q"))
    quoted = e.Concat(expressions=[_text(r"\Q"), separator, _text(r"\E")], safe=True)
    return generator.func("SPLIT", node.this, quoted)


def _whole(generator: Spark.Generator, node: e.Floor | e.Ceil) -> str:
    """Spark gives whole numbers of 64 bits: without minus zero, and the largest for what is beyond."""
    value = generator.sql(node, "this")
    rounded = generator.func("CEIL" if isinstance(node, e.Ceil) else "FLOOR", node.this)
    small = f"IF({rounded} = 0, {value} * 0D, CAST({rounded} AS DOUBLE))"
    return f"IF(ABS({value}) < 4503599627370496, {small}, {value})"  # beyond, every float is whole


def _text(value: str) -> e.Expr:
    return e.Literal.string(value)


class _SparkGenerator(Spark.Generator):
    TRANSFORMS = {**Spark.Generator.TRANSFORMS, e.Split: _split, e.Floor: _whole, e.Ceil: _whole}  # noqa: RUF012 - the shape sqlglot asks for
    # Spark has no unsigned integers: the next type that holds them all stands for each.
    TYPE_MAPPING = {  # noqa: RUF012 - the shape sqlglot asks for
        **Spark.Generator.TYPE_MAPPING,
        e.DataType.Type.UINT: "BIGINT",
        e.DataType.Type.UBIGINT: "DECIMAL(20, 0)",
    }


class _OmniSpark(Spark):
    Generator = _SparkGenerator


class Dialect(Enum):
    """The engines a plan can be written for."""

    DUCKDB = DuckDB
    SPARK = _OmniSpark


def render(expression: exp.Expr, dialect: Dialect = Dialect.DUCKDB) -> str:
    """Write SQL; what a dialect cannot say is an error, never a guess."""
    return expression.sql(dialect=dialect.value, unsupported_level=ErrorLevel.RAISE)
