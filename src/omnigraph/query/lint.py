"""Everything there is to say about a file of queries: errors, warnings, and what each query does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from omnigraph.model.diagnostics import LanguageError
from omnigraph.model.findings import Finding, in_order
from omnigraph.query import ast
from omnigraph.query.check.queries import TYPE_ERROR, Outcome, check_each
from omnigraph.query.operation import describe_operation
from omnigraph.query.parse import parse_queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnigraph.model.diagnostics import Severity, SourceText
    from omnigraph.schema.catalog import Catalog, NodeType

Status = Literal["ok", "error"]

UNPARSABLE = "Q000"
NEVER_UPDATED = "L201"


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """Where the schema came from: a file's path or a graph's address."""

    kind: Literal["file", "graph"]
    place: str

    def to_json(self) -> dict[str, str]:
        """Give the JSON form."""
        return {"kind": self.kind, "path" if self.kind == "file" else "uri": self.place}


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What became of one query."""

    name: str
    kind: Literal["read", "mutation"]
    warnings: tuple[str, ...] = ()
    problem: LanguageError | None = None
    operation: dict[str, object] | None = None

    @property
    def error(self) -> str | None:
        """Give what is wrong with it, one line for each mistake."""
        return None if self.problem is None else self.problem.message

    @property
    def status(self) -> Status:
        """Tell whether the query can run."""
        return "ok" if self.problem is None else "error"

    def to_json(self) -> dict[str, object]:
        """Give the JSON form."""
        data: dict[str, object] = {"name": self.name, "kind": self.kind, "status": self.status}
        more = {"warnings": list(self.warnings), "error": self.error, "operation": self.operation}
        return data | {key: value for key, value in more.items() if value}


@dataclass(frozen=True, slots=True)
class LintReport:
    """The whole report; `to_json` is what `lint --json` prints."""

    schema_source: SchemaSource
    query_path: str
    results: tuple[QueryResult, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """Count the errors."""
        return self._count("error") + sum(result.error is not None for result in self.results)

    @property
    def warnings(self) -> int:
        """Count the warnings."""
        return self._count("warning") + sum(len(result.warnings) for result in self.results)

    @property
    def status(self) -> Status:
        """Tell whether every query can run."""
        return "error" if self.errors else "ok"

    def _count(self, severity: Severity) -> int:
        return sum(finding.severity == severity for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "status": self.status,
            "schema_source": self.schema_source.to_json(),
            "query_path": self.query_path,
            "queries_processed": len(self.results),
            "errors": self.errors,
            "warnings": self.warnings,
            "infos": self._count("info"),
            "results": [result.to_json() for result in self.results],
            "findings": [finding.to_json() for finding in self.findings],
        }


def lint_queries(text: str, catalog: Catalog, query_path: str, schema_source: SchemaSource) -> LintReport:
    """Check a file and look for what is allowed but probably not meant. Never raises for a wrong text."""
    try:
        parsed = parse_queries(text, query_path)
    except LanguageError as error:
        return LintReport(schema_source, query_path, (), (Finding("error", UNPARSABLE, error.message),))
    results = tuple(_result(outcome, parsed.source) for outcome in check_each(parsed, catalog))
    findings = in_order(_never_updated(parsed.queries, catalog))
    return LintReport(schema_source, query_path, results, findings)


def _result(outcome: Outcome, source: SourceText) -> QueryResult:
    query = outcome.parsed
    is_mutation = isinstance(query.body, ast.Mutation)
    warnings = ()
    if is_mutation and not query.parameters:
        warnings = ("this mutation has no parameters, so it writes the same every time",)
    problem = LanguageError(TYPE_ERROR, source, outcome.diagnostics) if outcome.diagnostics else None
    operation = None if outcome.checked is None else describe_operation(outcome.checked)
    return QueryResult(query.name.text, "mutation" if is_mutation else "read", warnings, problem, operation)


# -- L201 ----------------------------------------------------------------------------------------------


def _never_updated(queries: Iterable[ast.ParsedQuery], catalog: Catalog) -> Iterator[Finding]:
    """A type that is updated, with a property no update sets: it keeps its first value forever."""
    assigned: dict[str, set[str]] = {}
    names: dict[str, list[str]] = {}
    for query in queries:
        statements = query.body.statements if isinstance(query.body, ast.Mutation) else ()
        for update in statements:
            if isinstance(update, ast.Update):
                type_name = update.type_name.text
                assigned.setdefault(type_name, set()).update(pair.property.text for pair in update.assignments)
                names.setdefault(type_name, []).append(query.name.text)
    for type_name, properties in assigned.items():
        node = catalog.node(type_name)
        for name in _updatable(node) if node is not None else ():
            if name not in properties:
                yield Finding(
                    "warning",
                    NEVER_UPDATED,
                    f"{type_name}.{name} is nullable, and no update of {type_name} in this file sets it",
                    type_name,
                    name,
                    tuple(dict.fromkeys(names[type_name])),
                )


def _updatable(node: NodeType) -> Iterator[str]:
    for declared in node.properties:
        if declared.nullable and declared.embed is None and not node.is_key(declared.name):
            yield declared.name
