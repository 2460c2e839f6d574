"""`omnigraph mcp`: a graph as tools for an agent on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omnigraph.cli.options import ActorOption, StoreOption, UriArgument
from omnigraph.cli.scope import open_any
from omnigraph.model.errors import BadRequest


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mcp")(mcp)


def mcp(
    uri: UriArgument = None,
    queries: Annotated[
        list[Path] | None, typer.Option("--queries", help="Stored queries as tools: .gq file or folder.")
    ] = None,
    store: StoreOption = None,
    actor: ActorOption = None,
) -> None:
    """Speak the Model Context Protocol over standard streams, about a graph or a graph on a --server."""
    try:
        from omnigraph.mcp.stdio import serve_stdio
    except ModuleNotFoundError as error:
        raise BadRequest(f"this takes more packages ({error.name}): pip install 'omnigraph[server]'") from None
    from omnigraph.graph import Graph
    from omnigraph.graph.stored import read_stored
    from omnigraph.mcp.desk import LocalDesk, RemoteDesk

    graph = open_any(uri, store, actor=actor)
    if isinstance(graph, Graph):
        stored = read_stored(tuple(str(path) for path in queries or ()), graph.schema.catalog)
        serve_stdio(LocalDesk(graph, stored=stored))
        return
    if queries:
        raise BadRequest("a server has its own stored queries: leave out --queries")
    serve_stdio(RemoteDesk(graph))
