"""The `omnigraph` command."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from omnigraph import __version__
from omnigraph.cli import render
from omnigraph.model.errors import BadRequest, InvalidUri, OmniGraphError, PreconditionFailed

if TYPE_CHECKING:
    from omnigraph.graph import Graph

app = typer.Typer(
    name="omnigraph",
    help="A versioned graph database on a disk or in an object store.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
branch_app = typer.Typer(help="Create, list and delete branches.", no_args_is_help=True)
commit_app = typer.Typer(help="Look at history.", no_args_is_help=True)
app.add_typer(branch_app, name="branch")
app.add_typer(commit_app, name="commit")

UriArgument = Annotated[str | None, typer.Argument(help="Address of the graph.", metavar="URI")]
UriOption = Annotated[str | None, typer.Option("--uri", help="Address of the graph.")]
StoreOption = Annotated[str | None, typer.Option("--store", help="Address of the graph, as a flag.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ActorOption = Annotated[str | None, typer.Option("--as", help="Actor recorded with the write.", metavar="ACTOR")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Say less.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before a destructive act.")]
BranchOption = Annotated[str, typer.Option("--branch", help="Branch to look at.")]

_LEADING = {"--as": 1, "--store": 1, "--uri": 1, "--quiet": 0, "--yes": 0, "--json": 0}
_DURATION = re.compile(r"^(\d+)([smhdw]?)$")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def _graph(*addresses: str | None, actor: str | None = None) -> Graph:
    from omnigraph.graph import open_graph

    return open_graph(_address(*addresses), actor=actor)


def _address(*addresses: str | None) -> str:
    given = [address for address in addresses if address is not None]
    if len(given) != 1:
        what = "give the address of the graph once: as URI, --uri or --store"
        raise BadRequest(what if not given else f"several addresses given; {what}")
    if given[0].startswith(("http://", "https://")):
        raise InvalidUri(given[0], "a served graph is addressed with --server")
    return given[0]


def _echo(verb: str, graph: Graph, quiet: bool) -> None:
    if not quiet:
        place = "remote" if "://" in graph.uri else "local"
        render.err.print(f"omnigraph {verb} → {graph.uri} (direct, {place})", markup=False)


def _confirm(graph: Graph, verb: str, yes: bool, as_json: bool) -> None:
    """Destructive acts on a shared store want a yes."""
    if "://" not in graph.uri or yes:
        return
    if as_json or not sys.stdin.isatty():
        raise BadRequest(f"{verb} on {graph.uri} destroys data that others may use; pass --yes to go ahead")
    if input(f"{verb} on {graph.uri}? type 'yes': ").strip().lower() not in {"y", "yes"}:
        raise BadRequest("not confirmed; nothing was done")


@app.command("version")
def version() -> None:
    """Print the versions of this program and of the storage."""
    render.out.print(f"omnigraph {__version__}\ninternal-schema {render.INTERNAL_SCHEMA_VERSION}")


@app.command("init")
def init(
    uri: UriArgument = None,
    schema: Annotated[Path | None, typer.Option("--schema", help="Schema file (.pg).")] = None,
    store: StoreOption = None,
    actor: ActorOption = None,
) -> None:
    """Make a new graph from a schema."""
    from omnigraph.graph import init_graph

    address = _address(uri, store)
    if schema is None:
        raise BadRequest("give the schema: omnigraph init --schema FILE URI")
    try:
        text = schema.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"cannot read the schema {schema}: {error}") from error
    graph = init_graph(address, text, schema_name=str(schema), actor=actor)
    render.out.print(f"initialized {graph.uri}", markup=False)


@app.command("snapshot")
def snapshot(
    uri: UriArgument = None, branch: BranchOption = "main", store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Show what a branch holds now."""
    document = render.snapshot_document(_graph(uri, store).snapshot(branch))
    if as_json:
        render.print_json(document)
        return
    render.out.print(f"branch {document['graph_branch']} at version {document['graph_manifest_version']}", markup=False)
    rows = [(d["entity_kind"], d["type_name"], d["entity_count"], d["dataset_path"]) for d in document["datasets"]]
    render.print_table(("kind", "type", "entities", "dataset"), rows)


