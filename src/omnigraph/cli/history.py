"""`omnigraph diff`, `branch merge`, `revert` and their like: what happened, and how to put branches together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from omnigraph.cli import render
from omnigraph.cli.differences import print_changes, print_conflicts, print_summary
from omnigraph.cli.scope import (
    ActorOption,
    BranchOption,
    CommitArgument,
    JsonOption,
    KindOption,
    OpOption,
    QuietOption,
    StoreOption,
    TypeOption,
    UriArgument,
    UriOption,
    echo,
    open_any,
    open_scope,
)
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.graph import Graph
    from omnigraph.history import MergeResult, Resolution
    from omnigraph.history.drawing import DrawnRow
    from omnigraph.history.entity import EntityEvent
    from omnigraph.manifest import Commit

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would happen, with all conflicts.")]
OursOption = Annotated[bool, typer.Option("--ours", help="In every conflict the branch that is written to is right.")]
TheirsOption = Annotated[bool, typer.Option("--theirs", help="In every conflict the other side is right.")]
ResolveOption = Annotated[
    Path | None, typer.Option("--resolve", help="File with a choice for each conflict: a dry run's JSON with 'take'.")
]
IfCommitOption = Annotated[str | None, typer.Option("--if-commit", help="Only if this is the branch's head.")]
TypeArgument = Annotated[str, typer.Argument(help="Node or edge type.", metavar="TYPE")]
IdArgument = Annotated[str, typer.Argument(help="Id of the node or edge.", metavar="ID")]
EntityKindOption = Annotated[str | None, typer.Option("--kind", help="node or edge, where a type name is both.")]


def register(app: typer.Typer, branch_app: typer.Typer, commit_app: typer.Typer) -> None:
    """Add the commands."""
    app.command("diff")(diff)
    app.command("log")(log)
    app.command("blame")(blame)
    app.command("revert")(revert)
    app.command("cherry-pick")(cherry_pick)
    branch_app.command("merge")(branch_merge)
    branch_app.command("reset")(branch_reset)
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


# -- merging ---------------------------------------------------------------------------------------------


def branch_merge(
    source: Annotated[str, typer.Argument(help="Branch to merge; a tag or commit will do.")],
    into: Annotated[str, typer.Option("--into", help="Branch that gets the changes.")] = "main",
    delete_branch: Annotated[bool, typer.Option("--delete-branch", help="Delete the source afterwards.")] = False,
    dry_run: DryRunOption = False,
    ours: OursOption = False,
    theirs: TheirsOption = False,
    resolve: ResolveOption = None,
    if_commit: IfCommitOption = None,
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Merge a branch into another: property by property, as one commit, or all conflicts and nothing."""
    graph = open_any(uri, store, actor=actor)
    resolution = _resolution(ours, theirs, resolve)
    if not dry_run:
        echo("branch merge", graph, quiet)
    result = graph.branches.merge(
        source, into, resolution=resolution, dry_run=dry_run, delete_branch=delete_branch, if_commit=if_commit
    )
    _print_merge(result, as_json)
    if result.branch_deleted is False:
        render.err.print(f"warning: branch {source} was not deleted: {result.branch_delete_error}", markup=False)


