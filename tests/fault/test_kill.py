"""`kill -9` after every single store operation: the graph is in the old or the new state, and goes on."""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnigraph.manifest import Repository, Retention, collect
from omnigraph.model import errors
from tests.support.graphs import PERSON, append, make, reopen, upsert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
NOW = Retention(keep=1, grace_s=0.0)
NEVER = -1
AT_ONCE = 2
SPARE = 2

Rows = dict[str, int]


class Victims:
    """Processes started ahead of need, so that nobody waits for their imports."""

    def __init__(self) -> None:
        self._ready: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        for _ in range(SPARE):
            self._ready.put(self._start())

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.fault.victim"]
        return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, act: str, uri: Path, after: int) -> int | None:
        """Let one do an act. How many operations it took; None if it was killed on the way."""
        victim = self._ready.get()
        self._ready.put(self._start())
        out, _ = victim.communicate(json.dumps({"act": act, "uri": str(uri), "after": after}) + "\n", timeout=60)
        if victim.returncode == 0:
            return json.loads(out)["seen"]
        assert victim.returncode == -signal.SIGKILL, f"{act} failed by itself, at operation {after}"
        return None

    def close(self) -> None:
        while not self._ready.empty():
            spare = self._ready.get()
            spare.kill()
            spare.communicate()


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
def victims() -> Iterator[Victims]:
    pool = Victims()
    yield pool
    pool.close()


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


class Trial:
    """One act, killed after each of its operations on a copy of the same graph."""

    def __init__(self, act: str, original: Path, folder: Path, victims: Victims) -> None:
        self.act, self.original, self.folder, self.victims = act, original, folder, victims
        self.old = look(original)

    def everywhere(self, check: Callable[[Path, Seen, bool], None]) -> int:
        """Kill everywhere and check each time; returns at how many places."""
        whole = self._copy("whole")
        total = self.victims.run(self.act, whole, NEVER)
        assert total is not None
        check(whole, look(whole), True)

        def one(after: int) -> bool:
            uri = self._copy(str(after))
            finished = self.victims.run(self.act, uri, after) is not None
            try:
                check(uri, look(uri), finished)
                self._goes_on(uri)
            except Exception as error:
                error.add_note(f"{self.act}, killed after operation {after} of {total}; graph left in {uri}")
                raise
            shutil.rmtree(uri)
            return finished

        with ThreadPoolExecutor(AT_ONCE) as pool:
            ends = list(pool.map(one, range(1, total + 1)))
        after = total + 1
        while not ends[-1]:  # operations side by side may take one more or less than they did the first time
            ends.append(one(after))
            after += 1
        return ends.count(False)

    def _copy(self, name: str) -> Path:
        uri = self.folder / f"{name}.omni"
        shutil.copytree(self.original, uri)
        return uri

    def _goes_on(self, uri: Path) -> None:
        """The next write works, cleanup works, and afterwards everything is there and nothing else."""
        repo = reopen(uri)
        for name in [ref.name for ref in repo.branches()]:
            append(repo, "next", branch=name, v=7)
        before = look(uri)
        assert all(rows["next"] == 7 for rows in before.rows.values())
        time.sleep(0.01)  # cleanup takes what is older than its own first object, and clocks of disks tick slowly
        collect(reopen(uri), NOW, dry_run=False)
        assert look(uri) == before
        fresh = reopen(uri)
        refs = fresh.registry.head()
        assert {ref.status for ref in refs.branches.values()} <= {"live", "removed"}, "cleanup finishes a deletion"
        assert collect(fresh, NOW).files == {}, "cleanup left something"
        append(fresh, "last")
        assert look(uri).rows["main"] == before.rows["main"] | {"last": 0}


@pytest.fixture
def trial(request: pytest.FixtureRequest, original: Path, tmp_path: Path, victims: Victims) -> Trial:
    return Trial(request.param, original, tmp_path, victims)


@pytest.mark.parametrize(
    ("trial", "written"),
    [("append", {"new1": 9, "new2": 9}), ("upsert", {"k0": 9, "k3": 9, "new1": 9})],
    indirect=["trial"],
)
def test_a_killed_write_happened_or_did_not(trial: Trial, written: Rows) -> None:
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

    assert trial.everywhere(check) >= 7
    assert outcomes == {True, False}


@pytest.mark.parametrize("trial", ["create_branch"], indirect=True)
def test_a_killed_branch_creation_made_it_whole_or_not_at_all(trial: Trial) -> None:
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
def test_a_killed_branch_deletion_can_be_finished(trial: Trial, by: str) -> None:
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
def test_a_killed_cleanup_takes_nothing_that_is_needed(trial: Trial) -> None:
    def check(uri: Path, seen: Seen, finished: bool) -> None:
        assert seen == trial.old

    assert trial.everywhere(check) > 20
