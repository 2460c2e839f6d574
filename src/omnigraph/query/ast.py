"""What a `.gq` file says, before anybody looks at a schema.

Spans do not take part in comparison: two trees are equal when they say the same.
Operator chains are flat, so only brackets and prefix operators make a tree deep, and the lexer bounds both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import Span

if TYPE_CHECKING:
    from omnigraph.model.diagnostics import SourceText

LiteralValue = str | int | float | bool | None
NOWHERE = Span(0, 0)


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)  # pyright: ignore[reportReturnType]


@dataclass(frozen=True, slots=True)
class Name:
    """A word with its place: a query, property, edge, type or column name."""

    text: str
    span: Span = _span()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`; the text has no dollar. `_` is anonymous."""

    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, number, bool or null."""

    value: LiteralValue
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class TimeLiteral:
    """`date("…")` or `datetime("…")`; `function` says which."""

    function: str
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Access:
    """`$x.property`."""

    variable: Variable
    property: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Identity:
    """`$x.@id`, `$e.@src` or `$e.@dst`; without a variable it is a field of the mutated row."""

    variable: Variable | None
    field: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: a column in `return` and `order`, a property in a mutation."""

    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b]`."""

    items: tuple[Expression, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`, the aggregates and search functions included."""

    function: Name
    arguments: tuple[Expression, ...]
    distinct: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Prefix:
    """`not x` or `-x`."""

    operator: str
    operand: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands joined by operators of one precedence: all `or`, all `and`, `+ -` or `* / %`."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`; the operators `in` and `not in` are among them."""

    left: Expression
    operator: str
    right: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class NullTest:
    """`x is null` or `x is not null`."""

    operand: Expression
    negated: bool
    span: Span = _span()


Expression = (
    Variable | Literal | TimeLiteral | Access | Identity | Word | ListOf | Call | Prefix | Chain | Comparison | NullTest
)


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """`name: value` in a binding or an assignment list."""

    property: Name
    value: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Binding:
    """`$x: Type { name: value }`."""

    variable: Variable
    type_name: Name
    properties: tuple[PropertyValue, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Hops:
    """`{least,most}`; no `most` means any number."""

    least: int
    most: int | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Traversal:
    """`$a edge $b`, with an edge variable, undirected, with hops, or with a path variable."""

    source: Variable
    edge: Name
    target: Variable
    edge_variable: Variable | None = None
    undirected: bool = False
    hops: Hops | None = None
    path_variable: Variable | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """`$a contains $b`: a traversal if the schema has such an edge, a filter otherwise."""

    left: Variable
    word: Name
    right: Variable
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition every row has to meet."""

    condition: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Block:
    """`not { }`, `exists { }` or `optional { }`; `kind` is the word."""

    kind: str
    clauses: tuple[Clause, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class AggregateBlock:
    """`count { … } > 2` or `sum($d.size) { … } > 100`."""

    function: Name
    argument: Expression | None
    clauses: tuple[Clause, ...]
    operator: str
    value: Expression
    distinct: bool = False
    span: Span = _span()


Clause = Binding | Traversal | Ambiguous | Filter | Block | AggregateBlock


@dataclass(frozen=True, slots=True)
class Projection:
    """One result column."""

    value: Expression
    alias: Name | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of `order`; `direction` is empty when none is written."""

    value: Expression
    direction: str = ""
    span: Span = _span()

    @property
    def descending(self) -> bool:
        """Tell whether the largest comes first."""
        return self.direction == "desc"


@dataclass(frozen=True, slots=True)
class Section:
    """Where a block of the body stands, so that comments inside it are kept there."""

    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Read:
    """`match … return … order … limit … offset`."""

    match: tuple[Clause, ...]
    projections: tuple[Projection, ...]
    distinct: bool = False
    order: tuple[OrderKey, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None
    sections: tuple[Section, ...] = field(default=(), compare=False, repr=False)
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Insert:
    """`insert Type { … }`."""

    type_name: Name
    assignments: tuple[PropertyValue, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Update:
    """`update Type set { … } where …`."""

    type_name: Name
    assignments: tuple[PropertyValue, ...]
    condition: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Delete:
    """`delete Type where …`."""

    type_name: Name
    condition: Expression
    span: Span = _span()


Statement = Insert | Update | Delete


@dataclass(frozen=True, slots=True)
class Mutation:
    """Statements that one commit makes visible together."""

    statements: tuple[Statement, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class TypeReference:
    """A parameter's type as written."""

    name: str
    is_list: bool = False
    dimension: int | None = None
    nullable: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name: Type`."""

    variable: Variable
    type: TypeReference
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Note:
    """`@description("…")` or `@instruction("…")`."""

    name: Name
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """One query of a file."""

    name: Name
    parameters: tuple[Parameter, ...]
    notes: tuple[Note, ...]
    body: Read | Mutation
    span: Span = _span()

    @property
    def description(self) -> str | None:
        """Give the text of `@description`."""
        return self._note("description")

    @property
    def instruction(self) -> str | None:
        """Give the text of `@instruction`."""
        return self._note("instruction")

    def _note(self, name: str) -> str | None:
        return next((note.text for note in self.notes if note.name.text == name), None)


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """All queries of one text, in the order written."""

    queries: tuple[ParsedQuery, ...]
    source: SourceText = field(compare=False, repr=False)

    def query(self, name: str) -> ParsedQuery | None:
        """Find a query by name; the first of that name wins."""
        return next((query for query in self.queries if query.name.text == name), None)
