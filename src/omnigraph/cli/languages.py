"""`omnigraph lint` and `omnigraph fmt`: the two languages at the command line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import render
from omnigraph.cli.options import JsonOption, StoreOption, UriArgument
from omnigraph.cli.scope import open_scope
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnigraph.model.findings import Finding
    from omnigraph.query import LintReport

SUFFIXES = (".pg", ".gq")


# -- lint ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Linted:
    """What linting a schema, queries, or both has found."""

    schema_source: dict[str, str]
    schema_findings: tuple[Finding, ...]
    queries: LintReport | None

    def document(self) -> dict[str, Any]:
        """The report of the contract; findings about the schema come first."""
        own = [finding.to_json() for finding in self.schema_findings]
        counts = {f"{kind}s": sum(one["severity"] == kind for one in own) for kind in ("error", "warning", "info")}
        if self.queries is None:
            status = "error" if counts["errors"] else "ok"
            return {"status": status, "schema_source": self.schema_source, **counts, "findings": own}
        report = self.queries.to_json()
        report |= {name: report[name] + count for name, count in counts.items()}
        report["findings"] = own + report["findings"]
        report["status"] = "error" if report["errors"] else "ok"
        return report


def lint(
    uri: UriArgument = None,
    query: Annotated[Path | None, typer.Option("--query", help="Query file (.gq).")] = None,
    schema: Annotated[Path | None, typer.Option("--schema", help="Schema file (.pg).")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a schema, a file of queries, or both: against a schema file or against a graph's schema."""
    linted = _lint(uri, store, query, schema)
    document = linted.document()
    if as_json:
        render.print_json(document)
    else:
        _print_report(linted, document)
    if document["status"] == "error":
        raise typer.Exit(1)


def _lint(uri: str | None, store: str | None, query: Path | None, schema: Path | None) -> _Linted:
    from omnigraph.query import SchemaSource, lint_queries
    from omnigraph.schema import compile_schema, lint_schema
    from omnigraph.schema.lint import DOES_NOT_COMPILE

    graph = open_scope(uri, store) if uri is not None or store is not None else None
    if schema is None:
        if graph is None or query is None:
            raise BadRequest("say what to check: --schema FILE, or --query FILE with --schema FILE or with a graph")
        source = SchemaSource("graph", graph.uri)
        report = lint_queries(read_text(query), graph.schema.catalog, str(query), source)
        return _Linted(source.to_json(), (), report)
    source, text = SchemaSource("file", str(schema)), read_text(schema)
    findings = lint_schema(text, str(schema), graph.schema.catalog if graph is not None else None)
    if query is None or any(finding.code == DOES_NOT_COMPILE for finding in findings):
        return _Linted(source.to_json(), findings, None)
    report = lint_queries(read_text(query), compile_schema(text, str(schema)), str(query), source)
    return _Linted(source.to_json(), findings, report)


def _print_report(linted: _Linted, document: dict[str, Any]) -> None:
    for result in linted.queries.results if linted.queries else ():
        if result.problem is not None:
            render.out.print(f"{result.problem.render()}\n", markup=False)
        for warning in result.warnings:
            render.out.print(f"warning: query {result.name}: {warning}", markup=False)
    for finding in document["findings"]:
        render.out.print(f"{finding['severity']}: {finding['code']}: {finding['message']}", markup=False)
    parts = [render.counted(document["errors"], "error"), render.counted(document["warnings"], "warning")]
    if linted.queries is not None:
        parts.insert(0, render.counted(document["queries_processed"], "query", "queries"))
    render.out.print(f"{document['status']}: {', '.join(parts)}", markup=False)


# -- fmt -------------------------------------------------------------------------------------------------


def fmt(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files, or folders to look through.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if something would change.")
    ] = False,
    stdin: Annotated[
        str | None, typer.Option("--stdin", help="Read standard input instead, as pg or gq; write standard output.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Lay out schemas (.pg) and queries (.gq) in the one way they are written. Comments stay."""
    if stdin is not None:
        if paths or as_json or check:
            raise BadRequest("--stdin stands alone: it formats standard input")
        sys.stdout.write(_formatter(f".{stdin.lstrip('.')}")(sys.stdin.read(), "<stdin>"))
        return
    if not paths:
        raise BadRequest("name the files to format, or a folder")
    planned = [(path, text, _formatter(path.suffix)(text, str(path))) for path, text in _texts(paths)]
    changed = [path for path, before, after in planned if before != after]
    if not check:  # nothing is written before every text was understood
        for path, before, after in planned:
            if before != after:
                path.write_text(after, encoding="utf-8")
    if as_json:
        render.print_json({"files": len(planned), "changed": [str(path) for path in changed]})
    else:
        for path in changed:
            render.out.print(f"{'would change' if check else 'formatted'} {path}", markup=False)
        render.out.print(f"{render.counted(len(planned), 'file')}, {len(changed)} changed", markup=False)
    if check and changed:
        raise typer.Exit(1)


def _texts(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    for path in paths:
        if path.is_dir():
            for found in sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file()):
                yield found, read_text(found)
        else:
            yield path, read_text(path)


def _formatter(suffix: str) -> Callable[[str, str], str]:
    from omnigraph.query import format_queries
    from omnigraph.schema import format_schema

    match suffix:
        case ".pg":
            return format_schema
        case ".gq":
            return format_queries
        case _:
            raise BadRequest(f"cannot tell the language of {suffix or 'a file without an ending'}: it is .pg or .gq")
