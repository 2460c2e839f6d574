"""The flags and arguments that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

# -- where, and how it is said ---------------------------------------------------------------------------

UriArgument = Annotated[str | None, typer.Argument(help="Address of the graph.", metavar="URI")]
UriOption = Annotated[str | None, typer.Option("--uri", help="Address of the graph.")]
StoreOption = Annotated[str | None, typer.Option("--store", help="Address of the graph, as a flag.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ActorOption = Annotated[str | None, typer.Option("--as", help="Actor recorded with the write.", metavar="ACTOR")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Say less.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before a destructive act.")]

# -- what it is about ------------------------------------------------------------------------------------

BranchOption = Annotated[str, typer.Option("--branch", help="Branch to look at.")]
KindOption = Annotated[list[str] | None, typer.Option("--kind", help="node or edge; may be repeated.")]
TypeOption = Annotated[list[str] | None, typer.Option("--type", help="Name of a type; may be repeated.")]
OpOption = Annotated[list[str] | None, typer.Option("--op", help="insert, update or delete; may be repeated.")]
CommitArgument = Annotated[str, typer.Argument(help="Commit id.", metavar="COMMIT")]
TypeArgument = Annotated[str, typer.Argument(help="Node or edge type.", metavar="TYPE")]
IdArgument = Annotated[str, typer.Argument(help="Id of the node or edge.", metavar="ID")]
IfCommitOption = Annotated[str | None, typer.Option("--if-commit", help="Only if this is the branch's head.")]
