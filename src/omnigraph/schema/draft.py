"""Types between the tree and the catalog: every rule has been looked at, stable ids are still missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.schema.ast import NOWHERE
from omnigraph.schema.catalog import ANY_NUMBER, Annotation, Embed, Literal, TypeKind

if TYPE_CHECKING:
    from omnigraph.model.diagnostics import Span
    from omnigraph.model.types import PropType
    from omnigraph.schema.constraints import Cardinality, Constraint


@dataclass(frozen=True, slots=True)
class DraftProperty:
    """A property with what its annotations say. Where it stands does not take part in comparison."""

    name: str
    type: PropType
    default: Literal | None = None
    embed: Embed | None = None
    annotations: tuple[Annotation, ...] = ()
    is_key: bool = False
    is_unique: bool = False
    is_indexed: bool = False
    rename_from: str | None = None
    span: Span = field(default=NOWHERE, compare=False)
    type_span: Span = field(default=NOWHERE, compare=False)
    embed_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class DraftType:
    """An interface, node type or edge type, its properties sorted by name."""

    kind: TypeKind
    name: str
    properties: tuple[DraftProperty, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    rename_from: str | None = None
    span: Span = field(default=NOWHERE, compare=False)
    constraints: tuple[Constraint, ...] = ()
    implements: tuple[str, ...] = ()
    source: str = ""
    target: str = ""
    cardinality: Cardinality = ANY_NUMBER
