"""`omnigraph query`, `explain` and `repl`: asking a graph at the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import render
from omnigraph.cli.operator import read_operator
from omnigraph.cli.options import BranchOption, JsonOption, StoreOption, UriArgument, UriOption
from omnigraph.cli.queries import (
    NameArgument,
    ParamsFileOption,
    ParamsOption,
    QueryOption,
    TextOption,
    read_params,
    source_of,
)
from omnigraph.cli.results import ReadFormat, print_answer, print_result
from omnigraph.cli.scope import open_any, open_scope
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.cli.scope import AnyGraph
    from omnigraph.execute.result import Result
    from omnigraph.write.mutate import MutationResult

ReadBranchOption = Annotated[str | None, typer.Option("--branch", help="Branch to read (main).")]
ReadSnapshotOption = Annotated[str | None, typer.Option("--snapshot", help="Commit or tag to read instead.")]
TimeoutOption = Annotated[float | None, typer.Option("--timeout", help="Seconds the query may take.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("query")(query)
    app.command("read", hidden=True)(query)
    app.command("explain")(explain)
    app.command("repl")(repl)


def query(
    name: NameArgument = None,
    query: QueryOption = None,
    text: TextOption = None,
    params: ParamsOption = None,
    params_file: ParamsFileOption = None,
    branch: ReadBranchOption = None,
    snapshot: ReadSnapshotOption = None,
    form: Annotated[ReadFormat | None, typer.Option("--format", help="How to print the rows.")] = None,
    timeout_s: TimeoutOption = None,
    rows_max: Annotated[int | None, typer.Option("--max-rows", help="Refuse a result with more rows.")] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or spark for what outgrows a machine.")] = "auto",
    uri: UriOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a query that reads, on a branch or at a snapshot."""
    if form is not None and as_json:
        raise BadRequest("--json is --format json: give one of them")
    given = read_params(params, params_file)
    graph = open_any(uri, store)
    shown = ReadFormat.JSON if as_json else form or ReadFormat(read_operator().defaults.output or "table")
    if query is None and text is None and name is not None:
        print_answer(_stored(graph, name, given, branch, snapshot), shown)
        return
    from omnigraph.graph import Graph

    source = source_of(query, text)
    how: dict[str, Any] = {"branch": branch, "snapshot": snapshot, "timeout_s": timeout_s, "max_rows": rows_max}
    if engine != "auto":
        if not isinstance(graph, Graph):
            raise BadRequest("--engine is for a graph that is opened directly: a server chooses its own")
        how["engine"] = engine
    print_result(graph.query(source, name, given, **how), shown)


def _stored(
    graph: AnyGraph, name: str, given: dict[str, Any] | None, branch: str | None, snapshot: str | None
) -> Result | MutationResult:
    """Run a query that the server keeps."""
    from omnigraph.graph import Graph

    if isinstance(graph, Graph):
        raise BadRequest("give the query once: --query FILE or -e TEXT; a name alone is for queries stored on a server")
    return graph.invoke(name, given, branch=branch, snapshot=snapshot, expect_mutation=False)


def explain(
    name: NameArgument = None,
    query: QueryOption = None,
    text: TextOption = None,
    params: ParamsOption = None,
    params_file: ParamsFileOption = None,
    branch: ReadBranchOption = None,
    snapshot: ReadSnapshotOption = None,
    run: Annotated[bool, typer.Option("--run", help="Run it, too: rows, time and requests of each step.")] = False,
    timeout_s: TimeoutOption = None,
    uri: UriOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a query would run, step by step."""
    source, given = source_of(query, text), read_params(params, params_file)
    graph = open_scope(uri, store)
    if run:
        found = graph.profile(source, name, given, branch=branch, snapshot=snapshot, timeout_s=timeout_s)
    else:
        found = graph.explain(source, name, branch=branch, snapshot=snapshot)
    if as_json:
        render.print_json(found.to_json())
    else:
        render.out.print(str(found), markup=False)


def repl(uri: UriArgument = None, branch: BranchOption = "main", store: StoreOption = None) -> None:
    """Ask and change a graph line by line, with completion and history; or answer what is piped in."""
    from omnigraph.cli.repl import Repl

    if not Repl(open_scope(uri, store), branch).run():
        raise typer.Exit(1)
