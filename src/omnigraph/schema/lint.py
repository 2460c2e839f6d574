"""Findings about a schema that compiles but could be better, and about what it would do to a graph's data."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import LanguageError
from omnigraph.model.findings import Finding, in_order
from omnigraph.schema import ast
from omnigraph.schema.annotations import ONCE
from omnigraph.schema.catalog import EDGE_ENDS, EdgeType, NodeType
from omnigraph.schema.check import check
from omnigraph.schema.constraints import Check, Index, Range, Unique
from omnigraph.schema.evolve.plan import plan_migration
from omnigraph.schema.parse import parse
from omnigraph.schema.patterns import is_match

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnigraph.schema.catalog import Catalog, Property
    from omnigraph.schema.evolve.step import Step

DOES_NOT_COMPILE = "S000"
UNUSED_INTERFACE = "S201"
REDUNDANT = "S202"
NEVER_WRITTEN = "S203"
MISSPELT = "S204"
DEFAULT_REFUSED = "S205"
OLD_SPELLING = "S206"
RENAME_UNCLEAR = "S301"
RENAME_UNUSED = "S302"

_TEXT_ANNOTATIONS = ("description", "instruction", "rename_from", "embed")


def lint_schema(text: str, name: str = "<schema>", previous: Catalog | None = None) -> tuple[Finding, ...]:
    """Look a schema text over; with a graph's catalog, also at what migrating to it means."""
    try:
        parsed = parse(text, name)
        catalog = check(parsed, previous)
    except LanguageError as error:
        return tuple(Finding("error", DOES_NOT_COMPILE, line) for line in error.message.splitlines())
    found = [*_unused_interfaces(catalog), *_spelling(parsed)]
    for table in catalog.tables:
        found += (*_redundant(table), *_never_written(table), *_refused_defaults(table))
    if previous is not None:
        found += _migration(previous, text, name)
    return in_order(found)


# -- rules on the catalog ------------------------------------------------------------------------------


def _unused_interfaces(catalog: Catalog) -> Iterator[Finding]:
    for interface in catalog.interfaces:
        if not catalog.implementing(interface.name):
            message = f"no node type implements interface {interface.name}"
            yield Finding("warning", UNUSED_INTERFACE, message, interface.name)


def _redundant(table: NodeType | EdgeType) -> Iterator[Finding]:
    for constraint in table.constraints:
        if not isinstance(constraint, Index | Unique):
            continue
        word = f"@{type(constraint).__name__.lower()}"
        (only, *others) = constraint.properties
        reason = None
        if set(constraint.properties) == set(table.key):
            reason = "the key is unique and indexed"
        elif isinstance(constraint, Index) and isinstance(table, EdgeType) and not others and only in EDGE_ENDS:
            reason = "the ends of edges are always indexed"
        if reason is not None:
            written = ", ".join(constraint.properties)
            yield Finding("warning", REDUNDANT, f"{word}({written}) adds nothing: {reason}", table.name, only)


def _never_written(table: NodeType | EdgeType) -> Iterator[Finding]:
    for columns in table.uniques:
        for column in columns:
            found = table.property(column)
            if found is not None and (found.type.is_list or found.type.is_vector):
                message = f"no value can be stored: @unique cannot compare {found.type.required}"
                yield Finding("warning", NEVER_WRITTEN, message, table.name, column)


def _refused_defaults(table: NodeType | EdgeType) -> Iterator[Finding]:
    for constraint in table.constraints:
        if isinstance(constraint, Range | Check):
            declared = table.properties_by_name[constraint.property]
            if not _allows(constraint, declared):
                word = type(constraint).__name__.lower()
                message = f"the default {declared.default!r} violates its @{word}: every insert has to give a value"
                yield Finding("warning", DEFAULT_REFUSED, message, table.name, declared.name)


def _allows(constraint: Range | Check, declared: Property) -> bool:
    default = declared.default
    if isinstance(constraint, Range):
        return not isinstance(default, int | float) or constraint.allows(default)
    return not isinstance(default, str) or is_match(default, constraint.pattern)


# -- rules on the text ---------------------------------------------------------------------------------


def _spelling(parsed: ast.ParsedSchema) -> Iterator[Finding]:
    for declared in parsed.declarations:
        owner = declared.name.text
        yield from _keyword(declared)
        yield from _annotations(declared.annotations, owner, None)
        if isinstance(declared, ast.EdgeDeclaration) and "card" in [a.name.text for a in declared.annotations[1:]]:
            yield Finding("info", OLD_SPELLING, "write @card right behind the ends of the edge", owner)
        if isinstance(declared, ast.NodeDeclaration) and _is_behind(declared.annotations, declared.implements):
            yield Finding("info", OLD_SPELLING, "write annotations before implements", owner)
        for member in declared.body.members if declared.body else ():
            if isinstance(member, ast.PropertyDeclaration):
                yield from _annotations(member.annotations, owner, member.name.text)


def _is_behind(annotations: tuple[ast.Annotation, ...], names: tuple[ast.Name, ...]) -> bool:
    return bool(annotations and names) and annotations[-1].span.start > names[0].span.start


def _keyword(declared: ast.Declaration) -> Iterator[Finding]:
    keyword = type(declared).__name__.removesuffix("Declaration").lower()
    if declared.name.span.start == declared.span.start + len(keyword):
        message = f"write a space: {keyword} {declared.name.text}"
        yield Finding("info", OLD_SPELLING, message, declared.name.text)


def _annotations(annotations: Iterable[ast.Annotation], owner: str, member: str | None) -> Iterator[Finding]:
    for annotation in annotations:
        word, value = annotation.name.text, annotation.value
        # Closer than names in errors have to be: @unit is no slip for @unique.
        if word not in ONCE and (meant := get_close_matches(word.lower()[:100], ONCE, n=1, cutoff=0.8)):
            message = f"@{word} is kept, but means nothing; did you mean '@{meant[0]}'?"
            yield Finding("warning", MISSPELT, message, owner, member)
        if word in _TEXT_ANNOTATIONS and isinstance(value, ast.Literal) and value.bare:
            message = f'write the text of @{word} in quotes: @{word}("{value.value}")'
            yield Finding("info", OLD_SPELLING, message, owner, member)


# -- what a migration means ----------------------------------------------------------------------------


def _migration(previous: Catalog, text: str, name: str) -> Iterator[Finding]:
    plan = plan_migration(previous, text, name)
    for refusal in plan.refusals:
        code = RENAME_UNCLEAR if refusal.code is None else refusal.code.code
        type_name, _, member = refusal.entity.partition(":")[2].partition(".")
        yield Finding("error", code, refusal.reason, type_name, member or None)
    for step in plan.steps:
        if step not in plan.refusals and step.code is not None:
            yield _risk(step, step.code.code, step.code.title)
    for warning in plan.warnings:
        type_name, _, member = warning.split(" ", 1)[0].partition(":")[2].partition(".")
        yield Finding("warning", RENAME_UNUSED, warning, type_name, member or None)


def _risk(step: Step, code: str, title: str) -> Finding:
    type_name, member = getattr(step, "type_name", None), getattr(step, "property_name", None)
    if step.data_check is not None:
        return Finding("warning", code, f"{title}: stored rows are checked first", type_name, member)
    return Finding("warning", code, f"{title}: stored values are lost when old versions are", type_name, member)
