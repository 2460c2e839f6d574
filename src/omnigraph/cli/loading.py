"""`omnigraph load`: data from files and streams, as one commit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import render
from omnigraph.cli.options import (
    ActorOption,
    BranchOption,
    IfCommitOption,
    JsonOption,
    QuietOption,
    StoreOption,
    UriArgument,
    YesOption,
)
from omnigraph.cli.progress import shown_progress
from omnigraph.cli.scope import confirm_destruction, echo, open_any, open_scope
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.cli.scope import AnyGraph
    from omnigraph.graph import Graph
    from omnigraph.write.load import LoadResult

DATA_HELP = "File, folder, pattern or URI, or - for standard input; .gz, .zst, .bz2 too."
DataOption = Annotated[str, typer.Option("--data", help=DATA_HELP)]
FromOption = Annotated[str | None, typer.Option("--from", help="Fork the branch from here if it is not there.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("load")(load)
    app.command("ingest", hidden=True)(ingest)


def load(
    uri: UriArgument = None,
    data: Annotated[str | None, typer.Option("--data", help=DATA_HELP)] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="append, merge or overwrite.")] = None,
    branch: BranchOption = "main",
    base: FromOption = None,
    type_name: Annotated[str | None, typer.Option("--type", help="Type of the rows of a CSV or Parquet file.")] = None,
    mapping: Annotated[list[str] | None, typer.Option("--map", help="COLUMN=PROPERTY, as often as needed.")] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="jsonl, csv or parquet, if the name does not say.")
    ] = None,
    permissive: Annotated[
        bool, typer.Option("--permissive", help="Ignore unknown fields, allow values to span lines.")
    ] = False,
    embed: Annotated[bool, typer.Option("--embed", help="Ask the provider for @embed vectors left out.")] = False,
    if_commit: IfCommitOption = None,
    engine: Annotated[str, typer.Option("--engine", help="local, spark, or auto: Spark for large inputs.")] = "auto",
    master: Annotated[str | None, typer.Option("--master", help="Where Spark runs: local[4], sc://host…")] = None,
    spark_conf: Annotated[list[str] | None, typer.Option("--spark-conf", help="KEY=VALUE for Spark.")] = None,
    on_error: Annotated[str, typer.Option("--on-error", help="fail, or skip to leave out wrong rows.")] = "fail",
    rejects: Annotated[Path | None, typer.Option("--rejects", help="File for the rows that were left out.")] = None,
    resume: Annotated[str | None, typer.Option("--resume", help="Publish a staged load.", metavar="ID")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="With --resume: drop it instead.")] = False,
    store: StoreOption = None,
    actor: ActorOption = None,
    yes: YesOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Load data as one commit: all of it, or nothing and a list of what is wrong."""
    if resume is not None:
        _resume(open_scope(uri, store, actor=actor), resume, drop, quiet, as_json)
        return
    if data is None or mode is None:
        missing = "--data" if data is None else "--mode"
        raise BadRequest(f"{missing} is missing: omnigraph load --data FILE --mode MODE URI")
    graph = open_any(uri, store, actor=actor)
    if mode == "overwrite":
        confirm_destruction(graph, "load --mode overwrite", yes, as_json)
    echo("load", graph, quiet)
    with shown_progress(quiet) as progress:
        result = graph.load(
            data,
            mode=mode,
            branch=branch,
            base=base,
            type=type_name,
            mapping=dict(_pair(one) for one in mapping or ()),
            format=form,
            permissive=permissive,
            embed=embed,
            if_commit=if_commit,
            progress=progress,
            **_lane(engine, master, spark_conf, on_error, rejects),
        )
    _print_load(graph, result, as_json)


def _lane(
    engine: str, master: str | None, spark_conf: list[str] | None, on_error: str, rejects: Path | None
) -> dict[str, Any]:
    """What was said about how to load; nothing about the rest, because a served graph decides that by itself."""
    said: dict[str, Any] = {}
    if master is not None or spark_conf:
        from omnigraph.pipeline.config import spark_config

        said["spark"] = spark_config(master, spark_conf or ())
    if engine != "auto" or said:
        said["engine"] = "spark" if engine == "auto" else engine
    if on_error != "fail" or rejects is not None:
        said |= {"on_error": on_error, "rejects": rejects}
    return said


def _resume(graph: Graph, load_id: str, drop: bool, quiet: bool, as_json: bool) -> None:
    with shown_progress(quiet) as progress:
        result = graph.resume_load(load_id, drop=drop, progress=progress)
    if result is not None:
        _print_load(graph, result, as_json)
    elif as_json:
        render.print_json({"uri": graph.uri, "dropped": load_id})
    else:
        render.out.print(f"dropped the staged load {load_id}", markup=False)


def ingest(
    data: DataOption,
    mode: Annotated[str, typer.Option("--mode", help="append, merge or overwrite.")] = "merge",
    uri: UriArgument = None,
    branch: BranchOption = "main",
    base: FromOption = "main",
    store: StoreOption = None,
    actor: ActorOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Load with the permissive parser. Deprecated: use load --permissive."""
    graph = open_any(uri, store, actor=actor)
    echo("ingest", graph, quiet)
    with shown_progress(quiet) as progress:
        result = graph.load(data, mode=mode, branch=branch, base=base, permissive=True, progress=progress)
    _print_load(graph, result, as_json)


def _pair(text: str) -> tuple[str, str]:
    column, separator, name = text.rpartition("=")
    if not separator or not column or not name:
        raise BadRequest(f"--map {text!r}: write COLUMN=PROPERTY")
    return column, name


def _print_load(graph: AnyGraph, result: LoadResult, as_json: bool) -> None:
    if as_json:
        render.print_json(render.load_document(graph.uri, result))
        return
    made = f" (branch made from {result.base_branch})" if result.branch_created else ""
    counts = [*result.nodes.items(), *result.edges.items()]
    what = ", ".join(f"{count:,} {name}" for name, count in counts) or "nothing"
    if result.rejected.rows:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.rejected.counts.items())
        render.err.print(f"left out {len(result.rejected.rows):,} rows ({kinds})", markup=False)
    render.out.print(f"loaded {what} into {result.branch}{made}", markup=False)
    if result.commit is not None:
        render.out.print(f"commit {result.commit.id}", markup=False)
