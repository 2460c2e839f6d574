"""The types of the language as types of SQL, and values carried from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan.sql import cast, own

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.query import ir

_Type = exp.DataType.Type

_SCALARS: dict[ScalarType, exp.DataType] = {
    ScalarType.STRING: exp.DataType.build(_Type.TEXT),
    ScalarType.BLOB: exp.DataType.build(_Type.TEXT),  # what a parameter gives; stored ones are never read here
    ScalarType.BOOL: exp.DataType.build(_Type.BOOLEAN),
    ScalarType.I32: exp.DataType.build(_Type.INT),
    ScalarType.I64: exp.DataType.build(_Type.BIGINT),
    ScalarType.U32: exp.DataType.build(_Type.UINT),
    ScalarType.U64: exp.DataType.build(_Type.UBIGINT),
    ScalarType.F32: exp.DataType.build(_Type.FLOAT),
    ScalarType.F64: exp.DataType.build(_Type.DOUBLE),
    ScalarType.DATE: exp.DataType.build(_Type.DATE),
    ScalarType.DATE_TIME: exp.DataType.build(_Type.TIMESTAMPTZ),
    ScalarType.VECTOR: exp.DataType(this=_Type.ARRAY, nested=True, expressions=[exp.DataType.build(_Type.FLOAT)]),
}
INTEGER = exp.DataType.build(_Type.INT)
BIGINT = _SCALARS[ScalarType.I64]
DOUBLE = _SCALARS[ScalarType.F64]
TEXT = _SCALARS[ScalarType.STRING]
DATE = _SCALARS[ScalarType.DATE]
TIMESTAMPTZ = _SCALARS[ScalarType.DATE_TIME]
ANY_INTEGER = exp.DataType.build("DECIMAL(20, 0)")
"""Holds every I64 and every U64."""


@dataclass(frozen=True, slots=True)
class Term:
    """A lowered expression and the type it has in the language."""

    sql: exp.Expr
    type: ir.ValueType

    @property
    def scalar(self) -> ScalarType | None:
        """Give the scalar type of a value, None for null, nodes and paths."""
        return self.type.scalar if isinstance(self.type, PropType) else None

    @property
    def is_integer(self) -> bool:
        """Tell whether this is one integer."""
        return self.scalar is not None and self.scalar.is_integer

    def to(self, scalar: ScalarType) -> exp.Expr:
        """Give the value as another scalar type; it fails at run time where it does not fit."""
        return own(self.sql) if self.scalar is scalar else cast(self.sql, _SCALARS[scalar])


def sql_type(declared: ir.ValueType) -> exp.DataType:
    """Give the SQL type of values."""
    if not isinstance(declared, PropType):
        return TEXT.copy()
    scalar = _SCALARS[declared.scalar].copy()
    return list_of(scalar) if declared.is_list else scalar


def list_of(item: exp.DataType) -> exp.DataType:
    """Give the SQL type of a list."""
    return exp.DataType(this=_Type.ARRAY, nested=True, expressions=[item.copy()])


def common_type(scalars: set[ScalarType]) -> exp.DataType:
    """Give the type in which values compare. Integers do exactly, an integer and a float as F64."""
    if len(scalars) == 1:
        return _SCALARS[next(iter(scalars))]
    if any(scalar.is_float for scalar in scalars):
        return DOUBLE
    return ANY_INTEGER if ScalarType.U64 in scalars else BIGINT


def aligned(terms: Iterable[Term]) -> list[exp.Expr]:
    """Give terms as they compare: all in their common type."""
    found = list(terms)
    scalars = {term.scalar for term in found if term.scalar is not None}
    if len(scalars) <= 1:
        return [own(term.sql) for term in found]
    to = common_type(scalars)
    return [own(term.sql) if sql_type(term.type) == to else cast(term.sql, to) for term in found]
