"""Rules for annotations: which may stand where, what they take, how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.schema import ast
from omnigraph.schema.catalog import Annotation, TypeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.model.diagnostics import Findings

FLAGS = ("key", "unique", "index")
CONSTRAINT_WORDS = (*FLAGS, "range", "check")
# Taken apart by the checker; everything else is kept as metadata.
TAKEN_APART = (*CONSTRAINT_WORDS, "embed", "default", "rename_from", "card")
ONCE = (*FLAGS, "embed", "default", "rename_from", "card", "description", "instruction")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an annotation stands: the kind of type, and the property if it is on one."""

    kind: TypeKind
    type_name: str
    property_name: str | None = None

    def __str__(self) -> str:
        """Name the place as messages do."""
        if self.property_name is None:
            return f"{self.kind} {self.type_name}"
        return f"{self.type_name}.{self.property_name}"


def check_annotations(annotations: tuple[ast.Annotation, ...], place: Place, findings: Findings) -> None:
    """Report annotations that may not stand here, stand here twice, or take something else."""
    seen: set[str] = set()
    for annotation in annotations:
        name = annotation.name.text
        if name in seen and name in ONCE:
            findings.add(f"@{name} is written twice on {place}", annotation.span, hint="keep one of them")
        elif problem := _misplaced(name, place):
            findings.add(f"@{name} is not allowed on {place}", annotation.span, hint=problem)
        else:
            _check_value(annotation, place, findings)
        seen.add(name)


def metadata(annotations: Iterable[ast.Annotation]) -> tuple[Annotation, ...]:
    """Give what is kept as it is: descriptions, instructions and names we do not know, in canonical order."""
    kept = (
        Annotation(
            a.name.text,
            a.value.value if isinstance(a.value, ast.Literal) else None,
            tuple(sorted({name.text: value.value for name, value in a.arguments}.items())),
        )
        for a in annotations
        if a.name.text not in TAKEN_APART
    )
    return tuple(sorted(kept, key=repr))


def find(annotations: Iterable[ast.Annotation], name: str) -> ast.Annotation | None:
    """Find the first annotation of a name."""
    return next((a for a in annotations if a.name.text == name), None)


def text_of(annotation: ast.Annotation | None) -> str | None:
    """Give the text an annotation takes; None if it takes none or something else."""
    if annotation is None or not isinstance(annotation.value, ast.Literal):
        return None
    value = annotation.value.value
    return value if isinstance(value, str) and value.strip() else None


def _misplaced(name: str, place: Place) -> str | None:
    """Say what to do instead if an annotation may not stand here."""
    on_edge, on_header = place.kind is TypeKind.EDGE, place.property_name is None
    if on_header:
        return _misplaced_on_header(name, place)
    if name == "card":
        return "it belongs behind the ends of an edge: edge E: A -> B @card(0..1)"
    if name == "instruction":
        return "it belongs to a node or edge type; a property can have @description"
    if name in ("range", "check"):
        example = "@range(age, 0..150)" if name == "range" else '@check(code, "^[A-Z]+$")'
        return f"it is a constraint in the body of a node: {example}"
    if on_edge and name == "key":
        return "an edge has no key; make its ends unique instead: @unique(src, dst)"
    if on_edge and name == "embed":
        return "only node types have embeddings"
    return None


def _misplaced_on_header(name: str, place: Place) -> str | None:
    if name in CONSTRAINT_WORDS:
        return f"it belongs to a property, or in the body: @{name}(…)"
    if name in ("embed", "default"):
        return "it belongs to a property"
    if name == "card" and place.kind is not TypeKind.EDGE:
        return "it limits how many edges leave a node, and belongs to an edge"
    if name == "instruction" and place.kind is TypeKind.INTERFACE:
        return "it belongs to a node or edge type"
    return None


def _check_value(annotation: ast.Annotation, place: Place, findings: Findings) -> None:
    name, value = annotation.name.text, annotation.value
    if name in ("description", "instruction", "rename_from", "embed"):
        if text_of(annotation) is None:
            findings.add(
                f"@{name} on {place} needs a text that is not blank",
                annotation.span if value is None else value.span,
                hint=f'write @{name}("…")',
            )
    elif name == "default" and value is None:
        findings.add(f"@default on {place} needs a value", annotation.span, hint="write @default(0)")
    elif name == "card" and not isinstance(value, ast.Bounds):
        findings.add(f"@card on {place} needs bounds", annotation.span, hint="write @card(0..1)")
    if name not in TAKEN_APART and name not in ONCE:
        return
    for argument, given in annotation.arguments:
        if name == "embed" and argument.text == "model":
            if not isinstance(given.value, str) or not given.value.strip():
                findings.add(f"the model of @embed on {place} is not a text", given.span)
        else:
            hint = "it takes model only" if name == "embed" else "it takes none"
            findings.add(f"@{name} on {place} has no argument {argument.text!r}", argument.span, hint=hint)
