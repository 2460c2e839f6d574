"""`omnigraph commit changes` and `omnigraph changes`: what commits did, for programs that follow a graph."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from omnigraph.cli import render
from omnigraph.cli.differences import print_changes
from omnigraph.cli.options import (
    BranchOption,
    CommitArgument,
    JsonOption,
    KindOption,
    OpOption,
    StoreOption,
    TypeOption,
    UriOption,
)
from omnigraph.cli.scope import open_any
from omnigraph.model.errors import BadRequest, StoreUnavailable

if TYPE_CHECKING:
    from omnigraph.client.read import RemoteBaseline
    from omnigraph.history.baseline import Baseline
    from omnigraph.history.feed import ChangeBlock

changes_app = typer.Typer(help="Follow what happens on a branch.", no_args_is_help=True)

LimitOption = Annotated[int | None, typer.Option("--limit", help="Changes of one page (1000, at most 8192).")]
PageOption = Annotated[str | None, typer.Option("--page-token", help="Print just the page this token stands for.")]
CursorOption = Annotated[str | None, typer.Option("--cursor", help="Where the last poll ended.")]
StartOption = Annotated[str | None, typer.Option("--start", help="now, beginning or after:COMMIT.")]


def register(app: typer.Typer, commit_app: typer.Typer) -> None:
    """Add the commands."""
    commit_app.command("changes")(commit_changes)
    app.add_typer(changes_app, name="changes")


def commit_changes(
    commit_id: CommitArgument,
    uri: UriOption = None,
    limit: LimitOption = None,
    page_token: PageOption = None,
    kind: KindOption = None,
    type_name: TypeOption = None,
    op: OpOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a commit changed. All pages are printed unless one is asked for."""
    commits = open_any(uri, store).commits
    token, blocks = page_token, list["ChangeBlock"]()
    following = None
    while True:
        page = commits.changes(
            commit_id, limit=limit, page_token=token, kinds=kind or (), types=type_name or (), ops=op or ()
        )
        blocks.append(page)
        token = following = page.next_page_token
        if token is None or page_token is not None:
            break
    if as_json:
        document = blocks[0].to_json() | {"changes": [one.to_json() for block in blocks for one in block.changes]}
        document.pop("next_page_token", None)
        render.print_json(document if following is None else {**document, "next_page_token": following})
        return
    _print_block(_joined(blocks)[0])
    if following is not None:
        render.out.print(f"next page: {following}", markup=False)


def _print_block(block: ChangeBlock) -> None:
    commit = block.cause.commit
    render.out.print(f"[yellow]{commit.id}[/] {escape(render.byline(commit))}")
    print_changes(block.changes)


@changes_app.command("poll")
def poll(
    uri: UriOption = None,
    branch: BranchOption = "main",
    cursor: CursorOption = None,
    start: StartOption = None,
    limit: LimitOption = None,
    kind: KindOption = None,
    type_name: TypeOption = None,
    op: OpOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what happened since a cursor, and the cursor to go on from, which comes last."""
    changes = open_any(uri, store).changes
    blocks: list[ChangeBlock] = []
    token: str | None = None
    while True:
        page = changes.poll(
            branch=branch,
            cursor=cursor if token is None else None,
            start=start if token is None else None,
            page_token=token,
            limit=limit,
            kinds=kind or (),
            types=type_name or (),
            ops=op or (),
        )
        blocks += page.blocks
        token = page.next_page_token
        if token is None:
            break
    if as_json:
        document = page.to_json()
        render.print_json({**document, "blocks": [block.to_json() for block in _joined(blocks)]})
        return
    for block in _joined(blocks):
        _print_block(block)
    render.out.print(f"caught up: {'yes' if page.caught_up else 'no'}", markup=False)
    render.out.print(f"cursor: {page.cursor}", markup=False)


def _joined(blocks: list[ChangeBlock]) -> list[ChangeBlock]:
    """Stretches of one commit, which came on several pages, as one block."""
    from omnigraph.history.feed import ChangeBlock

    found: list[ChangeBlock] = []
    for block in blocks:
        if found and found[-1].cause == block.cause:
            found[-1] = ChangeBlock(block.cause, (*found[-1].changes, *block.changes))
        else:
            found.append(ChangeBlock(block.cause, block.changes))
    return found


@changes_app.command("baseline")
def baseline(
    out: Annotated[Path, typer.Option("--out", help="File to write; replaced as a whole or not at all.")],
    uri: UriOption = None,
    branch: BranchOption = "main",
    kind: KindOption = None,
    type_name: TypeOption = None,
    op: OpOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write everything a branch holds now to a file, and print the cursor that goes on from there."""
    if sys.platform == "win32":
        raise BadRequest("changes baseline needs a system with POSIX file locks")
    graph = open_any(uri, store)
    taken = graph.changes.baseline(branch=branch, kinds=kind or (), types=type_name or (), ops=op or ())
    try:
        _write_whole(out, taken)
    except OSError as error:
        raise StoreUnavailable(f"{out} cannot be written: {error.strerror or error}") from error
    if as_json:
        render.print_json(taken.handshake()["baseline"])
        return
    render.out.print(f"snapshot: {taken.snapshot_commit_id}", markup=False)
    render.out.print(f"cursor: {taken.resume_cursor}", markup=False)


def _write_whole(out: Path, taken: Baseline | RemoteBaseline) -> None:
    """Into a file beside it, on the disk for good, then under its name. One process at a time."""
    import fcntl

    lock = out.with_name(f"{out.name}.lock")
    draft = out.with_name(f".{out.name}.{os.getpid()}.draft")
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadRequest(f"another process is writing {out}; wait for it") from None
        try:
            with draft.open("wb") as file:
                for chunk in taken.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(out)
        finally:
            draft.unlink(missing_ok=True)
        folder = os.open(out.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
