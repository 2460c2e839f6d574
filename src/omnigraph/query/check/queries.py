"""Whole queries and files: `check_queries`, `check_each`, `compile_queries`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import FINDINGS_MAX, Diagnostic, LanguageError, SourceText, suggest
from omnigraph.model.types import VECTOR_DIMENSION_MAX, PropType, ScalarType
from omnigraph.query import ast, ir
from omnigraph.query.check.context import Findings, Place
from omnigraph.query.check.mutations import check_mutation
from omnigraph.query.check.reads import check_read
from omnigraph.query.parse import parse_queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.schema.catalog import Catalog

TYPE_ERROR = "type error"
RESERVED_PARAMETER = "__nanograph_now"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What checking one query gave: the query, or what is wrong with it."""

    parsed: ast.ParsedQuery
    checked: ir.CheckedQuery | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """All queries of a text, checked, in the order written."""

    queries: tuple[ir.CheckedQuery, ...]
    source: SourceText = field(compare=False, repr=False)

    def query(self, name: str) -> ir.CheckedQuery | None:
        """Find a query by name; the first of that name wins."""
        return next((query for query in self.queries if query.name == name), None)


def compile_queries(text: str, catalog: Catalog, name: str = "<queries>") -> CheckedFile:
    """Parse and check a `.gq` text, or raise a LanguageError that carries every finding."""
    return check_queries(parse_queries(text, name), catalog)


def check_queries(parsed: ast.ParsedFile, catalog: Catalog) -> CheckedFile:
    """Check a parsed file, or raise a LanguageError that carries every finding."""
    checked: list[ir.CheckedQuery] = []
    problems: list[Diagnostic] = []
    for outcome in check_each(parsed, catalog):
        problems.extend(outcome.diagnostics)
        if outcome.checked is not None:
            checked.append(outcome.checked)
        if len(problems) >= FINDINGS_MAX:
            break
    if problems:
        raise LanguageError(TYPE_ERROR, parsed.source, problems[:FINDINGS_MAX], has_more=len(problems) >= FINDINGS_MAX)
    return CheckedFile(tuple(checked), parsed.source)


def check_each(parsed: ast.ParsedFile, catalog: Catalog) -> Iterator[Outcome]:
    """Check the queries of a file one by one; a wrong one does not keep the others from being used."""
    return (_check(query, catalog) for query in parsed.queries)


def _check(query: ast.ParsedQuery, catalog: Catalog) -> Outcome:
    findings = Findings()
    types = _parameters(findings, query.parameters)
    place = Place(findings, catalog, types)
    declared = tuple(ir.QueryParameter(name, kind) for name, kind in types.items() if kind is not None)
    if isinstance(query.body, ast.Read):
        checked: ir.CheckedQuery = check_read(place, query, query.body, declared)
    else:
        checked = check_mutation(place, query, query.body, declared)
    return Outcome(query, None if findings.count else checked, findings.diagnostics)


# -- parameters ----------------------------------------------------------------------------------------


def _parameters(findings: Findings, nodes: tuple[ast.Parameter, ...]) -> dict[str, PropType | None]:
    types: dict[str, PropType | None] = {}
    for node in nodes:
        name, span = node.variable.name, node.variable.span
        if name in types:
            findings.error(None, f"the parameter ${name} is declared twice", span)
        elif name == RESERVED_PARAMETER:
            findings.error(None, f"the parameter name ${name} is reserved", span, "use now()")
        elif name == "_":
            findings.error(None, "a parameter needs a name", span)
        types[name] = _type(findings, node.type)
    return types


def _type(findings: Findings, node: ast.TypeReference) -> PropType | None:
    known = [scalar.value for scalar in ScalarType]
    if node.name not in known:
        hint = suggest(node.name, known) or f"types are {', '.join(known)}"
        return findings.error(None, f"unknown parameter type {node.name!r}", node.span, hint)
    scalar = ScalarType(node.name)
    is_vector = scalar is ScalarType.VECTOR
    if is_vector != (node.dimension is not None):
        form = "Vector(N)" if is_vector else node.name
        return findings.error(None, f"the type is written {form}", node.span)
    if is_vector and not 1 <= (node.dimension or 0) <= VECTOR_DIMENSION_MAX:
        return findings.error(None, f"a vector has 1 to {VECTOR_DIMENSION_MAX} dimensions", node.span)
    if node.is_list and scalar in (ScalarType.BLOB, ScalarType.VECTOR):
        return findings.error(None, f"a list cannot hold {scalar}", node.span)
    return PropType(scalar, node.nullable, node.is_list, None, node.dimension)
