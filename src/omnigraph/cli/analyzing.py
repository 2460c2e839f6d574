"""`omnigraph analyze`: analytics on Spark, shown, or stored as properties on a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import render
from omnigraph.cli.options import ActorOption, JsonOption, QuietOption, StoreOption, UriArgument
from omnigraph.cli.scope import echo, open_scope
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.graph import Graph
    from omnigraph.graph.spark import Analysis
    from omnigraph.manifest import Commit

AlgorithmArgument = Annotated[
    str, typer.Argument(help="components, degrees, labels, pagerank, paths or triangles.", metavar="ALGORITHM")
]
SourceOption = Annotated[list[str] | None, typer.Option("--source", help="Id to start from (paths).")]
StoreAsOption = Annotated[
    list[str] | None, typer.Option("--write", help="COLUMN=PROPERTY: store what was found, as one commit.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("analyze")(analyze)


def analyze(
    algorithm: AlgorithmArgument,
    uri: UriArgument = None,
    nodes: Annotated[list[str] | None, typer.Option("--node", help="Node type; as often as needed.")] = None,
    edges: Annotated[list[str] | None, typer.Option("--edge", help="Edge type; as often as needed.")] = None,
    weight: Annotated[str | None, typer.Option("--weight", help="Property of the edges.")] = None,
    branch: Annotated[str | None, typer.Option("--branch", help="Branch to read, and to write to (main).")] = None,
    snapshot: Annotated[str | None, typer.Option("--snapshot", help="Commit to read instead of a branch.")] = None,
    damping: Annotated[float | None, typer.Option("--damping", help="For pagerank (0.85).")] = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", help="For pagerank (1e-6).")] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", help="For pagerank and labels.")] = None,
    sources: SourceOption = None,
    direction: Annotated[str | None, typer.Option("--direction", help="For paths: out, in or both.")] = None,
    hops: Annotated[int | None, typer.Option("--hops", help="For paths: at most so many edges.")] = None,
    top: Annotated[int, typer.Option("--top", help="Rows to show, by the first value.")] = 20,
    write: StoreAsOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run an analysis over types of a snapshot, on Spark."""
    given = {
        "damping": damping,
        "tolerance": tolerance,
        "iterations": iterations,
        "sources": sources or None,
        "direction": direction,
        "hops": hops,
    }
    properties = _properties(write or [])
    graph = open_scope(uri, store, actor=actor)
    found = graph.analyze(
        algorithm,
        nodes=nodes or [],
        edges=edges or [],
        weight=weight,
        branch=branch,
        snapshot=snapshot,
        **{name: value for name, value in given.items() if value is not None},
    )
    commit = None
    if properties:
        echo("analyze", graph, quiet)
        commit = found.write(properties, branch or graph.branch)
    _show(graph, found, top, commit, as_json)


def _properties(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if not all(column and name for column, _, name in pairs):
        raise BadRequest("--write is COLUMN=PROPERTY, like rank=importance")
    return {column: name for column, _, name in pairs}


def _show(graph: Graph, found: Analysis, top: int, commit: Commit | None, as_json: bool) -> None:
    rows: list[dict[str, Any]] = [row.asDict() for row in _first(found, top)]
    if as_json:
        document = {"uri": graph.uri, "rows": rows, "commit": commit.id if commit is not None else None}
        render.print_json(document)
        return
    render.print_table(("type", "id", *found.values), [tuple(row.values()) for row in rows])
    if commit is not None:
        render.out.print(f"stored as commit {commit.id}", markup=False)


def _first(found: Analysis, top: int) -> list[Any]:
    """The greatest numbers, or the first texts."""
    column, kind = found.values[0], dict(found.frame.dtypes)[found.values[0]]
    frame = found.frame
    key = frame[column].asc() if kind == "string" else frame[column].desc()
    return frame.orderBy(key, "type", "id").limit(top).collect()
