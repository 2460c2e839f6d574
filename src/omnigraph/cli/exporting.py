"""`omnigraph export`: a graph as lines on standard output, or as files."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import render
from omnigraph.cli.options import JsonOption, QuietOption, StoreOption, UriArgument
from omnigraph.cli.progress import shown_progress
from omnigraph.cli.scope import open_any, open_scope
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.cli.scope import AnyGraph
    from omnigraph.export.export import ExportResult
    from omnigraph.graph import Graph


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    uri: UriArgument = None,
    branch: Annotated[str | None, typer.Option("--branch", help="Branch to export (main).")] = None,
    snapshot: Annotated[str | None, typer.Option("--snapshot", help="Commit to export instead of a branch.")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only this type; as often as needed.")] = None,
    form: Annotated[str, typer.Option("--format", help="jsonl, parquet or csv.")] = "jsonl",
    out: Annotated[str | None, typer.Option("--out", help="New folder, or a file named ….jsonl, .gz, .zst.")] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or spark for tasks side by side.")] = "auto",
    compression: Annotated[str | None, typer.Option("--compression", help="gzip or zstd.")] = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", hidden=True)] = False,
) -> None:
    """Write the graph as JSONL to standard output, or as files; a load of it gives the same graph."""
    del jsonl  # what it asked for is the default
    if out is None:
        if form != "jsonl" or as_json or compression is not None:
            raise BadRequest("standard output takes JSONL only: name a folder with --out for anything else")
        _stream(open_any(uri, store), branch, snapshot, types or [])
        return
    graph = open_scope(uri, store)
    with shown_progress(quiet) as progress:
        result = graph.export(
            out,
            format=form,
            types=types or [],
            branch=branch,
            snapshot=snapshot,
            compression=compression,
            engine=engine,
            progress=progress,
        )
    if as_json:
        render.print_json(_document(graph, result, form))
        return
    nodes, edges = sum(result.nodes.values()), sum(result.edges.values())
    render.out.print(
        f"exported {render.counted(nodes, 'node')} and {render.counted(edges, 'edge')} to {result.out}", markup=False
    )


def _stream(graph: AnyGraph, branch: str | None, snapshot: str | None, types: list[str]) -> None:
    out = sys.stdout.buffer
    try:
        for chunk in graph.export_lines(types=types, branch=branch, snapshot=snapshot):
            out.write(chunk)
        out.flush()
    except BrokenPipeError:  # the reader has what it wanted, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _document(graph: Graph, result: ExportResult, form: str) -> dict[str, Any]:
    return {
        "uri": graph.uri,
        "branch": result.branch,
        "graph_commit_id": result.commit_id,
        "format": form,
        "out": result.out,
        "files": [name for name in result.files if name],
        "nodes": result.nodes,
        "edges": result.edges,
        "total_entities": result.total_entities,
    }
