"""`omnigraph policy`: check a bundle, test it, ask it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnigraph.cli import render
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from omnigraph.policy import Policy

policy_app = typer.Typer(help="Check a policy bundle, test it, ask it.", no_args_is_help=True)

FileOption = Annotated[Path, typer.Option("--policy", help="Policy bundle (YAML).")]
GraphOption = Annotated[str, typer.Option("--graph", help="Id of the graph it is bound to.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(policy_app, name="policy")


def read_policy(path: Path, graph: str = "graph") -> Policy:
    """Read and compile a bundle."""
    from omnigraph.policy import Policy, PolicyKind, parse_bundle

    bundle = parse_bundle(read_text(path), str(path))
    return Policy(bundle, "root" if bundle.kind is PolicyKind.SERVER else graph)


@policy_app.command("validate")
def policy_validate(policy: FileOption, graph: GraphOption = "graph") -> None:
    """Check that a bundle is well-formed and compiles."""
    bundle = read_policy(policy, graph).bundle
    actors = {actor for members in bundle.groups.values() for actor in members}
    counts = {"rule": len(bundle.rules), "group": len(bundle.groups), "actor": len(actors)}
    parts = ", ".join(render.counted(count, one) for one, count in counts.items())
    render.out.print(f"ok: {bundle.kind} policy with {parts}", markup=False)


@policy_app.command("test")
def policy_test(
    policy: FileOption,
    tests: Annotated[Path, typer.Option("--tests", help="Expectations (YAML).")],
    graph: GraphOption = "graph",
) -> None:
    """Ask a bundle what its tests ask, and compare."""
    from omnigraph.policy import parse_cases, run_cases

    results = run_cases(read_policy(policy, graph), parse_cases(read_text(tests), str(tests)))
    failed = [result for result in results if not result.holds]
    for result in failed:
        case, found = result.case, "allow" if result.decision.allowed else "deny"
        text = f"FAIL {case.id}: expected {case.expect}, got {found} ({result.decision.message})"
        render.out.print(text, markup=False)
    render.out.print(f"{len(results) - len(failed)} of {len(results)} as expected", markup=False)
    if failed:
        raise typer.Exit(1)


@policy_app.command("explain")
def policy_explain(
    policy: FileOption,
    actor: Annotated[str, typer.Option("--actor", help="Who asks.")],
    action: Annotated[str, typer.Option("--action", help="What for.")],
    branch: Annotated[str | None, typer.Option("--branch", help="Branch it is about.")] = None,
    target: Annotated[str | None, typer.Option("--target-branch", help="Branch it leads to.")] = None,
    type_name: Annotated[str | None, typer.Option("--type", help="Node type, or edge:NAME.")] = None,
    query: Annotated[str | None, typer.Option("--query", help="Stored query it happens in.")] = None,
    graph: GraphOption = "graph",
) -> None:
    """Say what a bundle decides, and which rule says so."""
    from omnigraph.policy import Action, Ask
    from omnigraph.policy.cases import exact_type

    if action not in list(Action):
        raise BadRequest(f"{action!r} is no action: {', '.join(Action)}")
    ask = Ask(actor, Action(action), branch, target, exact_type(type_name), query)
    decision = read_policy(policy, graph).decide(ask)
    lines = {
        "decision": "allow" if decision.allowed else "deny",
        "actor": actor,
        "action": action,
        "branch": branch,
        "target_branch": target,
        "matched_rule": decision.matched_rule,
        "message": decision.message,
    }
    for name, value in lines.items():
        render.out.print(f"{name}: {value if value is not None else '-'}", markup=False)
