"""Expressions, every one with its type."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omnigraph.query.ir.types import BOOL, DATE_TIME, STRING, NodeValue, PathValue, ValueType

if TYPE_CHECKING:
    from datetime import date, datetime

    from omnigraph.model.types import PropType


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; a list literal has a tuple for its value."""

    value: str | int | float | bool | date | datetime | tuple[object, ...] | None
    type: ValueType


@dataclass(frozen=True, slots=True)
class Parameter:
    """The value the caller gives."""

    name: str
    type: PropType


@dataclass(frozen=True, slots=True)
class Now:
    """The time of this query: one value however often it is used."""

    type: PropType = DATE_TIME


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a bound node or edge, or of the mutated row when there is no variable."""

    variable: str | None
    name: str
    type: PropType


class IdentityField(StrEnum):
    """The fields every node or edge has."""

    ID = "id"
    SRC = "src"
    DST = "dst"


@dataclass(frozen=True, slots=True)
class Identity:
    """`@id`, `@src` or `@dst` of a bound node or edge, or of the mutated row."""

    variable: str | None
    field: IdentityField
    type: PropType = STRING


@dataclass(frozen=True, slots=True)
class Entity:
    """A whole node or path; as a column it is an object."""

    variable: str
    type: NodeValue | PathValue


@dataclass(frozen=True, slots=True)
class SameNode:
    """Whether two variables are the same node: same type and same id."""

    left: str
    right: str
    negated: bool
    type: PropType = BOOL


@dataclass(frozen=True, slots=True)
class Compare:
    """`= != < <= > >=`, and on text `contains`, `starts_with`, `ends_with`."""

    operator: str
    left: Expression
    right: Expression
    type: PropType


@dataclass(frozen=True, slots=True)
class Member:
    """Whether an item is in a list: `in`, `not in`, and `contains` on a list."""

    item: Expression
    items: Expression
    negated: bool
    type: PropType


@dataclass(frozen=True, slots=True)
class IsNull:
    """`is null` and `is not null`; never null itself."""

    operand: Expression
    negated: bool
    type: PropType = BOOL


@dataclass(frozen=True, slots=True)
class Logic:
    """`and` or `or` over two or more operands."""

    operator: str
    operands: tuple[Expression, ...]
    type: PropType


@dataclass(frozen=True, slots=True)
class Not:
    """`not x`."""

    operand: Expression
    type: PropType


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+ -` or `* / %`, evaluated from left to right."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]
    type: PropType


@dataclass(frozen=True, slots=True)
class Negate:
    """`-x`."""

    operand: Expression
    type: PropType


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list with at least one item that is not a literal."""

    items: tuple[Expression, ...]
    type: PropType


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function of `functions.py`."""

    function: str
    arguments: tuple[Expression, ...]
    type: PropType


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`count sum avg min max collect`; nulls are left out before anything else."""

    function: str
    argument: Expression
    distinct: bool
    type: PropType


@dataclass(frozen=True, slots=True)
class TextMatch:
    """`search`, `match_text` or `fuzzy` on a text property of a node."""

    function: str
    variable: str
    property: str
    query: Expression
    edits: Expression | None = None
    type: PropType = BOOL


@dataclass(frozen=True, slots=True)
class Nearest:
    """Cosine distance of a node's vector from a vector, or from a text that is embedded first."""

    variable: str
    property: str
    query: Expression
    embed_text: bool
    type: PropType


@dataclass(frozen=True, slots=True)
class TextScore:
    """`bm25`: relevance of a node's text."""

    variable: str
    property: str
    query: Expression
    type: PropType


@dataclass(frozen=True, slots=True)
class Fusion:
    """`rrf`: two rankings merged by rank."""

    first: Nearest | TextScore
    second: Nearest | TextScore
    k: Expression
    type: PropType


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A result column, by its name."""

    name: str
    type: ValueType


Rank = Nearest | TextScore | Fusion
Expression = (
    Literal
    | Parameter
    | Now
    | Property
    | Identity
    | Entity
    | SameNode
    | Compare
    | Member
    | IsNull
    | Logic
    | Not
    | Arithmetic
    | Negate
    | ListOf
    | Call
    | Aggregate
    | TextMatch
    | Nearest
    | TextScore
    | Fusion
    | ColumnRef
)
