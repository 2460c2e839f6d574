"""`omnigraph serve`: graphs over HTTP."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.policy import Bundle
    from omnigraph.server.settings import GraphSettings


class LogLevel(StrEnum):
    """The least of what is written to the log."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    graph: Annotated[list[str] | None, typer.Option("--graph", help="ID=URI, as often as there are graphs.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Declaration of the graphs (YAML).")] = None,
    bind: Annotated[str, typer.Option("--bind", help="HOST:PORT; port 0 takes any.", envvar="OMNIGRAPH_BIND")] = (
        "127.0.0.1:8080"
    ),
    queries: Annotated[
        list[Path] | None, typer.Option("--queries", help="Stored queries for the one graph: file or folder.")
    ] = None,
    policy: Annotated[Path | None, typer.Option("--policy", help="Policy bundle for the graphs of --graph.")] = None,
    server_policy: Annotated[
        Path | None, typer.Option("--server-policy", help="Policy bundle about the server.")
    ] = None,
    unauthenticated: Annotated[
        bool, typer.Option("--unauthenticated", help="No tokens: everybody may do everything.")
    ] = False,
    require_all_graphs: Annotated[
        bool, typer.Option("--require-all-graphs", help="Stop if one graph cannot be served.")
    ] = False,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", case_sensitive=False, help="How much the log says.")
    ] = LogLevel.INFO,
) -> None:
    """Serve graphs over HTTP. Tokens come from OMNIGRAPH_SERVER_BEARER_TOKEN or …_TOKENS_FILE."""
    try:
        from omnigraph.server.run import serve as run
        from omnigraph.server.settings import Settings, is_true, limits_of, read_tokens
    except ModuleNotFoundError as error:
        raise BadRequest(f"serving takes more packages ({error.name}): pip install 'omnigraph[server]'") from None
    from omnigraph.policy import PolicyKind
    from omnigraph.server.declare import read_bundle

    graphs, bundle = _declared(graph or [], config, queries or [], policy)
    if server_policy is not None:
        bundle = read_bundle(server_policy, PolicyKind.SERVER)
    env = os.environ
    settings = Settings(
        graphs,
        read_tokens(env),
        bundle,
        unauthenticated or is_true(env.get("OMNIGRAPH_UNAUTHENTICATED")),
        require_all_graphs or is_true(env.get("OMNIGRAPH_REQUIRE_ALL_GRAPHS")),
        limits_of(env),
    )
    run(settings, bind, log_level=log_level.value)


def _declared(
    graph: list[str], config: Path | None, queries: list[Path], policy: Path | None
) -> tuple[tuple[GraphSettings, ...], Bundle | None]:
    """The graphs that the file declares, or the flags; and the policy of the server, if the file has one."""
    from dataclasses import replace

    from omnigraph.policy import PolicyKind
    from omnigraph.server.declare import graphs_from_flags, read_bundle, read_declaration

    if bool(graph) == (config is not None):
        raise BadRequest("say what to serve: --graph ID=URI, or --config FILE")
    if config is not None:
        if queries or policy:
            raise BadRequest("with --config the file names queries and policies")
        return read_declaration(config)
    graphs = graphs_from_flags(graph)
    if queries and len(graphs) > 1:
        raise BadRequest("--queries is for one graph; with several use --config")
    paths = tuple(str(path) for path in queries)
    shared = read_bundle(policy, PolicyKind.GRAPH) if policy is not None else None
    return tuple(replace(one, queries=paths, policy=shared) for one in graphs), None
