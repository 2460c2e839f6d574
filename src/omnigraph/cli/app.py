"""The `omnigraph` command."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from omnigraph import __version__
from omnigraph.cli import (
    analyzing,
    embedding,
    exporting,
    feed,
    history,
    languages,
    mcp,
    policy,
    reading,
    render,
    serve,
    served,
    upkeep,
    writing,
)
from omnigraph.cli.help import teach
from omnigraph.cli.scope import (
    ActorOption,
    BranchOption,
    JsonOption,
    QuietOption,
    StoreOption,
    UriArgument,
    UriOption,
    YesOption,
    address_of,
    confirm_destruction,
    echo,
    open_any,
    open_scope,
    take_global_flags,
)
from omnigraph.model.diagnostics import LanguageError
from omnigraph.model.errors import BadRequest, OmniGraphError, PreconditionFailed

app = typer.Typer(
    name="omnigraph",
    help="A versioned graph database on a disk or in an object store.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="`omnigraph COMMAND --help` shows examples. With --debug an unexpected error says where it comes from.",
)
branch_app = typer.Typer(help="Create, list, merge, reset and delete branches.", no_args_is_help=True)
commit_app = typer.Typer(help="Look at history.", no_args_is_help=True)
app.add_typer(branch_app, name="branch")
app.add_typer(commit_app, name="commit")
app.command("lint")(languages.lint)
app.command("fmt")(languages.fmt)
reading.register(app)
writing.register(app)
policy.register(app)
serve.register(app)
mcp.register(app)
served.register(app)
exporting.register(app)
analyzing.register(app)
history.register(app, branch_app)
feed.register(app, commit_app)
upkeep.register(app)
embedding.register(app)

_LEADING = {"--as": 1, "--store": 1, "--uri": 1, "--quiet": 0, "--yes": 0, "--json": 0}
_DURATION = re.compile(r"^(\d+)([smhdw]?)$")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@app.command("version")
def version() -> None:
    """Print the versions of this program and of the storage."""
    render.out.print(f"omnigraph {__version__}\ninternal-schema {render.INTERNAL_SCHEMA_VERSION}")


@app.command("init")
def init(
    uri: UriArgument = None,
    schema: Annotated[Path | None, typer.Option("--schema", help="Schema file (.pg).")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Accepted for compatibility: an interrupted init leaves nothing to replace.")
    ] = False,
    store: StoreOption = None,
    actor: ActorOption = None,
) -> None:
    """Make a new graph from a schema."""
    del force
    from omnigraph.graph import init_graph

    address = address_of(uri, store)
    if schema is None:
        raise BadRequest("give the schema: omnigraph init --schema FILE URI")
    graph = init_graph(address, languages.read_text(schema), schema_name=str(schema), actor=actor)
    render.out.print(f"initialized {graph.uri}", markup=False)


@app.command("snapshot")
def snapshot(
    uri: UriArgument = None, branch: BranchOption = "main", store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Show what a branch holds now."""
    document = render.snapshot_document(open_any(uri, store).snapshot(branch))
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
    graph = open_any(uri, store, actor=actor)
    echo("branch create", graph, quiet)
    graph.branches.create(name, source)
    if as_json:
        render.print_json({"uri": graph.uri, "from": source, "name": name, "actor_id": actor})
    else:
        render.out.print(f"created branch {name} from {source}", markup=False)


@branch_app.command("list")
def branch_list(uri: UriOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List branches."""
    names = [ref.name for ref in open_any(uri, store).branches.list()]
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
    graph = open_any(uri, store, actor=actor)
    confirm_destruction(graph, f"branch delete {name}", yes, as_json)
    echo("branch delete", graph, quiet)
    graph.branches.delete(name)
    if as_json:
        render.print_json({"uri": graph.uri, "name": name, "actor_id": actor})
    else:
        render.out.print(f"deleted branch {name}", markup=False)


@commit_app.command("list")
def commit_list(
    uri: UriArgument = None,
    branch: Annotated[str | None, typer.Option("--branch", help="Branch to look at (main; all with --draw).")] = None,
    drawn: Annotated[bool, typer.Option("--draw", help="Draw how branches were forked and merged.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the commits of a branch, newest first."""
    if drawn:
        scope = open_scope(uri, store)
        if as_json:
            render.print_json(history.drawing_document(scope, branch))
        else:
            history.print_drawing(scope.commits.graph(branch))
        return
    commits = open_any(uri, store).commits.list(branch)
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
    document = render.commit_document(open_any(uri, store).commits.show(commit_id))
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
    graph = open_scope(uri, store)
    older_s, grace_s = _seconds("--older-than", older_than), _seconds("--grace", grace)
    if confirm:
        confirm_destruction(graph, "cleanup", yes, as_json)
        echo("cleanup", graph, quiet)
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
        render.print_json(render.error_document(error))
    else:
        text = error.render() if isinstance(error, LanguageError) else error.message
        render.err.print(f"error: {text}", markup=False)
    sys.exit(4 if isinstance(error, PreconditionFailed) else 1)


def _fail_by_defect(error: Exception) -> NoReturn:
    kind = f"{type(error).__name__}: {error}"
    render.err.print(f"error: omnigraph has a defect ({kind}); run it again with --debug to see where", markup=False)
    sys.exit(1)


def main() -> None:
    """Run the command line."""
    debug = "--debug" in sys.argv[1:]
    arguments = _flags_last([one for one in sys.argv[1:] if one != "--debug"])
    if arguments[:1] in (["-v"], ["--version"]):
        arguments = ["version"]
    try:
        app(take_global_flags(arguments))
    except OmniGraphError as error:
        _fail(error, "--json" in arguments)
    except KeyboardInterrupt:
        render.err.print("interrupted; nothing was written", markup=False)
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        _fail_by_defect(error)


teach(app)
