"""Seeded universes, and the proof that they bite: each planted defect must be found."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest import mock

import pytest

from omnigraph.manifest import compose, plan, publish
from omnigraph.manifest.refs import Refs
from omnigraph.model.errors import Contention
from omnigraph.storage import staged

from . import scenario
from .scenario import simulate
from .world import Faults, SimTables, Violation

collecting = importlib.import_module("omnigraph.manifest.collect")
SEEDS, BATCH = 300, 25
SEEDS_TO_BITE = 400


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_universes(first: int) -> None:
    for seed in range(first, first + BATCH):
        try:
            simulate(seed)
        except Exception as error:
            error.add_note(f"seed {seed}; again: make simulate SEEDS=1 FROM={seed}")
            raise


def test_one_seed_is_one_universe() -> None:
    first, second = simulate(7), simulate(7)
    assert first.acknowledged == second.acknowledged
    assert first.world.objects == second.world.objects


# -- planted defects -------------------------------------------------------------------------------------


@contextlib.contextmanager
def no_read_set_check() -> Iterator[None]:
    without = tuple(check for check in plan.CHECKS if check is not plan.check_reads)
    with mock.patch.object(plan, "CHECKS", without):
        yield


@contextlib.contextmanager
def published_before_staged() -> Iterator[None]:
    """Table versions are written only when the commit is out."""
    write_version, publish_plan = SimTables._write_version, scenario.Repository.publish
    waiting: dict[SimTables, list[tuple[str, bytes]]] = {}

    def later(self: SimTables, *what):
        if not what[1]:  # a new table of a new graph
            return write_version(self, *what)
        store, queue = self._store, waiting.setdefault(self, [])
        with mock.patch.object(store, "put", lambda path, data: queue.append((path, data))):
            return write_version(self, *what)

    def then(self, one):
        published = publish_plan(self, one)
        for path, data in waiting.pop(self.parts.tables, []):
            self.parts.store.put(path, data)
        return published

    with mock.patch.object(SimTables, "_write_version", later), mock.patch.object(scenario.Repository, "publish", then):
        yield


@contextlib.contextmanager
def deleted_before_recorded() -> Iterator[None]:
    """The collect record is published when everything is over."""
    record, strip_registry = collecting._record, collecting._strip_registry
    waiting: list[tuple] = []

    def later(repository, mark, kept_from) -> Refs:
        waiting.append((repository, mark, kept_from))
        refs = repository.registry.head()
        return replace(refs, collect=mark, kept_from={**refs.kept_from, **kept_from})

    def then(repository, refs) -> None:
        strip_registry(repository, refs)
        record(*waiting.pop())

    with mock.patch.object(collecting, "_record", later), mock.patch.object(collecting, "_strip_registry", then):
        yield


@contextlib.contextmanager
def timeout_is_failure() -> Iterator[None]:
    def certain(commit: str, cause: str) -> Contention:
        del commit, cause
        return Contention("main", 1)

    with mock.patch.object(publish, "OutcomeUnknown", certain):
        yield


@contextlib.contextmanager
def new_commit_id_per_attempt() -> Iterator[None]:
    """The model is told about each id, so only the damage itself can be found: a write that counts twice.

    It takes an answer lost, a store that stays away, and a plan that fits on top of itself: worlds full of those.
    """
    apply_plan = compose.apply_plan
    universe: list[scenario.Universe] = []

    def watched(self, *what) -> None:
        universe[:] = [self]
        start(self, *what)

    def renamed(state, one, tables, *stacked):
        fresh = f"{one.commit_id}-{state.entry}"
        effects = universe[0].effects
        if one.commit_id in effects:
            effects[fresh] = effects[one.commit_id]
        return apply_plan(state, replace(one, commit_id=fresh), tables, *stacked)

    start = scenario.Universe.__init__
    with (
        mock.patch.object(publish, "apply_plan", renamed),
        mock.patch.object(scenario.Universe, "__init__", watched),
        mock.patch.object(scenario, "KINDS", ("append",)),
        mock.patch.object(Faults, "drawn", return_value=Faults(fail=0.2, outage=0.02, sticky=0.0)),
    ):
        yield


@contextlib.contextmanager
def rebase_without_fragment_check() -> Iterator[None]:
    with mock.patch.object(staged, "check_rebase"):
        yield


@contextlib.contextmanager
def collection_unnoticed_by_writers() -> Iterator[None]:
    without = tuple(check for check in plan.CHECKS if check is not plan.check_collected)
    with mock.patch.object(plan, "CHECKS", without):
        yield


DEFECTS: tuple[Callable[[], contextlib.AbstractContextManager[None]], ...] = (
    no_read_set_check,
    published_before_staged,
    deleted_before_recorded,
    timeout_is_failure,
    new_commit_id_per_attempt,
    rebase_without_fragment_check,
    collection_unnoticed_by_writers,
)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_a_planted_defect_is_found(defect: Callable[[], contextlib.AbstractContextManager[None]], figure) -> None:
    with defect():
        for seed in range(SEEDS_TO_BITE):
            try:
                simulate(seed)
            except Violation as found:
                figure(f"planted defect {defect.__name__}: found by seed {seed}: {found}")
                return
    pytest.fail(f"{SEEDS_TO_BITE} universes did not notice")
