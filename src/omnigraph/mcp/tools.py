"""The tools: what each takes, says of itself, and does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from omnigraph.client.documents import commit_document, load_document, mutation_document
from omnigraph.execute.result import Result
from omnigraph.mcp.sized import ROWS_MAX, cut, sized_list, sized_result
from omnigraph.model.names import MAIN
from omnigraph.policy import Action

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.mcp.desk import Desk

Document = dict[str, Any]
CONFLICTS_MAX = 50


class Takes(BaseModel):
    """Arguments of a tool: exactly these."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


BranchName = Field(default=MAIN, description="Branch to work on.")


class SchemaTakes(Takes):
    """A schema."""

    branch: str = BranchName


class QueryTakes(Takes):
    """A query that reads."""

    query: str = Field(description="A .gq text: query NAME($p: Type) { match { … } return { … } order { … } limit N }.")
    name: str | None = Field(default=None, description="Which query, if the text has several.")
    params: dict[str, Any] | None = Field(default=None, description="Values of its parameters, by name without $.")
    branch: str | None = Field(default=None, description="Branch to read; main otherwise.")
    snapshot: str | None = Field(default=None, description="Commit id to read instead of a branch.")
    max_rows: int = Field(default=50, ge=1, le=ROWS_MAX, description="How many rows to show.")


class MutateTakes(Takes):
    """A query that writes."""

    query: str = Field(description="A .gq text with insert, update or delete statements.")
    name: str | None = Field(default=None, description="Which query, if the text has several.")
    params: dict[str, Any] | None = Field(default=None, description="Values of its parameters, by name without $.")
    branch: str = BranchName
    if_commit: str | None = Field(default=None, description="Only if this commit is the branch's head.")


class LoadTakes(Takes):
    """Records."""

    records: list[dict[str, Any]] = Field(
        description='Nodes as {"type": T, "data": {…}}, edges as {"edge": E, "from": id, "to": id, "data": {…}}.',
        min_length=1,
    )
    mode: Literal["append", "merge"] = Field(default="merge", description="append refuses ids that are there already.")
    branch: str = BranchName
    from_: str | None = Field(default=None, alias="from", description="Make the branch from here if it is not there.")


class NoArguments(Takes):
    """Nothing."""


class BranchTakes(Takes):
    """A new branch."""

    name: str
    from_: str = Field(default=MAIN, alias="from", description="Branch, tag or commit to start from.")


class NameTakes(Takes):
    """A branch."""

    name: str


class MergeTakes(Takes):
    """A merge."""

    source: str
    target: str = Field(default=MAIN, description="Branch that gets the changes.")
    delete_branch: bool = Field(default=False, description="Delete the source afterwards.")
    resolution: Literal["ours", "theirs"] | list[dict[str, Any]] | None = Field(
        default=None,
        description="Who is right in conflicts: ours is the target, theirs the source. Or for each conflict what "
        'dry_run showed of it, with "take" added.',
    )
    dry_run: bool = Field(default=False, description="Only show conflicts and counts; nothing is written.")


class CommitsTakes(Takes):
    """A history."""

    branch: str = BranchName
    limit: int = Field(default=20, ge=1, le=200)


class ChangesTakes(Takes):
    """What happened."""

    branch: str = BranchName
    cursor: str | None = Field(default=None, description="Where the last call ended.")
    start: str | None = Field(default=None, description="beginning, now, or after:COMMIT; without a cursor.")
    limit: int = Field(default=50, ge=1, le=500)


@dataclass(frozen=True)
class Tool:
    """One tool. `needs` is the permission without which it is not even listed."""

    name: str
    description: str
    takes: type[Takes]
    run: Callable[[Desk, Any], Document]
    needs: Action
    reads_only: bool = True
    destroys: bool = False
    repeats: bool = True
    """Whether doing it twice is doing it once."""


def _schema(desk: Desk, given: SchemaTakes) -> Document:
    return {"schema_source": desk.schema(given.branch)}


def _query(desk: Desk, given: QueryTakes) -> Document:
    found = desk.query(given.query, given.name, given.params, given.branch, given.snapshot)
    return sized_result(found, given.max_rows)


def _mutate(desk: Desk, given: MutateTakes) -> Document:
    return mutation_document(desk.mutate(given.query, given.name, given.params, given.branch, given.if_commit))


