"""`kill -9` after every store operation of mutations, loads and schema changes: all of it happened, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import omnigraph as og
from tests.fault.kill import Trial
from tests.fault.victim import RECORDS
from tests.support.disk import wait_for_tick
from tests.support.social import ids, orphans, rows, social

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

NEXT = """
query next() {
  insert Knows { from: "next", to: "bob" }
  update Person set { age: 1 } where name = "next"
}
"""
Content = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Seen:
    """Everything a reader can see of a graph, branch by branch. Ids of edges are left out: every run makes others."""

    content: dict[str, Content]
    commits: dict[str, list[str]]
    schema: dict[str, str]


def content_of(graph: og.Graph, branch: str) -> Content:
    assert orphans(graph, branch=branch) == []
    content: Content = {}
    for key in graph.snapshot(branch).state.tables:
        found = rows(graph, key, branch=branch)
        assert len({row["id"] for row in found}) == len(found), "a row is there twice"
        if key.startswith("edge:"):
            found = sorted(({**row, "id": None} for row in found), key=str)
        content[key] = found
    return content


def look(uri: Path) -> Seen:
    """What a process that opens the graph now sees."""
    graph = og.open(uri)
    names = [ref.name for ref in graph.branches.list()]
    return Seen(
        {name: content_of(graph, name) for name in names},
        {name: [commit.id for commit in graph.commits.list(name)] for name in names},
        {name: graph.schema.at(name).source for name in names},
    )


def goes_on(uri: Path) -> None:
    """The next mutation and load work on every branch, cleanup works, and leaves what is needed and nothing else."""
    graph = og.open(uri)
    for ref in graph.branches.list():
        graph.load([{"type": "Person", "data": {"name": "next"}}], mode="append", branch=ref.name)
        graph.mutate(NEXT, branch=ref.name)
    before = look(uri)
    wait_for_tick(uri.parent)  # cleanup takes what is older than its own first object
    og.open(uri).cleanup(keep=1, grace_s=0.0, confirm=True)
    assert look(uri) == before
    fresh = og.open(uri)
    assert fresh.cleanup(keep=1, grace_s=0.0).files == {}, "cleanup left something"
    fresh.mutate('query q() { delete Person where name = "bob" }')
    assert orphans(fresh) == []
    assert "bob" not in ids(fresh, "node:Person")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some garbage and some history on main, and a branch beside it."""
    uri = tmp_path_factory.mktemp("kill") / "original.omni"
    graph = social(uri)
    graph.load([{"type": "Note", "data": {"id": "n", "text": "n"}}], mode="append")
    graph.load([{"edge": "Likes", "from": "ada", "to": "n"}], mode="append")
    graph.mutate('query q() { update Person set { mood: "sad" } where name = "ada" }')
    graph.branches.create("theirs")
    graph.load([{"type": "Person", "data": {"name": "dan", "age": 3}}], mode="append", branch="theirs")
    graph.load([{"edge": "Knows", "from": "dan", "to": "ada"}], mode="append", branch="theirs")
    graph.mutate('query q() { delete Person where name = "cyd" }', branch="theirs")
    graph.mutate('query q() { update Person set { mood: "happy" } where name = "bob" }')
    graph.mutate('query q() { update Person set { age: 21 } where name = "bob" }')
    graph.branches.create("beside")
    return uri


@pytest.fixture
def trial(request: pytest.FixtureRequest, original: Path, tmp_path: Path) -> Trial[Seen]:
    return Trial(request.param, original, tmp_path, look, goes_on)


@pytest.mark.parametrize("trial", ["mutate", "schema_apply", "merge", "revert"], indirect=True)
def test_a_killed_write_of_many_tables_happened_or_did_not(trial: Trial[Seen], figure) -> None:
    old, new = trial.old, None
    outcomes: list[bool] = []

    def check(uri: Path, seen: Seen, finished: bool) -> None:
        nonlocal new
        new = new or seen  # the first one is not killed
        happened = seen.commits["main"] != old.commits["main"]
        expected = new if happened else old
        assert seen.content == expected.content, "half a write"
        assert seen.schema == expected.schema, "half a schema"
        assert seen.commits["main"][happened:] == old.commits["main"]
        assert happened or not finished
        outcomes.append(happened)

    places = trial.everywhere(check)
    assert new is not None
    assert new.content["main"] != old.content["main"]
    assert new.content["beside"] == old.content["beside"]
    assert places >= 9
    assert set(outcomes) == {True, False}
    figure(f"{trial.act} killed at {places} places: {outcomes.count(False)} times old, else new")


@pytest.mark.parametrize("trial", ["load_branch"], indirect=True)
def test_a_killed_load_to_a_new_branch_made_none_or_an_old_or_a_new_one(trial: Trial[Seen], figure) -> None:
    old = trial.old
    done: dict[str, Content] = {}
    outcomes: set[str] = set()

    def check(uri: Path, seen: Seen, finished: bool) -> None:
        found = seen.content.get("fresh")
        if not done:
            assert found is not None
            done["fresh"] = found
        assert {name: content for name, content in seen.content.items() if name != "fresh"} == old.content
        assert found in (None, old.content["main"], done["fresh"]), "half a write"
        outcome = "none" if found is None else "old" if found == old.content["main"] else "new"
        assert outcome == "new" or not finished
        outcomes.add(outcome)
        if outcome != "new":  # whoever does not know says it again
            again = og.open(uri).load(RECORDS, mode="merge", branch="fresh", base="main")
            assert again.branch_created == (outcome == "none")
            assert look(uri).content["fresh"] == done["fresh"]

    places = trial.everywhere(check)
    assert done["fresh"] != old.content["main"]
    assert places >= 12
    assert outcomes == {"none", "old", "new"}
    figure(f"load to a new branch killed at {places} places: no branch, the old content or the new, nothing between")
