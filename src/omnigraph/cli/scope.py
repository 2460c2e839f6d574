"""Which graph a command is about, and the flags that say so."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.cli import render
from omnigraph.model.errors import BadRequest, InvalidUri

if TYPE_CHECKING:
    from omnigraph.cli.operator import Operator, Profile
    from omnigraph.client.graph import RemoteGraph
    from omnigraph.graph import Graph

    AnyGraph = Graph | RemoteGraph
    """Opened directly or on a server: used alike."""

GLOBAL_FLAGS = ("--server", "--graph", "--profile")
"""Accepted anywhere, by every command that can work on a server."""

_SERVED = frozenset(
    {
        *("query", "read", "mutate", "change", "load", "ingest", "branch", "snapshot", "export", "blob", "commit"),
        *("changes", "schema", "graphs", "mcp"),
    }
)
_OWN_GRAPH_FLAG = frozenset({"serve", "policy"})


@dataclass
class Given:
    """The global flags of this run."""

    server: str | None = None
    graph: str | None = None
    profile: str | None = None


given = Given()


def take_global_flags(arguments: list[str]) -> list[str]:
    """Take the global flags out of the command line, wherever they stand; refuse them where they mean nothing."""
    command = next((one for one in arguments if not one.startswith("-")), "")
    if command in _OWN_GRAPH_FLAG:
        return arguments
    found: dict[str, str] = {}
    rest: list[str] = []
    waiting = iter(_with_drawing(arguments))
    for one in waiting:
        flag, separator, value = one.partition("=")
        if flag not in GLOBAL_FLAGS:
            rest.append(one)
            continue
        if flag in found:
            raise BadRequest(f"{flag} is given twice")
        found[flag] = value if separator else next(waiting, "")
        if not found[flag] or found[flag].startswith("--"):
            raise BadRequest(f"{flag} takes a value")
    command = next((one for one in rest if not one.startswith("-")), "")
    if found and command not in _SERVED:
        raise BadRequest(f"{next(iter(found))} does not go with '{command}'")
    given.server, given.graph, given.profile = (found.get(flag) for flag in GLOBAL_FLAGS)
    return rest


def _with_drawing(arguments: list[str]) -> list[str]:
    """Where `commit list` has a `--graph` that names no graph, it asks for the drawing."""
    if [one for one in arguments if not one.startswith("-")][:2] != ["commit", "list"]:
        return arguments
    following = [*arguments[1:], "--"]
    bare = [one == "--graph" and after.startswith("-") for one, after in zip(arguments, following, strict=True)]
    return ["--draw" if drawn else one for one, drawn in zip(arguments, bare, strict=True)]


# -- where -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where the graph is: at an address, or on a server."""

    store: str | None = None
    server: str | None = None
    graph: str | None = None


def place_of(*addresses: str | None) -> Place:
    """The one place the flags name: an address, a server, a profile, or what the configuration says."""
    said = [one for one in addresses if one is not None]
    if said and given.server is not None:
        raise BadRequest("an address and --server are given: one of them is enough")
    if said:
        if given.graph is not None:
            raise BadRequest("--graph is for servers: an address is one graph")
        return Place(store=address_of(*addresses))
    place = place_by_configuration()
    return place if place is not None else Place(store=address_of(*addresses))


def place_by_configuration() -> Place | None:
    """The place that --server, a profile or the defaults name; None if nothing does."""
    from omnigraph.cli.operator import read_operator

    operator = read_operator()
    if given.server is not None:
        return Place(server=operator.server_url(given.server), graph=given.graph)
    name = given.profile or os.environ.get("OMNIGRAPH_PROFILE")
    if name:
        return _of_profile(operator.profile(name), operator)
    defaults = operator.defaults
    if defaults.server is not None:
        return Place(server=operator.server_url(defaults.server), graph=given.graph or defaults.default_graph)
    if defaults.store is not None and given.graph is None:
        return Place(store=defaults.store)
    return None


def _of_profile(profile: Profile, operator: Operator) -> Place:
    assert profile.target is not None
    if profile.kind == "server":
        return Place(server=operator.server_url(profile.target), graph=given.graph or profile.default_graph)
    if profile.kind == "store":
        if given.graph is not None:
            raise BadRequest("--graph is for servers: the profile names one graph")
        return Place(store=profile.target)
    raise BadRequest(f"the profile {profile.name!r} names a cluster, and this command works on a graph or a server")


def open_scope(*addresses: str | None, actor: str | None = None) -> Graph:
    """Open the graph the flags name, directly."""
    from omnigraph.cli.operator import read_operator
    from omnigraph.graph import open_graph

    place = place_of(*addresses)
    if place.store is None:
        raise BadRequest("this needs the graph itself: give its address as URI, --uri or --store")
    return open_graph(place.store, actor=actor or read_operator().actor)


def open_any(*addresses: str | None, actor: str | None = None) -> AnyGraph:
    """Open the graph the flags name, or connect to the server that has it."""
    from omnigraph.cli.operator import read_operator

    place = place_of(*addresses)
    if place.store is not None:
        from omnigraph.graph import open_graph

        return open_graph(place.store, actor=actor or read_operator().actor)
    if actor is not None:
        raise BadRequest("--as is for graphs that are opened directly: a server knows who you are by your token")
    return connect_to(place)


def connect_to(place: Place) -> RemoteGraph:
    """Connect with the token that belongs to the server."""
    from omnigraph.cli.credentials import token_for
    from omnigraph.cli.operator import read_operator
    from omnigraph.client.graph import connect

    assert place.server is not None
    return connect(place.server, token=token_for(place.server, read_operator().servers), graph=place.graph)


def address_of(*addresses: str | None) -> str:
    """The one address that was given."""
    said = [address for address in addresses if address is not None]
    if len(said) != 1:
        what = "give the address of the graph once: as URI, --uri or --store"
        raise BadRequest(what if not said else f"several addresses given; {what}")
    if said[0].startswith(("http://", "https://")):
        raise InvalidUri(said[0], "a served graph is addressed with --server")
    return said[0]


# -- before and after ------------------------------------------------------------------------------------


def echo(verb: str, graph: AnyGraph, quiet: bool) -> None:
    """Say on standard error what is written where."""
    if quiet:
        return
    how = "served" if graph.uri.startswith(("http://", "https://")) else "direct"
    place = "remote" if "://" in graph.uri else "local"
    render.err.print(f"omnigraph {verb} → {graph.uri} ({how}, {place})", markup=False)


def confirm_destruction(graph: AnyGraph, verb: str, yes: bool, as_json: bool) -> None:
    """Destructive acts on a shared store want a yes."""
    if "://" not in graph.uri or yes:
        return
    if as_json or not sys.stdin.isatty():
        raise BadRequest(f"{verb} on {graph.uri} destroys data that others may use; pass --yes to go ahead")
    if input(f"{verb} on {graph.uri}? type 'yes': ").strip().lower() not in {"y", "yes"}:
        raise BadRequest("not confirmed; nothing was done")
