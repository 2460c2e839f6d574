"""`kill -9` after every single store operation: the graph is in the old or the new state, and goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from omnigraph.manifest import Repository
from omnigraph.model import errors
from tests.fault.kill import Trial
from tests.support.graphs import PERSON, append, clean, make, reopen, upsert

if TYPE_CHECKING:
    from pathlib import Path


Rows = dict[str, int]


@dataclass(frozen=True)
class Seen:
    """Everything a reader can see of a graph."""

    rows: dict[str, Rows]
    commits: dict[str, list[str]]
    tags: dict[str, Rows]


def rows_of(repo: Repository, name: str) -> Rows:
    scan = repo.snapshot(name).table(PERSON).scan()
    ids = scan.column("id").to_pylist()
    assert len(set(ids)) == len(ids), "a row is there twice"
    return dict(zip(ids, scan.column("v").to_pylist(), strict=True))


def rows_at_tag(repo: Repository, name: str) -> Rows:
    state = repo.resolve(name, repo.registry.head())
    scan = repo.parts.tables.open(state.table(PERSON).ref).scan()
    return dict(zip(scan.column("id").to_pylist(), scan.column("v").to_pylist(), strict=True))


def look(uri: Path) -> Seen:
    """What a process that opens the graph now sees; a branch that is being deleted is none."""
    repo = reopen(uri)
    names = [ref.name for ref in repo.branches()]
    return Seen(
        {name: rows_of(repo, name) for name in names},
        {name: [commit.id for commit in repo.commits(name)] for name in names},
        {tag.name: rows_at_tag(repo, tag.name) for tag in repo.tags()},
    )


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven fragments on main, so that the next write folds; a branch, one to be deleted, a tag, some garbage."""
    uri = tmp_path_factory.mktemp("kill") / "original.omni"
    repo = make(uri)
    for number in range(5):
        append(repo, f"k{number}", v=number)
    repo.create_tag("early", "main")
    upsert(repo, "k0", v=100)
    append(repo, "k5", v=5)
    append(repo, "k6", v=6)
    repo.create_branch("work")
    append(repo, "w0", branch="work", v=1)
    repo.create_branch("doomed", "work")
    append(repo, "d0", branch="doomed", v=1)
    return uri


def goes_on(uri: Path) -> None:
    """The next write works, cleanup works, and afterwards everything is there and nothing else."""
    repo = reopen(uri)
    for name in [ref.name for ref in repo.branches()]:
        append(repo, "next", branch=name, v=7)
    before = look(uri)
    assert all(rows["next"] == 7 for rows in before.rows.values())
    clean(reopen(uri), dry_run=False)
    assert look(uri) == before
    fresh = reopen(uri)
    refs = fresh.registry.head()
    assert {ref.status for ref in refs.branches.values()} <= {"live", "removed"}, "cleanup finishes a deletion"
    assert clean(fresh).files == {}, "cleanup left something"
    append(fresh, "last")
    assert look(uri).rows["main"] == before.rows["main"] | {"last": 0}


@pytest.fixture
def trial(request: pytest.FixtureRequest, original: Path, tmp_path: Path) -> Trial[Seen]:
    return Trial(request.param, original, tmp_path, look, goes_on)


@pytest.mark.parametrize(
    ("trial", "written"),
    [("append", {"new1": 9, "new2": 9}), ("upsert", {"k0": 9, "k3": 9, "new1": 9})],
    indirect=["trial"],
)
def test_a_killed_write_happened_or_did_not(trial: Trial[Seen], written: Rows) -> None:
    outcomes: set[bool] = set()

    def check(uri: Path, seen: Seen, finished: bool) -> None:
        happened = seen.rows["main"] != trial.old.rows["main"]
        assert seen.rows == trial.old.rows | ({"main": trial.old.rows["main"] | written} if happened else {}), (
            "half a write"
        )
        lineage = seen.commits["main"]
        assert lineage[1 if happened else 0 :] == trial.old.commits["main"]
        assert seen.tags == trial.old.tags
        assert happened or not finished
        outcomes.add(happened)

    assert trial.everywhere(check) >= 6
    assert outcomes == {True, False}


@pytest.mark.parametrize("trial", ["create_branch"], indirect=True)
def test_a_killed_branch_creation_made_it_whole_or_not_at_all(trial: Trial[Seen]) -> None:
    def check(uri: Path, seen: Seen, finished: bool) -> None:
        happened = "fresh" in seen.rows
        old = trial.old
        assert seen.rows == old.rows | ({"fresh": old.rows["work"]} if happened else {})
        assert seen.commits == old.commits | ({"fresh": old.commits["work"]} if happened else {})
        assert happened or not finished
        if not happened:
            repo = reopen(uri)
            repo.create_branch("fresh", "work")
            assert rows_of(repo, "fresh") == old.rows["work"]

    assert trial.everywhere(check) >= 3


@pytest.mark.parametrize("by", ["delete_branch", "cleanup"])
@pytest.mark.parametrize("trial", ["delete_branch"], indirect=True)
def test_a_killed_branch_deletion_can_be_finished(trial: Trial[Seen], by: str) -> None:
    def check(uri: Path, seen: Seen, finished: bool) -> None:
        rest = {name: rows for name, rows in trial.old.rows.items() if name != "doomed"}
        assert seen.rows in (trial.old.rows, rest)
        repo = reopen(uri)
        found = repo.registry.head().live("doomed")  # there, or half deleted
        assert not (found and finished)
        if by == "cleanup":
            return  # what goes on anyway finishes a deletion that began
        if found:
            repo.delete_branch("doomed")
        with pytest.raises(errors.BranchNotFound):
            rows_of(reopen(uri), "doomed")
        assert look(uri).rows == rest
        repo.create_branch("doomed")
        assert rows_of(repo, "doomed") == rest["main"]

    assert trial.everywhere(check) >= 3


@pytest.mark.parametrize("trial", ["cleanup"], indirect=True)
def test_a_killed_cleanup_takes_nothing_that_is_needed(trial: Trial[Seen]) -> None:
    def check(uri: Path, seen: Seen, finished: bool) -> None:
        assert seen == trial.old

    assert trial.everywhere(check) > 20
