"""The catalog: a checked schema, as immutable values with stable ids.

Everything is in canonical order (types and properties by name), so equal schemas are equal values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from omnigraph.model.types import PropType, ScalarType, blob_uri_column
from omnigraph.schema.constraints import Cardinality, Constraint, Index, Key, Unique

if TYPE_CHECKING:
    from collections.abc import Mapping

Literal = str | int | float | bool

NODE_FIELDS = ("id",)
EDGE_FIELDS = ("id", "src", "dst")
EDGE_ENDS = ("src", "dst")
ANY_NUMBER = Cardinality()


class IndexKind(StrEnum):
    """What kind of index serves a column."""

    BTREE = "btree"
    INVERTED = "inverted"
    VECTOR = "vector"


class TypeKind(StrEnum):
    """What kind of thing a schema declares."""

    INTERFACE = "interface"
    NODE = "node"
    EDGE = "edge"


@dataclass(frozen=True, slots=True)
class Annotation:
    """Metadata kept with a type or property: descriptions, instructions, and names we do not know."""

    name: str
    value: Literal | None = None
    arguments: tuple[tuple[str, Literal], ...] = ()


@dataclass(frozen=True, slots=True)
class Embed:
    """A vector is made from a String property of the same type, by a model if one is named."""

    source: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A declared or inherited property. `default` is stored when an insert leaves the property out."""

    id: int
    name: str
    type: PropType
    default: Literal | None = None
    embed: Embed | None = None
    annotations: tuple[Annotation, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Give the columns that store it: a Blob has two."""
        return (self.name, blob_uri_column(self.name)) if self.type.is_blob else (self.name,)

    @property
    def nullable(self) -> bool:
        """Tell whether null may be stored."""
        return self.type.nullable

    @property
    def description(self) -> str | None:
        """Give the text of `@description`."""
        return _text(self.annotations, "description")

    @property
    def must_be_given(self) -> bool:
        """Tell whether an insert has to assign this property."""
        return not self.type.nullable and self.default is None and self.embed is None


@dataclass(frozen=True)
class _Properties:
    """What interfaces, node types and edge types share."""

    id: int
    name: str
    properties: tuple[Property, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @cached_property
    def properties_by_name(self) -> Mapping[str, Property]:
        """Give the properties keyed by name."""
        return {p.name: p for p in self.properties}

    @cached_property
    def properties_by_id(self) -> Mapping[int, Property]:
        """Give the properties keyed by stable id."""
        return {p.id: p for p in self.properties}

    @property
    def description(self) -> str | None:
        """Give the text of `@description`."""
        return _text(self.annotations, "description")

    @property
    def instruction(self) -> str | None:
        """Give the text of `@instruction`."""
        return _text(self.annotations, "instruction")

    # Last, because from here on the word `property` means this method.
    def property(self, name: str) -> Property | None:
        """Find a property by its exact name."""
        return self.properties_by_name.get(name)


@dataclass(frozen=True)
class InterfaceType(_Properties):
    """A named set of properties that node types take over."""

    kind = TypeKind.INTERFACE


@dataclass(frozen=True)
class _Table(_Properties):
    """What node types and edge types share: rows, and constraints on them."""

    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Give the key's properties, in the order ids are derived in; empty without a key."""
        return next((c.properties for c in self.constraints if isinstance(c, Key)), ())

    @cached_property
    def uniques(self) -> tuple[tuple[str, ...], ...]:
        """Give the tuples that must be unique, beside the key."""
        return tuple(c.properties for c in self.constraints if isinstance(c, Unique))

    def is_key(self, name: str) -> bool:
        """Tell whether a property is a member of the key."""
        return name in self.key

    def is_indexed(self, name: str) -> bool:
        """Tell whether `@index` or `@key` names a property."""
        return any(name in c.properties for c in self.constraints if isinstance(c, Index | Key))

    def index_kind(self, name: str) -> IndexKind | None:
        """Give the kind of index that serves a declared property, None if there is none."""
        found = self.property(name)
        if found is None or not self.is_indexed(name):
            return None
        return index_kind_of(found.type)


@dataclass(frozen=True)
class NodeType(_Table):
    """A node type: one table, with the implicit column `id`."""

    implements: tuple[str, ...] = ()

    kind = TypeKind.NODE
    fields = NODE_FIELDS

    @cached_property
    def indexes(self) -> Mapping[str, IndexKind]:
        """Give every column that a question finds an index on, with its kind."""
        return {"id": IndexKind.BTREE, **_declared_indexes(self)}


@dataclass(frozen=True)
class EdgeType(_Table):
    """An edge type: one table, with the implicit columns `id`, `src` and `dst`."""

    source: str = ""
    target: str = ""
    cardinality: Cardinality = ANY_NUMBER

    kind = TypeKind.EDGE
    fields = EDGE_FIELDS

    @cached_property
    def indexes(self) -> Mapping[str, IndexKind]:
        """Give every column that a question finds an index on, with its kind; that of ids serves writes."""
        return {"src": IndexKind.BTREE, "dst": IndexKind.BTREE, **_declared_indexes(self)}


@dataclass(frozen=True)
class Catalog:
    """All types of a graph. `next_id` is where the allocator of stable ids continues."""

    interfaces: tuple[InterfaceType, ...] = ()
    nodes: tuple[NodeType, ...] = ()
    edges: tuple[EdgeType, ...] = ()
    next_id: int = 1

    @cached_property
    def node_types(self) -> Mapping[str, NodeType]:
        """Give the node types keyed by name."""
        return {t.name: t for t in self.nodes}

    @cached_property
    def edge_types(self) -> Mapping[str, EdgeType]:
        """Give the edge types keyed by name."""
        return {t.name: t for t in self.edges}

    @cached_property
    def interface_types(self) -> Mapping[str, InterfaceType]:
        """Give the interfaces keyed by name."""
        return {t.name: t for t in self.interfaces}

    def table(self, key: str) -> NodeType | EdgeType:
        """The type whose rows a table has, such as `node:Person`."""
        kind, _, name = key.partition(":")
        return (self.node_types if kind == "node" else self.edge_types)[name]

    @property
    def tables(self) -> tuple[NodeType | EdgeType, ...]:
        """Give every type that has rows."""
        return (*self.nodes, *self.edges)

    @cached_property
    def tables_by_key(self) -> Mapping[str, NodeType | EdgeType]:
        """Give the types that have rows keyed `node:Person` or `edge:Knows`."""
        return {f"{t.kind}:{t.name}": t for t in self.tables}

    @cached_property
    def _edges_by_lower_name(self) -> Mapping[str, EdgeType]:
        return {t.name.lower(): t for t in self.edges}

    def node(self, name: str) -> NodeType | None:
        """Find a node type by its exact name."""
        return self.node_types.get(name)

    def edge(self, word: str) -> EdgeType | None:
        """Find an edge type, whatever the case of the word: queries write `knows` for `Knows`."""
        return self.edge_types.get(word) or self._edges_by_lower_name.get(word.lower())

    def interface(self, name: str) -> InterfaceType | None:
        """Find an interface by its exact name."""
        return self.interface_types.get(name)

    def implementing(self, interface: str) -> tuple[NodeType, ...]:
        """Give the node types that implement an interface."""
        return tuple(t for t in self.nodes if interface in t.implements)

    def edges_touching(self, node: str) -> tuple[EdgeType, ...]:
        """Give the edge types that have a node type at either end."""
        return tuple(t for t in self.edges if node in (t.source, t.target))


def index_kind_of(declared: PropType) -> IndexKind | None:
    """Choose the index for a type: text is searched by words, vectors by distance, the rest by order."""
    if declared.is_list or declared.is_blob:
        return None
    if declared.is_vector:
        return IndexKind.VECTOR
    if declared.scalar is ScalarType.STRING and not declared.is_enum:
        return IndexKind.INVERTED
    return IndexKind.BTREE


def _declared_indexes(table: _Table) -> dict[str, IndexKind]:
    kinds = {p.name: table.index_kind(p.name) for p in table.properties}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _text(annotations: tuple[Annotation, ...], name: str) -> str | None:
    for annotation in annotations:
        if annotation.name == name and isinstance(annotation.value, str):
            return annotation.value
    return None
