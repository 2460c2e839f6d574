"""Random histories of branches and merges against the model; the feed told again is the graph."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import omnigraph as og
from omnigraph.history import MergeConflicts
from tests.history.model import Model, State

if TYPE_CHECKING:
    from omnigraph.history import EntityChange

SCHEMA = """
node Person { name: String @key  a: I32?  b: String? }
edge Knows: Person -> Person { a: I32?  b: String? }
"""
NAMES = ("p", "q", "r")
EDGES = ("e", "f")
BRANCHES = ("main", "x", "y", "z")
VALUES = st.sampled_from([None, 1, 2])

writes = st.tuples(
    st.just("put"), st.sampled_from(NAMES + EDGES), VALUES, VALUES, st.tuples(*[st.sampled_from(NAMES)] * 2)
)
deletes = st.tuples(st.just("delete"), st.sampled_from(NAMES + EDGES))
merges = st.tuples(st.just("merge"), st.sampled_from(BRANCHES))
reverts = st.tuples(st.just("revert"))
steps = st.lists(st.tuples(st.sampled_from(BRANCHES), st.one_of(writes, writes, deletes, merges, reverts)), max_size=14)


class History:
    """The graph and the model side by side."""

    def __init__(self, folder: str) -> None:
        self.graph = og.init(f"{folder}/g.omni", SCHEMA)
        self.model = Model()
        self.model.commit("main", {})
        for name in BRANCHES[1:]:
            self.graph.branches.create(name)
            self.model.heads[name] = 0

    def content(self, branch: str) -> State:
        snapshot = self.graph.snapshot(branch)
        found: State = {}
        for key in ("node:Person", "edge:Knows"):
            for row in snapshot.table(key).scan().to_pylist():
                found[key, row["id"]] = {name: value for name, value in row.items() if name not in ("id", "name")}
        return found

    def put(self, branch: str, name: str, a: int | None, b: int | None, ends: tuple[str, str]) -> None:
        state = dict(self.model.state(branch))
        values: dict[str, object] = {"a": a, "b": None if b is None else str(b)}
        if name in NAMES:
            self.graph.load([{"type": "Person", "data": {"name": name, **values}}], mode="merge", branch=branch)
            state["node:Person", name] = values
        elif all(("node:Person", end) in state for end in ends):
            record = {"edge": "Knows", "from": ends[0], "to": ends[1], "data": {"id": name, **values}}
            self.graph.load([record], mode="merge", branch=branch)
            state["edge:Knows", name] = {"src": ends[0], "dst": ends[1], **values}
        else:
            return
        self.model.commit(branch, state, self.model.heads[branch])

    def delete(self, branch: str, name: str) -> None:
        state = dict(self.model.state(branch))
        key = "node:Person" if name in NAMES else "edge:Knows"
        if (key, name) not in state:
            return
        if name in NAMES:
            self.graph.mutate(f'query q() {{ delete Person where name = "{name}" }}', branch=branch)
            gone = {entity for entity, row in state.items() if name in (row.get("src"), row.get("dst"))}
            state = {entity: row for entity, row in state.items() if entity not in gone}
        else:
            self.graph.write(lambda txn: txn.plan("mutate") if txn.change(key, None, [name]) else None, branch=branch)
        state.pop((key, name))
        self.model.commit(branch, state, self.model.heads[branch])

    def merge(self, target: str, source: str) -> None:
        """Merge if the model knows what that means: after a criss-cross it only says that both ways are alike."""
        if source == target:
            return
        heads = self.model.heads
        if len(self.model.bases(heads[target], heads[source])) > 1:
            self.merge_after_criss_cross(target, source)
            return
        outcome, conflicts, state = self.model.merge(source, target)
        found = self.graph.branches.merge(source, into=target, dry_run=True)
        back = self.graph.branches.merge(target, into=source, dry_run=True)
        told = {(f"{one.entity_kind}:{one.type_name}", one.entity_id) for one in found.conflicts}
        assert told == {(f"{one.entity_kind}:{one.type_name}", one.entity_id) for one in back.conflicts}
        assert told == conflicts
        if conflicts:
            with pytest.raises(MergeConflicts) as refused:
                self.graph.branches.merge(source, into=target)
            assert len(refused.value.conflicts) == len(found.conflicts)
            return
        result = self.graph.branches.merge(source, into=target)
        assert result.outcome == found.outcome
        if state != self.model.state(target) or result.outcome == "merged":  # else they may have done and undone
            assert result.outcome == outcome
        assert (result.commit is None) == (result.outcome == "already_up_to_date")
        if result.commit is not None:
            self.model.commit(target, state, heads[target], heads[source])
        assert self.graph.branches.merge(source, into=target).outcome == "already_up_to_date"

    def merge_after_criss_cross(self, target: str, source: str) -> None:
        found = self.graph.branches.merge(source, into=target, dry_run=True)
        back = self.graph.branches.merge(target, into=source, dry_run=True)
        assert {one.key for one in found.conflicts} == {one.key for one in back.conflicts}
        if not found.conflicts:
            self.graph.branches.merge(source, into=target)
            heads = self.model.heads
            self.model.commit(target, self.content(target), heads[target], heads[source])

    def revert(self, branch: str) -> None:
        """Take back the newest commit: that gives what was before it."""
        node = self.model.nodes[self.model.heads[branch]]
        if not node.parents:
            return
        before = self.model.nodes[node.parents[0]].state
        done = self.graph.commits.revert(self.graph.commits.list(branch)[0].id, branch=branch)
        assert (done.commit is None) == (before == node.state)
        if done.commit is not None:
            self.model.commit(branch, before, node.number)


def replay(state: dict[Any, Any], change: EntityChange) -> None:
    """Follow the feed, and insist that it tells of what is there."""
    key = (f"{change.kind}:{change.type_name}", change.id)
    assert (state.get(key) is None) == (change.before is None)
    assert change.before is None or state[key] == change.before
    assert (change.before, change.op) != (change.after, "update")
    if change.after is None:
        state.pop(key)
    else:
        state[key] = change.after


def told_by_feed(graph: og.Graph, branch: str, limit: int) -> State:
    state: dict[Any, Any] = {}
    token, start = None, "beginning"
    while True:
        page = graph.changes.poll(branch=branch, start=None if token else start, page_token=token, limit=limit)
        for block in page.blocks:
            for change in block.changes:
                replay(state, change)
        token = page.next_page_token
        if token is None:
            assert page.caught_up
            break
    found: State = {}
    for key, image in state.items():
        values = {name: value for name, value in image.properties.items() if name not in ("id", "name")}
        ends = dict(zip(("src", "dst"), image.endpoints, strict=True)) if image.endpoints else {}
        found[key] = {**ends, **values}
    return found


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps, st.sampled_from([1, 2, 1000]))
def test_branches_and_merges_are_as_in_the_model(plan: list[Any], limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder)
        for branch, (verb, *arguments) in plan:
            note(f"{branch}: {verb} {arguments}")
            getattr(history, verb)(branch, *arguments)
            assert history.content(branch) == history.model.state(branch)
        for branch in BRANCHES:
            assert history.content(branch) == history.model.state(branch)
            assert told_by_feed(history.graph, branch, limit) == history.model.state(branch)
        for one, other in pairwise(BRANCHES):
            there, back = history.graph.diff(one, other), history.graph.diff(other, one)
            assert [(c.id, c.before, c.after) for c in there] == [(c.id, c.after, c.before) for c in back]
