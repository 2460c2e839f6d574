"""`omnigraph embed`: vectors for records in files, or for what a graph holds already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnigraph.cli import render
from omnigraph.cli.options import ActorOption, JsonOption, QuietOption, StoreOption
from omnigraph.cli.progress import shown_progress
from omnigraph.cli.scope import echo, open_scope
from omnigraph.client.documents import commit_document
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.embed.files import Mode
    from omnigraph.embed.spec import Files
    from omnigraph.graph import Graph


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("embed")(embed)


def embed(
    uri: Annotated[str | None, typer.Argument(help="Graph whose vectors to make; else files.", metavar="URI")] = None,
    seed: Annotated[Path | None, typer.Option("--seed", help="Manifest (YAML) that names the files.")] = None,
    source: Annotated[Path | None, typer.Option("--input", help="Records to read (JSONL).")] = None,
    output: Annotated[Path | None, typer.Option("--output", help="File to write.")] = None,
    spec: Annotated[Path | None, typer.Option("--spec", help="Which vectors, from which fields (JSON).")] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Take vectors away instead.")] = False,
    reembed_all: Annotated[bool, typer.Option("--reembed-all", help="Also where there are vectors already.")] = False,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only records of this type.")] = None,
    select: Annotated[list[str] | None, typer.Option("--select", help="Only these: [Type:]field=value.")] = None,
    branch: Annotated[str, typer.Option("--branch", help="Branch of the graph.")] = "main",
    engine: Annotated[
        str, typer.Option("--engine", help="For a graph: local, or spark for tasks side by side.")
    ] = "auto",
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make the vectors of records before they are loaded, or those that a graph lacks (@embed), as one commit.

    The provider is the one the environment names.
    """
    if uri is not None or store is not None:
        if any((seed, source, output, spec, clean, select)):
            raise BadRequest("give a graph or files, not both: a graph takes --type, --reembed-all and --branch")
        _embed_graph(
            open_scope(uri, store, actor=actor), tuple(types or ()), reembed_all, branch, engine, quiet, as_json
        )
        return
    files = _files(seed, source, output, spec)
    if clean and reembed_all:
        raise BadRequest("--clean and --reembed-all exclude each other")
    _embed_files(files, _mode(clean, reembed_all, bool(select)), tuple(types or ()), tuple(select or ()), as_json)


def _embed_files(files: Files, mode: Mode, types: tuple[str, ...], select: tuple[str, ...], as_json: bool) -> None:
    from omnigraph.embed import embedder_from_environment
    from omnigraph.embed.files import Choice, Mode, embed_files, parse_select
    from omnigraph.embed.spec import read_spec

    choice = Choice(types, tuple(map(parse_select, select)))
    chosen = read_spec(files.spec)
    embedder = embedder_from_environment()
    counts = embed_files(files, chosen, mode, choice, None if mode is Mode.CLEAN else embedder)
    if as_json:
        render.print_json(
            {
                "input": str(files.source),
                "output": str(files.output),
                "records": counts.records,
                "selected_records": counts.selected,
                "embedded_records": counts.embedded,
                "cleaned_records": counts.cleaned,
                "mode": mode.value,
                "dimension": chosen.dimension,
                "model": embedder.model,
            }
        )
        return
    done = f"{counts.cleaned} cleaned" if mode is Mode.CLEAN else f"{counts.embedded} embedded with {embedder.model}"
    render.out.print(f"{counts.records} records, {counts.selected} selected, {done} → {files.output}", markup=False)


def _embed_graph(
    graph: Graph, types: tuple[str, ...], afresh: bool, branch: str, engine: str, quiet: bool, as_json: bool
) -> None:
    echo("embed", graph, quiet)
    with shown_progress(quiet) as progress:
        commit = graph.embed(types, afresh=afresh, branch=branch, engine=engine, progress=progress)
    if as_json:
        document = None if commit is None else commit_document(commit)
        render.print_json({"uri": graph.uri, "branch": branch, "commit": document})
    else:
        render.out.print(f"commit {commit.id}" if commit is not None else "no vector is missing", markup=False)


def _files(seed: Path | None, source: Path | None, output: Path | None, spec: Path | None) -> Files:
    from omnigraph.embed.spec import Files, read_manifest

    if seed is not None:
        if source is not None or output is not None or spec is not None:
            raise BadRequest("give --seed, or --input, --output and --spec: not both")
        return read_manifest(seed)
    if source is None or output is None or spec is None:
        raise BadRequest("give --seed, or all of --input, --output and --spec")
    return Files(source, output, spec)


def _mode(clean: bool, reembed_all: bool, selected: bool) -> Mode:
    from omnigraph.embed.files import Mode

    if clean:
        return Mode.CLEAN
    if reembed_all:
        return Mode.REEMBED_ALL
    return Mode.REEMBED_SELECTED if selected else Mode.FILL_MISSING
