"""The catalog as bytes: canonical JSON, so that equal catalogs have equal bytes and one hash."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import orjson

from omnigraph.model.errors import CorruptObject, FormatTooNew
from omnigraph.model.types import PropType
from omnigraph.schema.catalog import Annotation, Catalog, EdgeType, Embed, InterfaceType, NodeType, Property
from omnigraph.schema.constraints import Cardinality, Constraint, constraint_from_json, constraint_to_json

FORMAT = 1

Json = dict[str, Any]


def encode_catalog(catalog: Catalog) -> bytes:
    """Write a catalog as canonical JSON: sorted keys, no white space."""
    data: Json = {
        "format": FORMAT,
        "next_id": catalog.next_id,
        "interfaces": [_type_to_json(t) for t in catalog.interfaces],
        "nodes": [_node_to_json(t) for t in catalog.nodes],
        "edges": [_edge_to_json(t) for t in catalog.edges],
    }
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS)


def decode_catalog(data: bytes, where: str = "the catalog") -> Catalog:
    """Read what `encode_catalog` wrote. `where` names the object in errors."""
    try:
        read = cast("Json", orjson.loads(data))
        if read["format"] > FORMAT:
            raise FormatTooNew(where, found=read["format"], known=FORMAT)
        return Catalog(
            interfaces=tuple(InterfaceType(**_common(t)) for t in read["interfaces"]),
            nodes=tuple(_node_from_json(t) for t in read["nodes"]),
            edges=tuple(_edge_from_json(t) for t in read["edges"]),
            next_id=read["next_id"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptObject(where, f"{type(error).__name__}: {error}") from error


def schema_hash(catalog: Catalog) -> str:
    """Give the sha256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(encode_catalog(catalog)).hexdigest()


def annotations_to_json(annotations: tuple[Annotation, ...]) -> list[Json]:
    """Give the form that migration steps and stored catalogs use."""
    return [
        {"name": a.name, "value": a.value, **({"kwargs": dict(a.arguments)} if a.arguments else {})}
        for a in annotations
    ]


def _annotations_from_json(data: list[Json]) -> tuple[Annotation, ...]:
    return tuple(Annotation(a["name"], a["value"], tuple(sorted(a.get("kwargs", {}).items()))) for a in data)


def _type_to_json(declared: InterfaceType | NodeType | EdgeType) -> Json:
    return {
        "id": declared.id,
        "name": declared.name,
        "properties": [_property_to_json(p) for p in declared.properties],
        "annotations": annotations_to_json(declared.annotations),
    }


def _node_to_json(node: NodeType) -> Json:
    constraints = [constraint_to_json(c) for c in node.constraints]
    return {**_type_to_json(node), "constraints": constraints, "implements": list(node.implements)}


def _edge_to_json(edge: EdgeType) -> Json:
    return {
        **_type_to_json(edge),
        "constraints": [constraint_to_json(c) for c in edge.constraints],
        "source": edge.source,
        "target": edge.target,
        "cardinality": {"min": edge.cardinality.minimum, "max": edge.cardinality.maximum},
    }


def _property_to_json(declared: Property) -> Json:
    embed = declared.embed
    return {
        "id": declared.id,
        "name": declared.name,
        "type": declared.type.to_json(),
        "default": declared.default,
        "embed": None if embed is None else {"source": embed.source, "model": embed.model},
        "annotations": annotations_to_json(declared.annotations),
    }


def _common(data: Json) -> Json:
    return {
        "id": data["id"],
        "name": data["name"],
        "properties": tuple(_property_from_json(p) for p in data["properties"]),
        "annotations": _annotations_from_json(data["annotations"]),
    }


def _constraints(data: Json) -> tuple[Constraint, ...]:
    return tuple(constraint_from_json(c) for c in data["constraints"])


def _node_from_json(data: Json) -> NodeType:
    return NodeType(**_common(data), constraints=_constraints(data), implements=tuple(data["implements"]))


def _edge_from_json(data: Json) -> EdgeType:
    bounds = data["cardinality"]
    return EdgeType(
        **_common(data),
        constraints=_constraints(data),
        source=data["source"],
        target=data["target"],
        cardinality=Cardinality(bounds["min"], bounds["max"]),
    )


def _property_from_json(data: Json) -> Property:
    embed = data["embed"]
    return Property(
        id=data["id"],
        name=data["name"],
        type=PropType.from_json(data["type"]),
        default=data["default"],
        embed=None if embed is None else Embed(embed["source"], embed["model"]),
        annotations=_annotations_from_json(data["annotations"]),
    )
