"""The `omnigraph` command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from omnigraph import __version__
from omnigraph.cli import (
    analyzing,
    blobs,
    embedding,
    exporting,
    feed,
    history,
    languages,
    loading,
    mcp,
    merging,
    mutating,
    names,
    policy,
    reading,
    render,
    schemas,
    serve,
    served,
    upkeep,
)
from omnigraph.cli.help import teach
from omnigraph.cli.options import ActorOption, BranchOption, JsonOption, StoreOption, UriArgument
from omnigraph.cli.scope import address_of, open_any, take_global_flags
from omnigraph.cli.startup import leave_pandas_for_later, only_what_is_asked_for
from omnigraph.model.diagnostics import LanguageError
from omnigraph.model.errors import BadRequest, OmniGraphError, PreconditionFailed, Unauthenticated
from omnigraph.model.files import read_text

app = typer.Typer(
    name="omnigraph",
    help="A versioned graph database on a disk or in an object store.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=(
        "`omnigraph COMMAND --help` shows examples. Anywhere in a line: --server NAME|URL and --graph ID for a graph "
        "on a server, --profile NAME for a place in config.yaml, --debug to see where an unexpected error is from."
    ),
)
commit_app = typer.Typer(help="Look at history.", no_args_is_help=True)
names.register(app)
app.add_typer(commit_app, name="commit")
app.command("lint")(languages.lint)
app.command("fmt")(languages.fmt)
reading.register(app)
loading.register(app)
mutating.register(app)
schemas.register(app)
blobs.register(app)
policy.register(app)
serve.register(app)
mcp.register(app)
served.register(app)
exporting.register(app)
analyzing.register(app)
history.register(app, commit_app)
merging.register(app, names.branch_app)
feed.register(app, commit_app)
upkeep.register(app)
embedding.register(app)

_TOKEN_HINT = ": keep one with 'omnigraph login NAME', NAME as in config.yaml, or set OMNIGRAPH_BEARER_TOKEN"
_LEADING = {"--as": 1, "--store": 1, "--uri": 1, "--quiet": 0, "--yes": 0, "--json": 0}


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
    graph = init_graph(address, read_text(schema), schema_name=str(schema), actor=actor)
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
        hint = _TOKEN_HINT if isinstance(error, Unauthenticated) else ""
        render.err.print(f"error: {text}{hint}", markup=False)
    sys.exit(4 if isinstance(error, PreconditionFailed) else 1)


def _fail_by_defect(error: Exception) -> NoReturn:
    kind = f"{type(error).__name__}: {error}"
    render.err.print(f"error: omnigraph has a defect ({kind}); run it again with --debug to see where", markup=False)
    sys.exit(1)


def main() -> None:
    """Run the command line."""
    leave_pandas_for_later()
    debug = "--debug" in sys.argv[1:]
    arguments = _flags_last([one for one in sys.argv[1:] if one != "--debug"])
    if arguments[:1] in (["-v"], ["--version"]):
        arguments = ["version"]
    try:
        given = take_global_flags(arguments)
        only_what_is_asked_for(app, given)
        app(given)
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