def _load(desk: Desk, given: LoadTakes) -> Document:
    return load_document(desk.graph.uri, desk.load(given.records, given.mode, given.branch, given.from_))


def _branch_list(desk: Desk, given: NoArguments) -> Document:
    del given
    desk.gate.require(Action.READ)
    return sized_list([ref.name for ref in desk.graph.branches.list()], 500, "branches")


def _branch_create(desk: Desk, given: BranchTakes) -> Document:
    desk.graph.branches.create(given.name, given.from_)
    return {"name": given.name, "from": given.from_}


def _branch_delete(desk: Desk, given: NameTakes) -> Document:
    desk.graph.branches.delete(given.name)
    return {"name": given.name, "deleted": True}


def _branch_merge(desk: Desk, given: MergeTakes) -> Document:
    if given.dry_run:
        for branch in (given.source, given.target):
            desk.gate.require(Action.READ, branch=branch)
    done = desk.graph.branches.merge(
        given.source,
        given.target,
        resolution=given.resolution,
        dry_run=given.dry_run,
        delete_branch=given.delete_branch,
    )
    if not given.dry_run:
        return done.to_json()
    conflicts = [conflict.describe() for conflict in done.conflicts]
    return {**done.to_json(), "summary": list(done.summary), **sized_list(conflicts, CONFLICTS_MAX, "conflicts")}


def _commit_list(desk: Desk, given: CommitsTakes) -> Document:
    desk.gate.require(Action.READ, branch=given.branch)
    return sized_list([commit_document(one) for one in desk.graph.commits.list(given.branch)], given.limit, "commits")


def _changes(desk: Desk, given: ChangesTakes) -> Document:
    desk.gate.require(Action.READ, branch=given.branch)
    start = given.start if given.start is not None or given.cursor is not None else "beginning"
    page = desk.graph.changes.poll(branch=given.branch, cursor=given.cursor, start=start, limit=given.limit)
    return cut_page(page.to_json())


def cut_page(page: Document) -> Document:
    """A page of the feed without what is too long."""
    return {**page, "blocks": [cut(block) for block in page["blocks"]]}


TOOLS: tuple[Tool, ...] = (
    Tool(
        "get_schema", "Show the schema: node and edge types with their properties.", SchemaTakes, _schema, Action.READ
    ),
    Tool("query", "Run a read query in the .gq language against one snapshot.", QueryTakes, _query, Action.READ),
    Tool(
        "mutate",
        "Run a .gq query that inserts, updates or deletes: one commit, or none if nothing changes.",
        MutateTakes,
        _mutate,
        Action.CHANGE,
        reads_only=False,
        destroys=True,
        repeats=False,
    ),
    Tool(
        "load",
        "Load records as one commit: all of them, or none and a list of what is wrong.",
        LoadTakes,
        _load,
        Action.CHANGE,
        reads_only=False,
        repeats=False,
    ),
    Tool("branch_list", "List the branches.", NoArguments, _branch_list, Action.READ),
    Tool(
        "branch_create",
        "Make a branch to work on without touching others.",
        BranchTakes,
        _branch_create,
        Action.BRANCH_CREATE,
        reads_only=False,
        repeats=False,
    ),
    Tool(
        "branch_delete",
        "Delete a branch and what is only on it.",
        NameTakes,
        _branch_delete,
        Action.BRANCH_DELETE,
        reads_only=False,
        destroys=True,
    ),
    Tool(
        "branch_merge",
        "Merge a branch into another: one commit, or all conflicts and nothing. See dry_run and resolution.",
        MergeTakes,
        _branch_merge,
        Action.BRANCH_MERGE,
        reads_only=False,
    ),
    Tool("commit_list", "List the commits of a branch, newest first.", CommitsTakes, _commit_list, Action.READ),
    Tool("changes", "Show what commits changed since a cursor.", ChangesTakes, _changes, Action.READ),
)


def run_stored(desk: Desk, name: str, arguments: Document) -> Document:
    """Run a stored query as a tool."""
    params = dict(arguments)
    branch = params.pop("@branch", None)
    found = desk.invoke(name, params, branch)
    return sized_result(found, ROWS_MAX) if isinstance(found, Result) else mutation_document(found)
