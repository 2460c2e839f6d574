"""`omnigraph schema`: show a schema, plan a change, apply it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnigraph.cli import render
from omnigraph.cli.options import (
    ActorOption,
    BranchOption,
    JsonOption,
    QuietOption,
    StoreOption,
    UriArgument,
    YesOption,
)
from omnigraph.cli.scope import confirm_destruction, echo, open_any
from omnigraph.cli.steps import step_text
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from omnigraph.client.read import RemotePlan
    from omnigraph.schema import MigrationPlan

schema_app = typer.Typer(help="Show a schema, plan a change, apply it.", no_args_is_help=True)

SchemaOption = Annotated[Path, typer.Option("--schema", help="Schema file (.pg).")]
LossOption = Annotated[bool, typer.Option("--allow-data-loss", help="Purge what is dropped instead of hiding it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(schema_app, name="schema")


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
