"""`omnigraph branch merge|reset`, `revert` and `cherry-pick`: what happened, put together anew or taken back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnigraph.cli import render
from omnigraph.cli.differences import print_conflicts, print_summary
from omnigraph.cli.options import (
    ActorOption,
    BranchOption,
    CommitArgument,
    IfCommitOption,
    JsonOption,
    QuietOption,
    StoreOption,
    UriOption,
)
from omnigraph.cli.scope import echo, open_any, open_scope
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from omnigraph.history import MergeResult, Resolution

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would happen, with all conflicts.")]
OursOption = Annotated[bool, typer.Option("--ours", help="In every conflict the branch that is written to is right.")]
TheirsOption = Annotated[bool, typer.Option("--theirs", help="In every conflict the other side is right.")]
ResolveOption = Annotated[
    Path | None, typer.Option("--resolve", help="File with a choice for each conflict: a dry run's JSON with 'take'.")
]


def register(app: typer.Typer, branch_app: typer.Typer) -> None:
    """Add the commands."""
    app.command("revert")(revert)
    app.command("cherry-pick")(cherry_pick)
    branch_app.command("merge")(branch_merge)
    branch_app.command("reset")(branch_reset)


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
