"""`omnigraph load`, `mutate`, `schema` and `blob`: changing a graph at the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnigraph.cli import render
from omnigraph.cli.progress import shown_progress
from omnigraph.cli.scope import (
    ActorOption,
    BranchOption,
    JsonOption,
    QuietOption,
    StoreOption,
    UriArgument,
    UriOption,
    YesOption,
    confirm_destruction,
    echo,
    open_any,
    open_scope,
)
from omnigraph.cli.steps import step_text
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import gist, read_text

if TYPE_CHECKING:
    from omnigraph.cli.scope import AnyGraph
    from omnigraph.client.read import RemotePlan
    from omnigraph.graph import Graph
    from omnigraph.schema import MigrationPlan
    from omnigraph.write.load import LoadResult

schema_app = typer.Typer(help="Show a schema, plan a change, apply it.", no_args_is_help=True)
blob_app = typer.Typer(help="Read bytes stored in Blob properties.", no_args_is_help=True)

DATA_HELP = "File, folder, pattern or URI, or - for standard input; .gz, .zst, .bz2 too."
DataOption = Annotated[str, typer.Option("--data", help=DATA_HELP)]
FromOption = Annotated[str | None, typer.Option("--from", help="Fork the branch from here if it is not there.")]
SchemaOption = Annotated[Path, typer.Option("--schema", help="Schema file (.pg).")]
LossOption = Annotated[bool, typer.Option("--allow-data-loss", help="Purge what is dropped instead of hiding it.")]
SnapshotOption = Annotated[str | None, typer.Option("--snapshot", help="Commit to look at instead of a branch.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("load")(load)
    app.command("ingest", hidden=True)(ingest)
    app.command("mutate")(mutate)
    app.command("change", hidden=True)(mutate)
    app.add_typer(schema_app, name="schema")
    app.add_typer(blob_app, name="blob")


# -- load ------------------------------------------------------------------------------------------------


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
    if_commit: Annotated[str | None, typer.Option("--if-commit", help="Only if this is the branch's head.")] = None,
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


# -- mutate ----------------------------------------------------------------------------------------------


def mutate(
    name: Annotated[str | None, typer.Argument(help="Query to run, if the text has several.")] = None,
    query: Annotated[Path | None, typer.Option("--query", help="Query file (.gq).")] = None,
    text: Annotated[str | None, typer.Option("-e", "--query-string", help="Query text.")] = None,
    params: Annotated[str | None, typer.Option("--params", help="Parameters as a JSON object.")] = None,
    params_file: Annotated[Path | None, typer.Option("--params-file", help="File with the parameters.")] = None,
    branch: BranchOption = "main",
    if_commit: Annotated[str | None, typer.Option("--if-commit", help="Only if this is the branch's head.")] = None,
    uri: UriOption = None,
    store: StoreOption = None,
    actor: ActorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a query that writes: one commit, or none if nothing changes."""
    if (query is None) == (text is None):
        raise BadRequest("give the query once: --query FILE or -e TEXT")
    source: str | Path = query if query is not None else str(text) + "\n"
    given = read_params(params, params_file)
    graph = open_any(uri, store, actor=actor)
    result = graph.mutate(source, name, given, branch=branch, if_commit=if_commit)
    if as_json:
        render.print_json(render.mutation_document(result))
        return
    render.out.print(f"{result.query_name}: {render.affected(result)}", markup=False)
    commit = f"commit {result.commit.id}" if result.commit is not None else "nothing changed"
    render.out.print(commit, markup=False)


def read_params(text: str | None, path: Path | None) -> dict[str, Any] | None:
    """The parameters of a query."""
    if text is not None and path is not None:
        raise BadRequest("give the parameters once: --params JSON or --params-file FILE")
    if path is not None:
        text = read_text(path)
    if text is None:
        return None
    try:
        params = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"the parameters are no JSON: {error}") from None
    if not isinstance(params, dict):
        raise BadRequest('the parameters are a JSON object: {"name": value}')
    return params


# -- schema ----------------------------------------------------------------------------------------------


@schema_app.command("show")
@schema_app.command("get", hidden=True)
def schema_show(
    uri: UriArgument = None, branch: BranchOption = "main", store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Print the schema of a branch."""
    source = open_any(uri, store).schema.at(branch).source
    if as_json:
        render.print_json({"schema_source": source})
    else:
        render.out.print(source.rstrip("\n"), markup=False)


@schema_app.command("plan")
def schema_plan(
    schema: SchemaOption,
    uri: UriArgument = None,
    branch: BranchOption = "main",
    allow_data_loss: LossOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what it takes to bring a branch to a schema. Changes nothing."""
    graph = open_any(uri, store)
    plan = graph.schema.plan(read_text(schema), name=str(schema), branch=branch, allow_data_loss=allow_data_loss)
    if as_json:
        render.print_json({"uri": graph.uri, "step_count": len(plan.steps), **plan.to_json()})
        return
    _print_plan(plan)


@schema_app.command("apply")
def schema_apply(
    schema: SchemaOption,
    uri: UriArgument = None,
    branch: BranchOption = "main",
    allow_data_loss: LossOption = False,
    store: StoreOption = None,
    actor: ActorOption = None,
    yes: YesOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a branch to a schema, as one commit."""
    graph = open_any(uri, store, actor=actor)
    if allow_data_loss:
        confirm_destruction(graph, "schema apply --allow-data-loss", yes, as_json)
    echo("schema apply", graph, quiet)
    done = graph.schema.apply(read_text(schema), name=str(schema), branch=branch, allow_data_loss=allow_data_loss)
    if as_json:
        plan = done.plan.to_json()
        facts = {"uri": graph.uri, "applied": done.applied, "step_count": len(done.plan.steps)}
        render.print_json({**facts, "graph_manifest_version": done.manifest_version, **plan})
        return
    _print_plan(done.plan)
    render.out.print(f"commit {done.commit.id}" if done.commit is not None else "nothing to do", markup=False)


def _print_plan(plan: MigrationPlan | RemotePlan) -> None:
    for warning in plan.warnings:
        render.err.print(f"warning: {warning}", markup=False)
    if not plan.steps:
        render.out.print("the schema is the same: no steps", markup=False)
    for number, step in enumerate(plan.steps, 1):
        render.out.print(f"{number}. {step_text(step.to_json())}", markup=False)


# -- blob ------------------------------------------------------------------------------------------------

EntityArgument = Annotated[str, typer.Argument(help="node or edge.", metavar="ENTITY")]
TypeArgument = Annotated[str, typer.Argument(help="Node or edge type.", metavar="TYPE")]
IdArgument = Annotated[str, typer.Argument(help="Id of the node or edge.", metavar="ID")]
PropertyArgument = Annotated[str, typer.Argument(help="Blob property.", metavar="PROPERTY")]


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
