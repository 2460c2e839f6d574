"""Whole queries: reads, mutations and their statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.query.ir.expressions import Rank

if TYPE_CHECKING:
    from omnigraph.model.types import PropType
    from omnigraph.query.ir.expressions import Expression, Literal, Parameter
    from omnigraph.query.ir.patterns import Pattern
    from omnigraph.query.ir.types import ValueType


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A declared parameter."""

    name: str
    type: PropType


@dataclass(frozen=True, slots=True)
class Column:
    """A result column. `operation_name` is the name the operation descriptor uses for it.

    `aggregated`: its value comes from a group of rows, by an aggregate or by a column with one.
    """

    name: str
    operation_name: str
    value: Expression
    aggregated: bool = False

    @property
    def type(self) -> ValueType:
        """Give the type of the column's values."""
        return self.value.type


@dataclass(frozen=True, slots=True)
class OrderKey:
    """Nulls come first ascending, last descending. A rank has its own direction filled in: best first.

    Keys behind a rank only break its ties. A column that is a rank stands here as that rank.
    """

    value: Expression
    descending: bool

    @property
    def is_rank(self) -> bool:
        """Tell whether a search ranking orders the rows."""
        return isinstance(self.value, Rank)


@dataclass(frozen=True, slots=True, order=True)
class TypeUse:
    """A type a query reads or writes."""

    is_edge: bool
    type_name: str

    @property
    def table(self) -> str:
        """Give its table: `node:Person` or `edge:Knows`."""
        return f"{'edge' if self.is_edge else 'node'}:{self.type_name}"


@dataclass(frozen=True, slots=True)
class CheckedRead:
    """A query that reads. If `grouped`, rows are grouped by all columns that are not aggregated."""

    name: str
    parameters: tuple[QueryParameter, ...]
    description: str | None
    instruction: str | None
    pattern: Pattern
    columns: tuple[Column, ...]
    distinct: bool
    grouped: bool
    order: tuple[OrderKey, ...]
    limit: Literal | Parameter | None
    offset: Literal | Parameter | None
    reads: tuple[TypeUse, ...]
    writes: tuple[TypeUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """A property and the value it gets. Update values may read the row; insert values may not."""

    property: str
    type: PropType
    value: Expression


@dataclass(frozen=True, slots=True)
class InsertNode:
    """A new node, or a whole-row replacement when the type has a key."""

    type_name: str
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class InsertEdge:
    """A new edge between two nodes given by their ids."""

    type_name: str
    source: Expression
    target: Expression
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """Change every row that meets the condition."""

    type_name: str
    is_edge: bool
    assignments: tuple[Assignment, ...]
    condition: Expression


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove every row that meets the condition; a node takes its edges along."""

    type_name: str
    is_edge: bool
    condition: Expression


Statement = InsertNode | InsertEdge | Update | Delete


@dataclass(frozen=True, slots=True)
class CheckedMutation:
    """A query that writes: its statements become one commit."""

    name: str
    parameters: tuple[QueryParameter, ...]
    description: str | None
    instruction: str | None
    statements: tuple[Statement, ...]
    reads: tuple[TypeUse, ...]
    writes: tuple[TypeUse, ...]


CheckedQuery = CheckedRead | CheckedMutation
