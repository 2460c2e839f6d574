"""`omnigraph optimize`, `cleanup`, `index` and `repair`: upkeep at the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import render
from omnigraph.cli.options import BranchOption, JsonOption, QuietOption, StoreOption, UriArgument, YesOption
from omnigraph.cli.progress import shown_progress
from omnigraph.cli.scope import confirm_destruction, echo, open_scope
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.search.optimize import OptimizedTable

_DURATION = re.compile(r"^(\d+)([smhdw]?)$")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

index_app = typer.Typer(help="See how far indexes have come.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("optimize")(optimize)
    app.command("cleanup")(cleanup)
    app.command("repair")(repair)
    app.add_typer(index_app, name="index")


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


def optimize(
    uri: UriArgument = None,
    branch: BranchOption = "main",
    engine: Annotated[str, typer.Option("--engine", help="local, or spark for tasks side by side.")] = "auto",
    store: StoreOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compact tables and bring indexes up to date. Nobody waits for it, and no answer changes."""
    graph = open_scope(uri, store)
    echo("optimize", graph, quiet)
    with shown_progress(quiet) as progress:
        done = graph.optimize(branch, engine=engine, progress=progress)
    if as_json:
        render.print_json({"uri": graph.uri, "datasets": [_document(table) for table in done]})
        return
    render.print_table(
        ("table", "fragments removed", "added", "result"),
        [(table.key, table.fragments_removed, table.fragments_added, _result(table)) for table in done],
    )
    for table in done:
        for pending in table.pending:
            render.out.print(f"pending: {table.key}.{pending.column}: {pending.reason}", markup=False)


def _result(table: OptimizedTable) -> str:
    if table.is_lost:
        return "written to meanwhile: run it again"
    return "optimized" if table.is_committed else "nothing to do"


def _document(table: OptimizedTable) -> dict[str, Any]:
    return {
        "type_key": table.key,
        "fragments_removed": table.fragments_removed,
        "fragments_added": table.fragments_added,
        "committed": table.is_committed,
        "skipped": None,
        "published_dataset_version": table.version,
        "lance_head_version": table.version,
        "pending_indexes": [{"property": each.column, "reason": each.reason} for each in table.pending],
    }


@index_app.command("status")
def index_status(
    uri: UriArgument = None, branch: BranchOption = "main", store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Show every index and how many rows it covers."""
    graph = open_scope(uri, store)
    found = graph.indexes.status(branch)
    if as_json:
        documents = [
            {
                "type_key": each.table,
                "property": each.column,
                "kind": each.form.lower(),
                "rows": each.rows,
                "covered_rows": each.covered_rows,
                "segments": each.segments,
                "state": each.state,
                "reason": each.reason,
            }
            for each in found
        ]
        render.print_json({"uri": graph.uri, "branch": branch, "indexes": documents})
        return
    rows = [
        (each.table, each.column, each.form.lower(), f"{each.covered_rows}/{each.rows}", each.reason or each.state)
        for each in found
    ]
    render.print_table(("table", "property", "kind", "rows covered", "state"), rows)


def repair(
    uri: UriArgument = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Publish what was found.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Publish what cannot be verified, too.")] = False,
    store: StoreOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Look for tables that ran ahead of the graph. There are none: a table has no head of its own that could."""
    if force and not confirm:
        raise BadRequest("--force needs --confirm")
    graph = open_scope(uri, store)
    echo("repair", graph, quiet)
    snapshot = graph.snapshot()
    if as_json:
        documents = [
            {
                "type_key": key,
                "published_dataset_version": table.version,
                "lance_head_version": table.version,
                "classification": "no_drift",
                "action": "no_op",
                "operations": [],
                "error": None,
            }
            for key, table in sorted(snapshot.state.tables.items())
        ]
        render.print_json(
            {
                "uri": graph.uri,
                "confirm": confirm,
                "force": force,
                "graph_manifest_version": snapshot.manifest_version,
                "datasets": documents,
            }
        )
        return
    render.print_table(("table", "result"), [(key, "no_drift") for key in sorted(snapshot.state.tables)])
