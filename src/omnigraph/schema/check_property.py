"""Rules for one property: its name, its type, and what its annotations make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema import ast
from omnigraph.schema.annotations import FLAGS, Place, check_annotations, find, metadata, text_of
from omnigraph.schema.catalog import EDGE_FIELDS, Embed, Literal, TypeKind
from omnigraph.schema.defaults import UnfitDefault, fit_default
from omnigraph.schema.draft import DraftProperty

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.model.diagnostics import Findings, Span

RESERVED = (
    "_rowid",
    "_rowaddr",
    "_rowoffset",
    "_row_created_at_version",
    "_row_last_updated_at_version",
)


def draft_properties(
    members: Iterable[ast.Member], kind: TypeKind, type_name: str, findings: Findings
) -> dict[str, DraftProperty]:
    """Check the properties of a body and give them by name; of a name declared twice, the first."""
    drafts: dict[str, DraftProperty] = {}
    for member in members:
        if not isinstance(member, ast.PropertyDeclaration):
            continue
        place = Place(kind, type_name, member.name.text)
        draft = _draft_property(member, place, findings)
        if draft.name in drafts:
            findings.add(f"property {place} is declared twice", member.name.span, hint="rename or remove one")
        else:
            drafts[draft.name] = draft
    return drafts


def prop_type(declared: ast.TypeExpression) -> PropType:
    """Give the type that was written; the order of an enum's values has no meaning, so they are sorted."""
    values = declared.enum_values
    return PropType(
        scalar=ScalarType(declared.scalar),
        nullable=declared.nullable,
        is_list=declared.is_list,
        enum_values=None if values is None else tuple(sorted({v.text for v in values})),
        vector_dim=declared.vector_dim,
    )


def _draft_property(member: ast.PropertyDeclaration, place: Place, findings: Findings) -> DraftProperty:
    name, declared = member.name.text, prop_type(member.type)
    _check_name(member.name, place, findings)
    check_annotations(member.annotations, place, findings)
    for flag in FLAGS:
        annotation = find(member.annotations, flag)
        if annotation is not None and (problem := flag_problem(flag, declared)):
            findings.add(f"@{flag} is not allowed on {place}: {problem[0]}", annotation.span, hint=problem[1])
    return DraftProperty(
        name=name,
        type=declared,
        default=_default(member, declared, place, findings),
        embed=_embed(member, declared, place, findings),
        annotations=metadata(member.annotations),
        is_key=find(member.annotations, "key") is not None,
        is_unique=find(member.annotations, "unique") is not None,
        is_indexed=find(member.annotations, "index") is not None,
        rename_from=text_of(find(member.annotations, "rename_from")),
        span=member.name.span,
        type_span=member.type.span,
        embed_span=_span_of_value(find(member.annotations, "embed"), member.name),
    )


def flag_problem(flag: str, declared: PropType, in_body: bool = False) -> tuple[str, str | None] | None:
    """Say why a property of this type cannot be a key, unique or indexed, and what would help."""
    if declared.is_blob:
        return "it is a Blob", None
    if flag == "index":
        return ("it is a list", None) if declared.is_list and not in_body else None
    # In a body a unique list is accepted: the first write to it is refused, as it has no canonical text.
    if flag == "unique" and in_body:
        return None
    if declared.is_list or declared.is_vector:
        return f"it is a {'list' if declared.is_list else 'vector'}, which has no canonical text", None
    if flag == "key" and declared.nullable:
        return "a key is never null", f"write {declared.required} instead of {declared}"
    return None


def _check_name(name: ast.Name, place: Place, findings: Findings) -> None:
    if name.text in EDGE_FIELDS:
        findings.add(
            f"property name {name.text!r} is taken on {place.kind} {place.type_name}",
            name.span,
            hint="id, src and dst are there by themselves; choose another name",
        )
    elif name.text in RESERVED:
        findings.add(
            f"property name {name.text!r} is reserved by the storage format",
            name.span,
            hint=f"choose another name, {name.text.lstrip('_')!r} for one",
        )


def _default(member: ast.PropertyDeclaration, declared: PropType, place: Place, findings: Findings) -> Literal | None:
    annotation = find(member.annotations, "default")
    if annotation is None or not isinstance(annotation.value, ast.Literal):
        return None
    try:
        return fit_default(annotation.value.value, declared)
    except UnfitDefault as error:
        findings.add(f"@default on {place} does not fit its type {declared}: {error}", annotation.value.span)
        return None


def _embed(member: ast.PropertyDeclaration, declared: PropType, place: Place, findings: Findings) -> Embed | None:
    annotation = find(member.annotations, "embed")
    source = text_of(annotation)
    if annotation is None or source is None or place.kind is TypeKind.EDGE:
        return None
    if not declared.is_vector:
        findings.add(
            f"@embed is not allowed on {place}: its type is {declared}",
            annotation.span,
            hint="an embedding is stored in a Vector(N)",
        )
        return None
    model = next((value.value for name, value in annotation.arguments if name.text == "model"), None)
    return Embed(source, model if isinstance(model, str) else None)


def _span_of_value(annotation: ast.Annotation | None, otherwise: ast.Name) -> Span:
    return otherwise.span if annotation is None or annotation.value is None else annotation.value.span
