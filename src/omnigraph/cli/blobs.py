"""`omnigraph blob`: bytes stored in Blob properties."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from omnigraph.cli import render
from omnigraph.cli.options import IdArgument, JsonOption, StoreOption, TypeArgument, UriOption
from omnigraph.cli.scope import open_any
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import gist

blob_app = typer.Typer(help="Read bytes stored in Blob properties.", no_args_is_help=True)

EntityArgument = Annotated[str, typer.Argument(help="node or edge.", metavar="ENTITY")]
PropertyArgument = Annotated[str, typer.Argument(help="Blob property.", metavar="PROPERTY")]
SnapshotOption = Annotated[str | None, typer.Option("--snapshot", help="Commit to look at instead of a branch.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(blob_app, name="blob")


@blob_app.command("get")
def blob_get(
    entity: EntityArgument,
    type_name: TypeArgument,
    entity_id: IdArgument,
    name: PropertyArgument,
    branch: Annotated[str | None, typer.Option("--branch", help="Branch to look at.")] = None,
    snapshot: SnapshotOption = None,
    offset: Annotated[int, typer.Option("--offset", help="First byte.")] = 0,
    length: Annotated[int | None, typer.Option("--length", help="At most so many bytes.")] = None,
    path: Annotated[Path | None, typer.Option("--out", help="File to write to; standard output otherwise.")] = None,
    uri: UriOption = None,
    store: StoreOption = None,
) -> None:
    """Write the bytes of a blob, or a part of them."""
    _one_of(branch, snapshot)
    graph = open_any(uri, store)
    data = graph.blobs.read(
        entity,
        type_name,
        entity_id,
        name,
        offset=offset,
        length=length,
        branch=branch,
        commit=snapshot,
    )
    if path is None:
        sys.stdout.buffer.write(data)
        return
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadRequest(f"cannot write {path}: {gist(error)}") from None


@blob_app.command("stat")
def blob_stat(
    entity: EntityArgument,
    type_name: TypeArgument,
    entity_id: IdArgument,
    name: PropertyArgument,
    branch: Annotated[str | None, typer.Option("--branch", help="Branch to look at.")] = None,
    snapshot: SnapshotOption = None,
    uri: UriOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how large a blob is, or what it refers to."""
    _one_of(branch, snapshot)
    graph = open_any(uri, store)
    found = graph.blobs.stat(entity, type_name, entity_id, name, branch=branch, commit=snapshot)
    selector = {"entity": entity, "type": type_name, "id": entity_id, "property": name}
    target = {"branch": branch, "snapshot": snapshot, "resolved_snapshot": found.snapshot}
    facts = {"kind": found.kind, "size": found.size, "etag": found.etag, "uri": found.uri}
    if as_json:
        known = {key: value for key, value in facts.items() if value is not None}
        render.print_json({"selector": selector, **known, "target": {k: v for k, v in target.items() if v is not None}})
        return
    for key, value in facts.items():
        if value is not None:
            render.out.print(f"{key}: {value}", markup=False)


def _one_of(branch: str | None, snapshot: str | None) -> None:
    if branch is not None and snapshot is not None:
        raise BadRequest("give --branch or --snapshot, not both")