def branch_reset(
    name: Annotated[str, typer.Argument(help="Branch to set back.")],
    to: Annotated[str, typer.Option("--to", help="Commit, tag or branch whose content it gets.")],
    if_commit: IfCommitOption = None,
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give a branch the content it had at a commit, as a new commit: nothing of its history is lost."""
    graph = open_scope(uri, store, actor=actor)
    echo("branch reset", graph, quiet)
    commit = graph.branches.reset(name, to, if_commit=if_commit)
    if as_json:
        found = render.commit_document(commit) if commit is not None else None
        render.print_json({"branch": name, "to": to, "commit": found})
    elif commit is None:
        render.out.print(f"{name} has the content of {to} already", markup=False)
    else:
        render.out.print(f"{name} has the content of {to} again, as commit {commit.id}", markup=False)


def revert(
    commit: CommitArgument,
    branch: BranchOption = "main",
    dry_run: DryRunOption = False,
    ours: OursOption = False,
    theirs: TheirsOption = False,
    resolve: ResolveOption = None,
    if_commit: IfCommitOption = None,
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take back what a commit did, as a new commit. What later commits changed since is a conflict."""
    graph = open_scope(uri, store, actor=actor)
    if not dry_run:
        echo("revert", graph, quiet)
    resolution = _resolution(ours, theirs, resolve)
    result = graph.commits.revert(commit, branch=branch, resolution=resolution, dry_run=dry_run, if_commit=if_commit)
    _print_applied("revert", result, as_json)


def cherry_pick(
    commit: CommitArgument,
    branch: BranchOption = "main",
    dry_run: DryRunOption = False,
    ours: OursOption = False,
    theirs: TheirsOption = False,
    resolve: ResolveOption = None,
    if_commit: IfCommitOption = None,
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Do on a branch what a commit did on another, as a new commit."""
    graph = open_scope(uri, store, actor=actor)
    if not dry_run:
        echo("cherry-pick", graph, quiet)
    resolution = _resolution(ours, theirs, resolve)
    commits = graph.commits
    result = commits.cherry_pick(commit, branch=branch, resolution=resolution, dry_run=dry_run, if_commit=if_commit)
    _print_applied("cherry-pick", result, as_json)


def _resolution(ours: bool, theirs: bool, file: Path | None) -> Resolution | None:
    from omnigraph.history import read_resolution, resolution_of

    if ours + theirs + (file is not None) > 1:
        raise BadRequest("give one of --ours, --theirs and --resolve")
    if file is not None:
        return read_resolution(read_text(file), str(file))
    return resolution_of("ours" if ours else "theirs") if ours or theirs else None


def _print_merge(result: MergeResult, as_json: bool) -> None:
    if as_json:
        render.print_json(result.describe() if result.dry_run else result.to_json())
        return
    verb = "would be " if result.dry_run else ""
    text = {
        "already_up_to_date": f"{result.target} has everything of {result.source} already",
        "fast_forward": f"{result.source} {verb}merged into {result.target} (fast-forward)",
        "merged": f"{result.source} {verb}merged into {result.target}",
    }[result.outcome]
    render.out.print(text, markup=False)
    _print_details(result)


def _print_applied(verb: str, result: MergeResult, as_json: bool) -> None:
    if as_json:
        found = render.commit_document(result.commit) if result.commit is not None else None
        render.print_json(
            {"branch": result.target, **({} if not result.dry_run else result.describe()), "commit": found}
        )
        return
    if result.dry_run:
        render.out.print(f"{verb} of {result.source} on {result.target}: nothing was written", markup=False)
    elif result.commit is None:
        render.out.print(f"nothing to {verb}: {result.target} has it that way already", markup=False)
    else:
        render.out.print(f"{verb} of {result.source} is commit {result.commit.id} of {result.target}", markup=False)
    _print_details(result)


def _print_details(result: MergeResult) -> None:
    print_summary(result.summary)
    print_conflicts(result.conflicts)


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

    render.out.print(f"[bold]{event.commit.id}[/] {escape(_byline(event.commit))}")
    for line in change_lines(event.change):
        render.out.print(line)


def _byline(commit: Commit) -> str:
    who = f" by {commit.actor}" if commit.actor is not None else ""
    return f"{render.when(commit.created_us)} {commit.operation} on {commit.branch}{who}"


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
        render.out.print(f"{escape(row.lines)} [yellow]{row.commit.id}[/]{names} {escape(_byline(row.commit))}")


def drawing_document(graph: Graph, branch: str | None) -> dict[str, Any]:
    """The drawing for machines: the commits in its order."""
    commits = [row.commit for row in graph.commits.graph(branch) if row.commit is not None]
    return {"commits": [render.commit_document(commit) for commit in commits]}
