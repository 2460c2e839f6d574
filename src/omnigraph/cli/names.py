"""`omnigraph branch create|list|delete` and `omnigraph tag`: names for points of history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from omnigraph.cli import render
from omnigraph.cli.options import ActorOption, JsonOption, QuietOption, StoreOption, UriOption, YesOption
from omnigraph.cli.scope import confirm_destruction, echo, open_any, open_scope

if TYPE_CHECKING:
    from omnigraph.manifest import TagRef

branch_app = typer.Typer(help="Create, list, merge, reset and delete branches.", no_args_is_help=True)
tag_app = typer.Typer(help="Name commits: what has a tag stays readable.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(branch_app, name="branch")
    branch_app.command("create")(branch_create)
    branch_app.command("list")(branch_list)
    branch_app.command("delete")(branch_delete)
    app.add_typer(tag_app, name="tag")
    tag_app.command("create")(tag_create)
    tag_app.command("list")(tag_list)
    tag_app.command("delete")(tag_delete)


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


def branch_list(uri: UriOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List branches."""
    names = [ref.name for ref in open_any(uri, store).branches.list()]
    if as_json:
        render.print_json({"branches": names})
    else:
        for name in names:
            render.out.print(name, markup=False)


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


# -- tags ------------------------------------------------------------------------------------------------


def tag_create(
    name: Annotated[str, typer.Argument(help="Name of the new tag.")],
    source: Annotated[str, typer.Option("--from", help="Branch, tag or commit to name.")] = "main",
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Name the head of a branch, or a commit. Cleanup keeps it readable."""
    graph = open_scope(uri, store, actor=actor)
    echo("tag create", graph, quiet)
    tag = graph.tags.create(name, source)
    if as_json:
        render.print_json({"uri": graph.uri, "from": source, **_document(tag)})
    else:
        render.out.print(f"created tag {name} at {tag.point.commit}", markup=False)


def tag_list(uri: UriOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List tags, and the commits they name."""
    tags = open_scope(uri, store).tags.list()
    if as_json:
        render.print_json({"tags": [_document(tag) for tag in tags]})
        return
    rows = [(tag.name, tag.point.commit, render.when(tag.created_us), tag.actor or "-") for tag in tags]
    render.print_table(("tag", "commit", "time (UTC)", "actor"), rows)


def _document(tag: TagRef) -> dict[str, str | int | None]:
    return {
        "name": tag.name,
        "graph_commit_id": tag.point.commit,
        "created_at": tag.created_us,
        "actor_id": tag.actor,
    }


def tag_delete(
    name: Annotated[str, typer.Argument(help="Tag to forget.")],
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    yes: YesOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Forget a tag. The commit stays; the next cleanup may take what it held."""
    graph = open_scope(uri, store, actor=actor)
    confirm_destruction(graph, f"tag delete {name}", yes, as_json)
    echo("tag delete", graph, quiet)
    graph.tags.delete(name)
    if as_json:
        render.print_json({"uri": graph.uri, "name": name, "actor_id": actor})
    else:
        render.out.print(f"deleted tag {name}", markup=False)
