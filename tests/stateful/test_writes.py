"""Random writes, branches, cleanups and reopenings against a model on plain dicts.

OMNIGRAPH_STATEFUL_EXAMPLES sets how many runs; above the usual number they are random instead of fixed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import omnigraph as og
from omnigraph.model.errors import CommitNotFound, KeyConflict, SnapshotReclaimed
from omnigraph.model.violations import ValidationFailed
from tests.stateful import model
from tests.stateful.history import History
from tests.stateful.schemas import one_in, schemas
from tests.stateful.writes import Text, loads, mutations, seeds

EXAMPLES = int(os.environ.get("OMNIGRAPH_STATEFUL_EXAMPLES", "0"))
STEPS = int(os.environ.get("OMNIGRAPH_STATEFUL_STEPS", "20"))
ACTIONS = (
    *["mutate"] * 9,
    *["load"] * 6,
    "load_bit_by_bit",
    *["create_branch"] * 2,
    "delete_branch",
    "cleanup",
    "reopen",
)
TALLY: Counter[str] = Counter()
"""What was tried, for `run.py` to print."""
BRANCHES = ("main", "work", "side/one", "side/two")


class Writes(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="stateful")
        self.history = History()
        self.turn = 0
        self.graph: og.Graph | None = None

    @initialize(schema=schemas(), data=st.data())
    def init(self, schema, data) -> None:
        self.schema = schema
        self.graph = og.init(f"{self.folder}/g.omni", schema.text)
        empty = {table.table_key: {} for table in schema.tables}
        self.history.start(self.graph.snapshot().commit_id, empty)
        self._load("main", data.draw(seeds(schema)), "append", as_file=False)

    @rule(data=st.data())
    def step(self, data) -> None:
        """One rule for everything: Hypothesis switches rules off at random, and what is left would do little."""
        action = data.draw(st.sampled_from(ACTIONS))
        if action == "create_branch" and len(self.history.branches) == len(BRANCHES):
            action = "delete_branch"
        if action == "delete_branch" and len(self.history.branches) == 1:
            action = "create_branch"
        TALLY[action] += 1
        getattr(self, action)(data)

    # -- writes ------------------------------------------------------------------------------------------

    def mutate(self, data) -> None:
        name, state = self._branch(data)
        statements = data.draw(mutations(self.schema, state))
        text = Text()
        source = text.query(statements)
        expected = model.mutate(self.schema, state, statements)
        self._write("mutate", name, expected, lambda: self.graph.mutate(source, None, text.params, branch=name))

    def load(self, data) -> None:
        name, state = self._branch(data)
        mode = data.draw(st.sampled_from(["append", "merge", "merge", "overwrite"]))
        self._load(name, data.draw(loads(self.schema, state, mode)), mode, as_file=data.draw(one_in(3)))

    def load_bit_by_bit(self, data) -> None:
        """Many small commits: tails grow until they are folded."""
        name, state = self._branch(data)
        for record in data.draw(loads(self.schema, state, "merge")) * 2:
            self._load(name, [record], "merge", as_file=False)

    def _load(self, name: str, records: list[dict], mode: str, *, as_file: bool) -> None:
        expected = model.load(self.schema, self.history.branches[name].state, records, mode)
        source: object = records
        if as_file:
            source = f"{self.folder}/records.jsonl"
            with open(source, "w") as file:
                file.writelines(json.dumps(record) + "\n" for record in records)
        self._write(mode, name, expected, lambda: self.graph.load(source, mode=mode, branch=name))

    def _write(self, what: str, name: str, expected: model.Outcome, write) -> None:
        before = self.graph.snapshot(name).commit_id
        TALLY[f"{what} {type(expected).__name__.lower()}"] += 1
        TALLY.update(f"refused for {kind}" for kind in getattr(expected, "kinds", ()))
        done = _attempt(write)
        if isinstance(expected, model.Done):
            assert not isinstance(done, model.Refused | model.Taken), (expected, done)
            self._done(name, expected, done)
            return
        assert done == expected
        assert self.graph.snapshot(name).commit_id == before

    def _done(self, name: str, expected: model.Done, done) -> None:
        counts = _counts(done)
        assert counts == (expected.nodes, expected.edges)
        assert (done.commit is not None) == expected.commits, expected
        if done.commit is None:
            return
        actual = contents(self.graph, branch=name)
        state = {key: model.adopt(rows, actual[key]) for key, rows in expected.state.items()}
        assert done.commit.id == self.graph.snapshot(name).commit_id
        self.history.commit(name, done.commit.id, state)

    def _branch(self, data) -> tuple[str, model.State]:
        name = data.draw(st.sampled_from(sorted(self.history.branches)))
        return name, self.history.branches[name].state

    # -- history -----------------------------------------------------------------------------------------

    def create_branch(self, data) -> None:
        name = data.draw(st.sampled_from([n for n in BRANCHES if n not in self.history.branches]))
        source = data.draw(st.sampled_from([*sorted(self.history.branches), *sorted(self.history.snapshots)[:3]]))
        self.graph.branches.create(name, source)
        self.history.fork(name, source)

    def delete_branch(self, data) -> None:
        name = data.draw(st.sampled_from(sorted(self.history.branches.keys() - {"main"})))
        self.graph.branches.delete(name)
        for commit in self.history.delete(name):
            with pytest.raises(CommitNotFound):
                self.graph.snapshot(commit=commit)

    def cleanup(self, data) -> None:
        keep, sure = data.draw(st.integers(1, 4)), not data.draw(one_in(4))
        self.graph.cleanup(keep=keep, grace_s=0, confirm=sure)
        if sure:
            self.history.clean(keep)
        self.check_all_snapshots()

    def reopen(self, data) -> None:
        self.graph = og.open(f"{self.folder}/g.omni")

    # -- what has to hold --------------------------------------------------------------------------------

    @invariant()
    def branches_are_as_expected(self) -> None:
        if self.graph is None:
            return
        assert [ref.name for ref in self.graph.branches.list()] == sorted(self.history.branches)
        for name, branch in self.history.branches.items():
            same(contents(self.graph, branch=name), branch.state)
            assert self.graph.snapshot(name).commit_id == branch.lineage[-1]

    @invariant()
    def snapshots_stay(self) -> None:
        """Two at a time, in turn; all of them after a cleanup and at the end."""
        kept = sorted(self.history.snapshots)
        for _ in range(min(2, len(kept))):
            self.turn += 1
            self._check_snapshot(kept[self.turn % len(kept)])

    def _check_snapshot(self, commit: str) -> None:
        same(contents(self.graph, commit=commit), self.history.snapshots[commit])

    def check_all_snapshots(self) -> None:
        for commit in self.history.snapshots:
            self._check_snapshot(commit)
        for commit in self.history.reclaimed:
            with pytest.raises(SnapshotReclaimed):
                contents(self.graph, commit=commit)
        for name, branch in self.history.branches.items():
            assert [commit.id for commit in self.graph.commits.list(name)] == branch.lineage[::-1]

    def teardown(self) -> None:
        try:
            if self.graph is not None:
                self.graph = og.open(f"{self.folder}/g.omni")
                self.check_all_snapshots()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def _attempt(write) -> object:
    """What a write gives, or why it was refused, in the model's words."""
    try:
        return write()
    except ValidationFailed as error:
        return model.Refused(frozenset(map(str, error.counts)))
    except KeyConflict:
        return model.Taken()


def contents(graph: og.Graph, **where) -> model.State:
    snapshot = graph.snapshot(**where)
    found: model.State = {}
    for key in snapshot.state.tables:
        table = snapshot.table(key)
        rows = [_plain(row) for row in table.scan().to_pylist()]
        found[key] = {row["id"]: row for row in rows}
        assert len(found[key]) == len(rows) == table.row_count, key
    return found


def same(actual: model.State, expected: model.State) -> None:
    assert actual.keys() == expected.keys()
    for key, rows in expected.items():
        assert _exact(actual[key]) == _exact(rows), key


def _exact(rows: dict[str, model.Row]) -> dict[str, tuple]:
    return {entity_id: model.exact_row(row) for entity_id, row in sorted(rows.items())}


def _plain(row: model.Row) -> model.Row:
    return {name: v.astimezone(UTC) if isinstance(v, datetime) else v for name, v in row.items()}


def _counts(done) -> tuple[int, int]:
    if hasattr(done, "affected_nodes"):
        return done.affected_nodes, done.affected_edges
    return sum(done.nodes.values()), sum(done.edges.values())


TestWrites = Writes.TestCase
TestWrites.settings = settings(
    max_examples=EXAMPLES or 12,
    stateful_step_count=STEPS,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)
