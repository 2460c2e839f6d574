"""`omnigraph diff`, `log`, `blame` and `commit list|show`: what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from omnigraph.cli import render
from omnigraph.cli.differences import print_changes, print_summary
from omnigraph.cli.options import (
    BranchOption,
    IdArgument,
    JsonOption,
    KindOption,
    OpOption,
    StoreOption,
    TypeArgument,
    TypeOption,
    UriArgument,
    UriOption,
)
from omnigraph.cli.scope import open_any, open_scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.graph import Graph
    from omnigraph.history.drawing import DrawnRow
    from omnigraph.history.entity import EntityEvent

EntityKindOption = Annotated[str | None, typer.Option("--kind", help="node or edge, where a type name is both.")]


def register(app: typer.Typer, commit_app: typer.Typer) -> None:
    """Add the commands."""
    app.command("diff")(diff)
    app.command("log")(log)
    app.command("blame")(blame)
    commit_app.command("list")(commit_list)
    commit_app.command("show")(commit_show)


def diff(
    old: Annotated[str, typer.Argument(help="Branch, tag or commit to compare from.", metavar="FROM")],
    new: Annotated[str, typer.Argument(help="Branch, tag or commit to compare with.", metavar="TO")] = "main",
    uri: UriOption = None,
    stat: Annotated[bool, typer.Option("--stat", help="Only how many, by type.")] = False,
    kind: KindOption = None,
    type_name: TypeOption = None,
    op: OpOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what changed between two branches, tags or commits."""
    found = open_scope(uri, store).diff(old, new, kinds=kind or (), types=type_name or (), ops=op or ())
    if as_json:
        render.print_json(found.to_json())
        return
    if found.changes_schema:
        render.out.print("the schema changed", markup=False)
    if stat:
        print_summary(found.summary())
    elif not print_changes(found) and not found.changes_schema:
        render.out.print("no differences", markup=False)


# -- entities --------------------------------------------------------------------------------------------


def log(
    type_name: TypeArgument,
    entity_id: IdArgument,
    uri: UriOption = None,
    branch: BranchOption = "main",
    kind: EntityKindOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Newest events only.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what happened to one node or edge, newest first."""
    events = open_scope(uri, store).log(type_name, entity_id, kind=kind, branch=branch, limit=limit)
    if as_json:
        render.print_json({"events": [event.to_json() for event in events]})
        return
    for event in events:
        _print_event(event)
    if not events:
        render.out.print(f"no commit of {branch} has {type_name} {entity_id}", markup=False)


def _print_event(event: EntityEvent) -> None:
    from omnigraph.cli.differences import change_lines

    render.out.print(f"[bold]{event.commit.id}[/] {escape(render.byline(event.commit))}")
    for line in change_lines(event.change):
        render.out.print(line)


def blame(
    type_name: TypeArgument,
    entity_id: IdArgument,
    uri: UriOption = None,
    branch: BranchOption = "main",
    kind: EntityKindOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which commit gave each property of a node or edge its value."""
    found = open_scope(uri, store).blame(type_name, entity_id, kind=kind, branch=branch)
    if as_json:
        render.print_json({"properties": [one.to_json() for one in found]})
        return
    rows: list[tuple[Any, ...]] = []
    for one in found:
        commit = one.commit
        said = (
            (commit.id, render.when(commit.created_us), commit.actor or "-") if commit is not None else ("-", "-", "-")
        )
        rows.append((one.property, "null" if one.value is None else one.value, *said))
    render.print_table(("property", "value", "commit", "time (UTC)", "actor"), rows)


# -- commits --------------------------------------------------------------------------------------------


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
            render.print_json(drawing_document(scope, branch))
        else:
            print_drawing(scope.commits.graph(branch))
        return
    commits = open_any(uri, store).commits.list(branch)
    if as_json:
        render.print_json({"commits": [render.commit_document(commit) for commit in commits]})
        return
    rows = [(c.id, c.number, render.when(c.created_us), c.operation, c.actor or "-", c.branch) for c in commits]
    render.print_table(("commit", "version", "time (UTC)", "operation", "actor", "branch"), rows)


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


# -- the drawing -----------------------------------------------------------------------------------------


def print_drawing(rows: Iterable[DrawnRow]) -> None:
    """Commits with the lines of their branches beside them."""
    for row in rows:
        if row.commit is None:
            render.out.print(row.lines, markup=False)
            continue
        names = f" [green]({escape(', '.join(row.heads))})[/]" if row.heads else ""
        render.out.print(f"{escape(row.lines)} [yellow]{row.commit.id}[/]{names} {escape(render.byline(row.commit))}")


def drawing_document(graph: Graph, branch: str | None) -> dict[str, Any]:
    """The drawing for machines: the commits in its order."""
    commits = [row.commit for row in graph.commits.graph(branch) if row.commit is not None]
    return {"commits": [render.commit_document(commit) for commit in commits]}
