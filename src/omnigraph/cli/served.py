"""`omnigraph login`, `logout`, `profile`, `graphs` and `alias`: working with servers."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import credentials, render, scope
from omnigraph.cli.operator import read_operator
from omnigraph.cli.options import JsonOption
from omnigraph.cli.queries import ParamsFileOption, ParamsOption, read_params
from omnigraph.cli.scope import Place, connect_to
from omnigraph.model.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from omnigraph.cli.operator import Alias, Operator, Profile

profile_app = typer.Typer(help="The places commands work on, by name.", no_args_is_help=True)
graphs_app = typer.Typer(help="The graphs of a server.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(help="Name of the server in config.yaml.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("login")(login)
    app.command("logout")(logout)
    app.command("alias")(alias)
    app.add_typer(profile_app, name="profile")
    app.add_typer(graphs_app, name="graphs")


def login(
    name: NameArgument,
    token: Annotated[str | None, typer.Option("--token", help="The token; else one line of standard input.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a bearer token for a server, readable by you only."""
    given = token if token is not None else sys.stdin.readline().strip()
    if not given:
        raise BadRequest("there is no token: pass --token, or write it as one line to standard input")
    credentials.store_token(name, given)
    declared = name in read_operator().servers
    if as_json:
        document = {"server": name, "credentials_path": str(credentials.path()), "declared": declared}
        render.print_json(document)
        return
    render.out.print(f"token for {name} kept in {credentials.path()}", markup=False)
    if not declared:
        render.err.print(f"warning: config.yaml names no server {name!r} yet", markup=False)


def logout(name: NameArgument, as_json: JsonOption = False) -> None:
    """Forget the token for a server."""
    credentials.store_token(name, None)
    if as_json:
        render.print_json({"server": name, "credentials_path": str(credentials.path())})
    else:
        render.out.print(f"token for {name} forgotten", markup=False)


# -- profiles --------------------------------------------------------------------------------------------


@profile_app.command("list")
def profile_list(as_json: JsonOption = False) -> None:
    """List the profiles."""
    operator = read_operator()
    active = os.environ.get("OMNIGRAPH_PROFILE")
    items = [_item(profile, profile.name == active) for _, profile in sorted(operator.profiles.items())]
    if as_json:
        render.print_json({"profiles": items})
        return
    rows = [
        ("*" if one["active"] else "", one["name"], one["scope_kind"] or "-", one["target"] or "-", one["error"] or "")
        for one in items
    ]
    render.print_table(("", "profile", "kind", "target", "problem"), rows)


def _item(profile: Profile, is_active: bool) -> dict[str, Any]:
    return {
        "name": profile.name,
        "binding": profile.target,
        "scope_kind": profile.kind,
        "target": profile.target,
        "valid": profile.error is None,
        "error": profile.error,
        "default_graph": profile.default_graph,
        "active": is_active,
    }


@profile_app.command("show")
def profile_show(
    name: Annotated[str | None, typer.Argument(help="Profile; the active one otherwise.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show one profile, with the address it comes to."""
    operator = read_operator()
    chosen = name or os.environ.get("OMNIGRAPH_PROFILE")
    if not chosen:
        raise BadRequest("name a profile, or set OMNIGRAPH_PROFILE")
    profile = operator.profile(chosen)
    document = {
        "name": profile.name,
        "scope_kind": profile.kind,
        "target": profile.target,
        "endpoint": _endpoint(profile, operator),
        "default_graph": profile.default_graph,
        "output_format": operator.defaults.output or "table",
    }
    if as_json:
        render.print_json(document)
        return
    for key, value in document.items():
        render.out.print(f"{key}: {value if value is not None else '-'}", markup=False)


def _endpoint(profile: Profile, operator: Operator) -> str | None:
    target = profile.target or ""
    if profile.kind == "server":
        return operator.server_url(target)
    return operator.clusters.get(target, target) if profile.kind == "cluster" else target


# -- graphs ----------------------------------------------------------------------------------------------


@graphs_app.command("list")
def graphs_list(as_json: JsonOption = False) -> None:
    """List the graphs of a server."""
    from omnigraph.client import calls
    from omnigraph.client.graph import Sender
    from omnigraph.client.transport import place_of

    place = scope.place_by_configuration()
    if place is None or place.server is None or scope.given.graph is not None:
        raise BadRequest("name the server, and no graph: omnigraph graphs list --server NAME_OR_URL, or --profile NAME")
    send = Sender(place_of(place.server, credentials.token_for(place.server, read_operator().servers), None))
    try:
        graphs = send(calls.list_graphs())
    finally:
        send.close()
    if as_json:
        render.print_json({"graphs": [{"graph_id": graph_id, "uri": uri} for graph_id, uri in graphs]})
        return
    for graph_id, uri in graphs:
        render.out.print(f"{graph_id}\t{uri}", markup=False)


# -- aliases ---------------------------------------------------------------------------------------------


def alias(
    name: Annotated[str, typer.Argument(help="Alias in config.yaml.")],
    args: Annotated[list[str] | None, typer.Argument(help="Parameters in the order of the alias.")] = None,
    params: ParamsOption = None,
    params_file: ParamsFileOption = None,
    form: Annotated[str | None, typer.Option("--format", help="table, kv, csv, jsonl or json.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a stored query of a server under a short name."""
    from omnigraph.cli.results import print_answer

    operator = read_operator()
    found = operator.aliases.get(name)
    if found is None:
        raise NotFound(f"there is no alias {name!r}; aliases: {', '.join(sorted(operator.aliases)) or 'none'}")
    values = {**found.params, **_positional(found, args or []), **(read_params(params, params_file) or {})}
    graph = connect_to(Place(server=operator.server_url(found.server), graph=found.graph))
    answer = graph.invoke(found.query, values, expect_mutation=False)
    print_answer(answer, "json" if as_json else form or found.format or operator.defaults.output or "table")


def _positional(found: Alias, args: list[str]) -> dict[str, Any]:
    if len(args) > len(found.args):
        raise BadRequest(
            f"{len(args)} parameters are given; the alias takes {len(found.args)}: {', '.join(found.args)}"
        )
    return {name: _value(text) for name, text in zip(found.args, args, strict=False)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
