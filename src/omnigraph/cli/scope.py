"""Which graph a command is about, and the flags that say so."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from omnigraph.cli import render
from omnigraph.model.errors import BadRequest, InvalidUri

if TYPE_CHECKING:
    from omnigraph.graph import Graph

UriArgument = Annotated[str | None, typer.Argument(help="Address of the graph.", metavar="URI")]
UriOption = Annotated[str | None, typer.Option("--uri", help="Address of the graph.")]
StoreOption = Annotated[str | None, typer.Option("--store", help="Address of the graph, as a flag.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ActorOption = Annotated[str | None, typer.Option("--as", help="Actor recorded with the write.", metavar="ACTOR")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Say less.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before a destructive act.")]
BranchOption = Annotated[str, typer.Option("--branch", help="Branch to look at.")]


def open_scope(*addresses: str | None, actor: str | None = None) -> Graph:
    """Open the graph the flags name."""
    from omnigraph.graph import open_graph

    return open_graph(address_of(*addresses), actor=actor)


def address_of(*addresses: str | None) -> str:
    """The one address that was given."""
    given = [address for address in addresses if address is not None]
    if len(given) != 1:
        what = "give the address of the graph once: as URI, --uri or --store"
        raise BadRequest(what if not given else f"several addresses given; {what}")
    if given[0].startswith(("http://", "https://")):
        raise InvalidUri(given[0], "a served graph is addressed with --server")
    return given[0]


def echo(verb: str, graph: Graph, quiet: bool) -> None:
    """Say on standard error what is written where."""
    if not quiet:
        place = "remote" if "://" in graph.uri else "local"
        render.err.print(f"omnigraph {verb} → {graph.uri} (direct, {place})", markup=False)


def confirm_destruction(graph: Graph, verb: str, yes: bool, as_json: bool) -> None:
    """Destructive acts on a shared store want a yes."""
    if "://" not in graph.uri or yes:
        return
    if as_json or not sys.stdin.isatty():
        raise BadRequest(f"{verb} on {graph.uri} destroys data that others may use; pass --yes to go ahead")
    if input(f"{verb} on {graph.uri}? type 'yes': ").strip().lower() not in {"y", "yes"}:
        raise BadRequest("not confirmed; nothing was done")
