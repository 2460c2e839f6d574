"""Plans of one group, whose versions are staged side by side: each commit has its rows and those before it only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest

from omnigraph.manifest import PublishPlan, Repository, WriteTxn
from omnigraph.manifest.compose import Applied, apply_plan
from omnigraph.manifest.stacking import stack
from omnigraph.manifest.state import State
from omnigraph.model import errors
from omnigraph.storage.meter import Meter
from tests.support.graphs import PERSON, append, make, rows

CITY = "node:City"


@pytest.fixture
def repository(tmp_path) -> Repository:
    made = make(tmp_path / "g.omni", auto_fold=False)
    append(made, "a", "b")
    return made


def planned(repository: Repository, stage: Callable[[WriteTxn], object]) -> PublishPlan:
    txn = repository.begin()
    stage(txn)
    return txn.plan("mutate")


def appending(repository: Repository, name: str, key: str = PERSON) -> PublishPlan:
    return planned(repository, lambda txn: txn.append(key, rows(name)))


def upserting(repository: Repository, name: str, v: int = 0) -> PublishPlan:
    return planned(repository, lambda txn: txn.change(PERSON, rows(name, v=v)))


def composed(
    repository: Repository, state: State, plans: Sequence[PublishPlan]
) -> list[Applied | errors.OmniGraphError]:
    """What the publisher does with a group."""
    tables = repository.parts.tables
    stacked, building = stack(state, plans, tables), state.next("commit", "entry")
    found: list[Applied | errors.OmniGraphError] = []
    for plan in plans:
        try:
            one = apply_plan(building, plan, tables, stacked)
        except errors.OmniGraphError as error:
            found.append(error)
            continue
        building = one.state
        found.append(one)
    return found


def content(repository: Repository, applied: Applied | errors.OmniGraphError, key: str = PERSON) -> list[str]:
    assert isinstance(applied, Applied), applied
    table = repository.parts.tables.open(applied.state.tables[key].ref)
    assert table.row_count == applied.state.tables[key].row_count
    return sorted(table.scan(["id"]).column("id").to_pylist())


@pytest.mark.parametrize("plan_of", [appending, upserting])
@pytest.mark.parametrize("is_moved", [False, True])
def test_each_commit_has_what_came_before_it(repository: Repository, plan_of, is_moved: bool) -> None:
    plans = [plan_of(repository, f"n{number}") for number in range(5)]
    if is_moved:
        append(repository, "meanwhile")
    before = ["a", "b", *(["meanwhile"] if is_moved else [])]
    found = composed(repository, repository.head_state("main"), plans)
    for number, one in enumerate(found):
        assert content(repository, one) == [*before, *(f"n{other}" for other in range(number + 1))]
    last = found[-1]
    assert isinstance(last, Applied)
    table = repository.parts.tables.open(last.state.tables[PERSON].ref)
    assert len({fragment.id for fragment in table.fragments()}) == len(table.fragments())


def test_a_group_waits_for_one_version_not_for_the_sum(repository: Repository) -> None:
    state = repository.head_state("main")
    hops: list[int] = []
    for count in (2, 9):
        plans = [appending(repository, f"n{count}-{number}") for number in range(count)]
        with Meter() as meter:
            composed(repository, state, plans)
        hops.append(meter.hops)
        assert meter.puts == 2 * count, "a transaction and a version each, and rows are there already"
    assert hops == [2, 2]


def test_tables_are_staged_side_by_side_too(repository: Repository) -> None:
    plans = [appending(repository, f"n{number}", key) for number in range(3) for key in (PERSON, CITY)]
    state = repository.head_state("main")
    composed(repository, state, plans)
    with Meter() as meter:
        found = composed(repository, state, plans)
    assert meter.hops == 2
    assert content(repository, found[-1]) == ["a", "b", "n0", "n1", "n2"]
    assert content(repository, found[-1], CITY) == ["n0", "n1", "n2"]


def test_who_is_refused_leaves_nothing_in_later_commits(repository: Repository) -> None:
    """The second depends on what the first does; what was staged ahead with its rows is not used."""

    def careful(txn: WriteTxn) -> None:
        txn.depends_on(PERSON, "added")
        txn.append(PERSON, rows("careful"))

    plans = [
        appending(repository, "n0"),
        planned(repository, careful),
        appending(repository, "n2"),
        appending(repository, "n3"),
    ]
    first, second, third, fourth = composed(repository, repository.head_state("main"), plans)
    assert content(repository, first) == ["a", "b", "n0"]
    assert isinstance(second, errors.ReadSetConflict)
    assert content(repository, third) == ["a", "b", "n0", "n2"]
    assert content(repository, fourth) == ["a", "b", "n0", "n2", "n3"]


def test_what_cannot_be_staged_ahead_is_staged_in_its_turn(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that does not fit the table any more must fail by itself, not with everybody who waits beside it."""

    def fail(*_: object) -> None:
        raise errors.StoreUnavailable("the store is away")

    monkeypatch.setattr(type(repository.parts.tables), "stage_stack", fail)
    found = composed(repository, repository.head_state("main"), [appending(repository, f"n{n}") for n in range(3)])
    assert content(repository, found[-1]) == ["a", "b", "n0", "n1", "n2"]


def test_a_key_is_inserted_once(repository: Repository) -> None:
    plans = [upserting(repository, "same", v=number) for number in range(3)] + [upserting(repository, "other")]
    first, second, third, fourth = composed(repository, repository.head_state("main"), plans)
    assert content(repository, first) == ["a", "b", "same"]
    assert isinstance(second, errors.OmniGraphError)
    assert isinstance(third, errors.OmniGraphError)
    assert content(repository, fourth) == ["a", "b", "other", "same"]


def test_other_kinds_of_change_take_their_turn(repository: Repository) -> None:
    plans = [
        upserting(repository, "n0"),
        planned(repository, lambda txn: txn.change(PERSON, delete=["a"])),
        upserting(repository, "n2"),
        upserting(repository, "n3"),
        appending(repository, "n4"),
    ]
    found = composed(repository, repository.head_state("main"), plans)
    assert content(repository, found[1]) == ["b", "n0"]
    assert content(repository, found[-1]) == ["b", "n0", "n2", "n3", "n4"]
    table = repository.parts.tables.open(found[-1].state.tables[PERSON].ref)  # type: ignore[union-attr]
    assert pa.types.is_string(table.schema.field("id").type)
