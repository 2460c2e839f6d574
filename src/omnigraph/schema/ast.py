"""The tree of a schema text: what was written, and where. Spans do not take part in comparison."""

from __future__ import annotations

from dataclasses import dataclass, field

from omnigraph.model.diagnostics import SourceText, Span

NOWHERE = Span(0, 0)
Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Name:
    """A word that names a type or a property."""

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value. A bare word stands for its text, except `true` and `false`."""

    value: Value
    bare: bool = field(default=False, compare=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bounds:
    """`low..high`, `low..` or `..high`."""

    minimum: int | float | None
    maximum: int | float | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Annotation:
    """`@name`, `@name(value)`, `@name(value, key=value)`; `@card(bounds)` on an edge."""

    name: Name
    value: Literal | Bounds | None = None
    arguments: tuple[tuple[Name, Literal], ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ConstraintDeclaration:
    """`@key(a, b)` and its like in a body. Words are names, whatever they mean later."""

    kind: Name
    arguments: tuple[Name | Literal | Bounds, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypeExpression:
    """The type of a property, as written."""

    scalar: str
    nullable: bool = False
    is_list: bool = False
    enum_values: tuple[Name, ...] | None = None
    vector_dim: int | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PropertyDeclaration:
    """`name: Type @annotation …`."""

    name: Name
    type: TypeExpression
    annotations: tuple[Annotation, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Member = PropertyDeclaration | ConstraintDeclaration


@dataclass(frozen=True, slots=True)
class Body:
    """What stands between braces."""

    members: tuple[Member, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InterfaceDeclaration:
    """`interface Name { … }`."""

    name: Name
    body: Body
    annotations: tuple[Annotation, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NodeDeclaration:
    """`node Name @annotation … implements A, B { … }`."""

    name: Name
    body: Body
    annotations: tuple[Annotation, ...] = ()
    implements: tuple[Name, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EdgeDeclaration:
    """`edge Name: Source -> Target @card(…) @annotation … { … }`. The body may be left out."""

    name: Name
    source: Name
    target: Name
    body: Body | None = None
    annotations: tuple[Annotation, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Declaration = InterfaceDeclaration | NodeDeclaration | EdgeDeclaration


@dataclass(frozen=True, slots=True)
class ParsedSchema:
    """A schema text that is grammatical. Nothing is known yet about what its names mean."""

    declarations: tuple[Declaration, ...]
    source: SourceText = field(default_factory=lambda: SourceText(""), compare=False, repr=False)