@branch_app.command("create")
def branch_create(
    name: Annotated[str, typer.Argument(help="Name of the new branch.")],
    source: Annotated[str, typer.Option("--from", help="Branch, tag or commit to start from.")] = "main",
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a branch: a few rows, whatever the size of the graph."""
    graph = _graph(uri, store, actor=actor)
    _echo("branch create", graph, quiet)
    graph.branches.create(name, source)
    if as_json:
        render.print_json({"uri": graph.uri, "from": source, "name": name, "actor_id": actor})
    else:
        render.out.print(f"created branch {name} from {source}", markup=False)


@branch_app.command("list")
def branch_list(uri: UriOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List branches."""
    names = [ref.name for ref in _graph(uri, store).branches.list()]
    if as_json:
        render.print_json({"branches": names})
    else:
        for name in names:
            render.out.print(name, markup=False)


@branch_app.command("delete")
def branch_delete(
    name: Annotated[str, typer.Argument(help="Branch to delete.")],
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    yes: YesOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a branch."""
    graph = _graph(uri, store, actor=actor)
    _confirm(graph, f"branch delete {name}", yes, as_json)
    _echo("branch delete", graph, quiet)
    graph.branches.delete(name)
    if as_json:
        render.print_json({"uri": graph.uri, "name": name, "actor_id": actor})
    else:
        render.out.print(f"deleted branch {name}", markup=False)


@commit_app.command("list")
def commit_list(
    uri: UriArgument = None, branch: BranchOption = "main", store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """List the commits of a branch, newest first."""
    commits = _graph(uri, store).commits.list(branch)
    if as_json:
        render.print_json({"commits": [render.commit_document(commit) for commit in commits]})
        return
    rows = [(c.id, c.number, render.when(c.created_us), c.operation, c.actor or "-", c.branch) for c in commits]
    render.print_table(("commit", "version", "time (UTC)", "operation", "actor", "branch"), rows)


@commit_app.command("show")
def commit_show(
    commit_id: Annotated[str, typer.Argument(help="Commit id.", metavar="ID")],
    uri: UriOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one commit."""
    document = render.commit_document(_graph(uri, store).commits.show(commit_id))
    if as_json:
        render.print_json(document)
        return
    for key, value in document.items():
        render.out.print(f"{key}: {value if value is not None else '-'}", markup=False)


@app.command("cleanup")
def cleanup(
    uri: UriArgument = None,
    keep: Annotated[int | None, typer.Option("--keep", help="Newest commits to keep per branch.")] = None,
    older_than: Annotated[str | None, typer.Option("--older-than", help="Age: 90, 30s, 5m, 12h, 7d, 2w.")] = None,
    grace: Annotated[str | None, typer.Option("--grace", help="How long superseded files stay (15m).")] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Do it; without this a preview is shown.")] = False,
    store: StoreOption = None,
    yes: YesOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Reclaim old versions and garbage. Shows a preview unless confirmed."""
    graph = _graph(uri, store)
    older_s, grace_s = _seconds("--older-than", older_than), _seconds("--grace", grace)
    if confirm:
        _confirm(graph, "cleanup", yes, as_json)
        _echo("cleanup", graph, quiet)
    result = graph.cleanup(keep=keep, older_than_s=older_s, grace_s=grace_s, confirm=confirm)
    document = render.cleanup_document(graph.uri, keep, older_s, result, graph.snapshot().state)
    if not confirm:
        render.err.print("preview: nothing was removed; pass --confirm to do it", markup=False)
    if as_json:
        render.print_json(document)
        return
    rows = [(d["type_key"], d["old_versions_removed"], d["bytes_removed"]) for d in document["datasets"]]
    render.print_table(("dataset", "versions", "bytes"), rows)


def _seconds(flag: str, text: str | None) -> float | None:
    if text is None:
        return None
    match = _DURATION.match(text.strip())
    if match is None:
        raise BadRequest(f"{flag} {text!r} is no duration: use seconds, or a number with s, m, h, d or w")
    return float(match.group(1)) * _SECONDS[match.group(2)]


def _flags_last(arguments: list[str]) -> list[str]:
    """Global flags are accepted anywhere: move those before the command behind it."""
    leading: list[str] = []
    rest = list(arguments)
    while rest and rest[0].split("=", 1)[0] in _LEADING:
        flag = rest.pop(0)
        leading.append(flag)
        if "=" not in flag and _LEADING[flag] and rest:
            leading.append(rest.pop(0))
    return rest + leading


def _fail(error: OmniGraphError, as_json: bool) -> NoReturn:
    if as_json:
        render.print_json({"error": error.message, "code": error.code})
    else:
        render.err.print(f"error: {error.message}", markup=False)
    sys.exit(4 if isinstance(error, PreconditionFailed) else 1)


def main() -> None:
    """Run the command line."""
    arguments = _flags_last(sys.argv[1:])
    if arguments[:1] in (["-v"], ["--version"]):
        arguments = ["version"]
    try:
        app(arguments)
    except OmniGraphError as error:
        _fail(error, "--json" in arguments)
