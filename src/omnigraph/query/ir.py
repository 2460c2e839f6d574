"""A checked query: every name resolved, every expression typed. Engines read this and never the tree.

Null: a comparison, `in`, arithmetic or function with a null operand is null, and a filter keeps a row only if
its condition is true. `and`, `or` and `not` are three-valued. `is null` and `coalesce` are the exceptions.
Dividing by zero gives null. A variable that only an `optional` block binds is null where the block found nothing.

Evaluation order within one pattern: scans, expansions, optional blocks, filters, then the other blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omnigraph.model.types import PropType, ScalarType

if TYPE_CHECKING:
    from datetime import date, datetime

# -- types ---------------------------------------------------------------------------------------------


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

# -- expressions ---------------------------------------------------------------------------------------


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

# -- patterns ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A name of the pattern and what it stands for. Names with `#` were anonymous in the text."""

    name: str
    type: VariableType


@dataclass(frozen=True, slots=True)
class Scan:
    """A declared binding: nodes of these types that meet the conditions, which read no other variable.

    In a block the variable may be one from outside; then the scan keeps or drops what it stands for.
    """

    variable: str
    types: tuple[str, ...]
    interface: str | None
    conditions: tuple[Expression, ...] = ()


class Direction(StrEnum):
    """Which way edges are followed, seen from the expansion's source."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Expand:
    """A traversal. Without an edge variable each source and target pair is one row, kept when the shortest
    distance lies within the hops; with one, every edge is a row. `max_hops` None means any number.
    An end whose variable could be of several types is of `source_type` or `target_type` here.
    """

    source: str
    target: str
    edge: str
    direction: Direction
    source_type: str
    target_type: str
    min_hops: int = 1
    max_hops: int | None = 1
    edge_variable: str | None = None
    path_variable: str | None = None

    @property
    def chains(self) -> bool:
        """Tell whether two such edges can follow each other; if not, more than one hop finds nothing."""
        return self.source_type == self.target_type


class BlockKind(StrEnum):
    """What a block does to the row it is evaluated for."""

    NOT = "not"
    EXISTS = "exists"
    OPTIONAL = "optional"
    AGGREGATE = "aggregate"


@dataclass(frozen=True, slots=True)
class BlockTest:
    """The value an aggregate block computes over its matches, and what it is compared with."""

    function: str
    argument: Expression | None
    distinct: bool
    operator: str
    value: Expression
    type: PropType


@dataclass(frozen=True, slots=True)
class Block:
    """A pattern evaluated once per outer row. `outer` are the variables it takes from there."""

    kind: BlockKind
    pattern: Pattern
    outer: tuple[str, ...]
    test: BlockTest | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A clause list. `variables` are those it introduces, in order; optional ones are among them."""

    variables: tuple[BoundVariable, ...]
    scans: tuple[Scan, ...]
    expansions: tuple[Expand, ...]
    optionals: tuple[Block, ...]
    filters: tuple[Expression, ...]
    blocks: tuple[Block, ...]


# -- queries -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A declared parameter."""

    name: str
    type: PropType


@dataclass(frozen=True, slots=True)
class Column:
    """A result column. `operation_name` is the name the operation descriptor uses for it."""

    name: str
    operation_name: str
    value: Expression

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
        return isinstance(self.value, Nearest | TextScore | Fusion)


@dataclass(frozen=True, slots=True, order=True)
class TypeUse:
    """A type a query reads or writes."""

    is_edge: bool
    type_name: str


@dataclass(frozen=True, slots=True)
class CheckedRead:
    """A query that reads. `grouped`: aggregates are computed per combination of the columns without one."""

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
