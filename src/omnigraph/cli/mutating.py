"""`omnigraph mutate`: a query that writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.cli import render
from omnigraph.cli.options import ActorOption, BranchOption, IfCommitOption, JsonOption, StoreOption, UriOption
from omnigraph.cli.queries import (
    NameArgument,
    ParamsFileOption,
    ParamsOption,
    QueryOption,
    TextOption,
    read_params,
    source_of,
)
from omnigraph.cli.scope import open_any

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mutate")(mutate)
    app.command("change", hidden=True)(mutate)


def mutate(
    name: NameArgument = None,
    query: QueryOption = None,
    text: TextOption = None,
    params: ParamsOption = None,
    params_file: ParamsFileOption = None,
    branch: BranchOption = "main",
    if_commit: IfCommitOption = None,
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a query that writes: one commit, or none if nothing changes."""
    source, given = source_of(query, text), read_params(params, params_file)
    graph = open_any(uri, store, actor=actor)
    result = graph.mutate(source, name, given, branch=branch, if_commit=if_commit)
    if as_json:
        render.print_json(render.mutation_document(result))
        return
    render.out.print(f"{result.query_name}: {render.affected(result)}", markup=False)
    commit = f"commit {result.commit.id}" if result.commit is not None else "nothing changed"
    render.out.print(commit, markup=False)
