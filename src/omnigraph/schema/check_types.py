"""Rules for interfaces, node types and edge types, each by itself and among each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.schema import ast
from omnigraph.schema.annotations import Place, check_annotations, find, metadata, text_of
from omnigraph.schema.catalog import ANY_NUMBER, TypeKind
from omnigraph.schema.check_constraints import ConstraintChecker
from omnigraph.schema.check_property import draft_properties
from omnigraph.schema.constraints import Cardinality
from omnigraph.schema.draft import DraftProperty, DraftType
from omnigraph.schema.renames import check_renames

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnigraph.model.diagnostics import Findings

Interfaces = dict[str, DraftType]


def draft_interface(declaration: ast.InterfaceDeclaration, findings: Findings) -> DraftType:
    """Check an interface."""
    name = declaration.name.text
    place = Place(TypeKind.INTERFACE, name)
    check_annotations(declaration.annotations, place, findings)
    properties = draft_properties(declaration.body.members, place.kind, name, findings)
    check_renames(properties.values(), f"{name}.", findings)
    return DraftType(
        kind=place.kind,
        name=name,
        properties=_sorted(properties),
        annotations=metadata(declaration.annotations),
        rename_from=text_of(find(declaration.annotations, "rename_from")),
        span=declaration.name.span,
    )


def draft_node(declaration: ast.NodeDeclaration, interfaces: Interfaces, findings: Findings) -> DraftType:
    """Check a node type and give it the properties of its interfaces."""
    name = declaration.name.text
    place = Place(TypeKind.NODE, name)
    check_annotations(declaration.annotations, place, findings)
    own = draft_properties(declaration.body.members, place.kind, name, findings)
    implements = _known_interfaces(declaration, interfaces, findings)
    properties = _with_inherited(declaration, own, implements, findings)
    check_renames(properties.values(), f"{name}.", findings)
    _check_embeds(place, properties, findings)
    checker = ConstraintChecker(place.kind, name, properties, findings)
    return DraftType(
        kind=place.kind,
        name=name,
        properties=_sorted(properties),
        annotations=metadata(declaration.annotations),
        rename_from=text_of(find(declaration.annotations, "rename_from")),
        span=declaration.name.span,
        constraints=checker.check(declaration.body.members),
        implements=tuple(sorted(i.name for i in implements)),
    )


def draft_edge(declaration: ast.EdgeDeclaration, findings: Findings) -> DraftType:
    """Check an edge type; whether its ends exist is checked when all node types are known."""
    name = declaration.name.text
    place = Place(TypeKind.EDGE, name)
    check_annotations(declaration.annotations, place, findings)
    members = declaration.body.members if declaration.body is not None else ()
    properties = draft_properties(members, place.kind, name, findings)
    check_renames(properties.values(), f"{name}.", findings)
    checker = ConstraintChecker(place.kind, name, properties, findings)
    return DraftType(
        kind=place.kind,
        name=name,
        properties=_sorted(properties),
        annotations=metadata(declaration.annotations),
        rename_from=text_of(find(declaration.annotations, "rename_from")),
        span=declaration.name.span,
        constraints=checker.check(members),
        source=declaration.source.text,
        target=declaration.target.text,
        cardinality=_cardinality(declaration, findings),
    )


def check_ends(
    declaration: ast.EdgeDeclaration, nodes: Iterable[str], interfaces: Iterable[str], findings: Findings
) -> None:
    """Report ends of an edge that are not node types."""
    for end in (declaration.source, declaration.target):
        if end.text in nodes:
            continue
        if end.text in interfaces:
            findings.add(
                f"edge {declaration.name.text} ends at the interface {end.text!r}",
                end.span,
                hint="edges connect node types; declare one edge type for each node type",
            )
        else:
            findings.add(
                f"edge {declaration.name.text} ends at {end.text!r}, which is not a node type",
                end.span,
                hint=f"declare 'node {end.text} {{ … }}'",
                unknown=(end.text, nodes),
            )


def _sorted(properties: Mapping[str, DraftProperty]) -> tuple[DraftProperty, ...]:
    return tuple(properties[name] for name in sorted(properties))


def _known_interfaces(
    declaration: ast.NodeDeclaration, interfaces: Interfaces, findings: Findings
) -> tuple[DraftType, ...]:
    known: dict[str, DraftType] = {}
    for name in declaration.implements:
        if name.text in interfaces:
            known[name.text] = interfaces[name.text]
        else:
            findings.add(
                f"node {declaration.name.text} implements {name.text!r}, which is not an interface",
                name.span,
                hint=f"declare 'interface {name.text} {{ … }}'",
                unknown=(name.text, interfaces),
            )
    return tuple(known.values())


def _with_inherited(
    declaration: ast.NodeDeclaration,
    own: dict[str, DraftProperty],
    implements: tuple[DraftType, ...],
    findings: Findings,
) -> dict[str, DraftProperty]:
    """Add what the interfaces have and the node type does not declare itself."""
    node, merged = declaration.name, dict(own)
    given_by: dict[str, DraftType] = {}
    for interface in implements:
        for inherited in interface.properties:
            mine = merged.get(inherited.name)
            if mine is None:
                # Findings about an inherited property point at the node type that takes it over.
                merged[inherited.name] = replace(inherited, span=node.span, type_span=node.span, embed_span=node.span)
                given_by[inherited.name] = interface
            elif inherited.name in given_by and mine != inherited:
                findings.add(
                    f"node {node.text} gets {inherited.name!r} from {given_by[inherited.name].name} and from "
                    f"{interface.name}, and they differ",
                    node.span,
                    hint="make them equal, or declare the property in the node type",
                )
            elif mine.type != inherited.type:
                findings.add(
                    f"{node.text}.{inherited.name} is {mine.type}, "
                    f"but {interface.name}.{inherited.name} is {inherited.type}",
                    mine.type_span,
                    hint=f"write {inherited.type}, or leave the property out to inherit it",
                )
    return merged


def _check_embeds(place: Place, properties: Mapping[str, DraftProperty], findings: Findings) -> None:
    texts = [p.name for p in properties.values() if p.type.is_text]
    for draft in properties.values():
        if draft.embed is None:
            continue
        source = properties.get(draft.embed.source)
        where = f"@embed on {place.type_name}.{draft.name}"
        if source is None:
            findings.add(
                f"{where} reads {draft.embed.source!r}, which {place} does not have",
                draft.embed_span,
                hint=f"its String properties: {', '.join(texts[:10]) or 'none'}",
                unknown=(draft.embed.source, texts),
            )
        elif not (source.type.is_text or source.type.is_enum):
            findings.add(
                f"{where} reads {source.name!r}, which is {source.type}",
                draft.embed_span,
                hint="an embedding is made from a String",
            )


def _cardinality(declaration: ast.EdgeDeclaration, findings: Findings) -> Cardinality:
    annotation = find(declaration.annotations, "card")
    if annotation is None or not isinstance(annotation.value, ast.Bounds):
        return ANY_NUMBER
    low, high = annotation.value.minimum, annotation.value.maximum
    if not isinstance(low, int) or isinstance(high, float):
        return ANY_NUMBER
    if high is not None and low > high:
        findings.add(
            f"the bounds of @card on edge {declaration.name.text} allow nothing: {low} is above {high}",
            annotation.value.span,
        )
        return ANY_NUMBER
    return Cardinality(low, high)
