"""What a value or a variable can be."""

from __future__ import annotations

from dataclasses import dataclass

from omnigraph.model.types import PropType, ScalarType


@dataclass(frozen=True, slots=True)
class NodeValue:
    """A node of one type, or of any type that implements the interface."""

    types: tuple[str, ...]
    interface: str | None = None
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class EdgeValue:
    """An edge of one type."""

    edge: str
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class PathValue:
    """One shortest path over edges of one type."""

    edge: str
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class NullValue:
    """The literal null, which fits every nullable type."""

    nullable: bool = True


ValueType = PropType | NodeValue | EdgeValue | PathValue | NullValue
VariableType = NodeValue | EdgeValue | PathValue

BOOL = PropType(ScalarType.BOOL)
STRING = PropType(ScalarType.STRING)
I64 = PropType(ScalarType.I64)
F64 = PropType(ScalarType.F64)
DATE = PropType(ScalarType.DATE)
DATE_TIME = PropType(ScalarType.DATE_TIME)
