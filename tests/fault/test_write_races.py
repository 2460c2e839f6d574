"""Processes that write at the same moment: the rules of the schema hold, nobody's acknowledged write is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest

import omnigraph as og
from omnigraph.model.errors import AlreadyExists, KeyConflict, OmniGraphError, ReadSetConflict, TableConflict
from omnigraph.model.violations import ValidationFailed
from tests.support.racers import Act, Racers, Told, loading, mutation
from tests.support.social import ids, orphans, rows, social

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support import SeaweedServer

pytestmark = pytest.mark.xdist_group("race")

ROUNDS = 6
HEAD_STARTS_S = [(0.0, 0.0), (0.0, 0.02), (0.02, 0.0)]
"""Rounds go through these, so that either may come first, and in the middle of the other."""

MANY = 12
MOVED = (ReadSetConflict, TableConflict)
PUBLISHED_BEFORE = "the earlier system's published figure: 1 of 12"


@pytest.fixture(scope="module")
def racers() -> Iterator[Racers]:
    pool = Racers()
    yield pool
    pool.close()


@pytest.fixture
def g(tmp_path: Path) -> og.Graph:
    return social(tmp_path / "g.omni")


@pytest.fixture(params=["looked", "stale"])
def race(request: pytest.FixtureRequest, racers: Racers, g: og.Graph) -> Callable[..., list[Told]]:
    """Race on `g`, among processes that have just looked at it or that go by what they knew."""
    rounds = cycle(HEAD_STARTS_S)

    def run(*acts: Act) -> list[Told]:
        late_s = cycle(next(rounds))
        ready = (replace(act, looks=request.param == "looked", late_s=next(late_s)) for act in acts)
        return racers.race(g.uri, *ready)

    return run


def person(name: str, **data: object) -> dict[str, Any]:
    return {"type": "Person", "data": {"name": name, **data}}


def edge(kind: str, source: str, target: str, **data: object) -> dict[str, Any]:
    return {"edge": kind, "from": source, "to": target, "data": data}


def position(g: og.Graph, told: Told) -> int:
    """How many commits came before this one in the lineage."""
    lineage = [commit.id for commit in g.commits.list()][::-1]
    assert lineage.count(told.commit or "") == 1
    return lineage.index(told.commit or "")


def outcome(*told: Told) -> str:
    return " | ".join("won" if one.won else type(one.error).__name__ for one in told)


def raise_unless(kinds: tuple[type[OmniGraphError], ...], told: Told) -> None:
    if told.error is not None and not isinstance(told.error, kinds):
        raise told.error


# -- a node goes while an edge comes ----------------------------------------------------------------------


@pytest.mark.parametrize("how", ["load", "mutate"])
def test_a_node_deleted_while_an_edge_to_it_is_added_leaves_no_orphan(g, race, figure, how) -> None:
    seen: Counter[str] = Counter()
    for number in range(ROUNDS):
        name = f"v{number}"
        g.load([person(name), edge("Knows", "bob", name)], mode="append")
        adds = {
            "load": loading(edge("Knows", "ada", name), mode="merge"),
            "mutate": mutation(f'insert Knows {{ from: "ada", to: "{name}" }}'),
        }
        deleted, added = race(mutation(f'delete Person where name = "{name}"'), adds[how])
        raise_unless(MOVED, deleted)
        raise_unless((*MOVED, ValidationFailed), added)
        assert deleted.won or added.won, "one of two writers gets through"
        if deleted.won and added.won:
            assert position(g, added) < position(g, deleted), "an edge to a node that was gone"
        assert orphans(g) == []
        assert (name in ids(g, "node:Person")) == (not deleted.won)
        hits = Counter(row["src"] for row in rows(g, "edge:Knows") if row["dst"] == name)
        assert hits == ({} if deleted.won else {"bob": 1, "ada": 1})
        seen[outcome(deleted, added)] += 1
    figure(f"delete of a node | insert of an edge to it, by {how}: {dict(seen)}")


def test_a_node_overwritten_away_while_an_edge_to_it_is_added_leaves_no_orphan(g, race, figure) -> None:
    seen: Counter[str] = Counter()
    stay = [person(name) for name in ("ada", "bob", "cyd")]
    for number in range(ROUNDS):
        name = f"v{number}"
        g.load([person(name)], mode="merge")
        replaced, added = race(
            loading(*stay, mode="overwrite"), loading(edge("Knows", "ada", name, id=f"e{number}"), mode="merge")
        )
        raise_unless((*MOVED, ValidationFailed), replaced)
        raise_unless((*MOVED, ValidationFailed), added)
        assert replaced.won != added.won
        assert orphans(g) == []
        assert (name in ids(g, "node:Person")) == added.won
        assert (f"e{number}" in ids(g, "edge:Knows")) == added.won
        if added.won:  # so that the next overwrite may leave it out
            g.mutate(f'query q() {{ delete Person where name = "{name}" }}')
        seen[outcome(replaced, added)] += 1
    figure(f"overwrite without a node | insert of an edge to it: {dict(seen)}")


# -- rules over many rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "targets", "bound"), [("LivesIn", "City", 1), ("Likes", "Note", 3)])
def test_two_last_allowed_edges_of_a_source(g, race, kind, targets, bound) -> None:
    ends = ["paris", "rome"] if targets == "City" else [f"n{number}" for number in range(4)]
    if targets == "Note":
        g.load([{"type": "Note", "data": {"id": end, "text": end}} for end in ends], mode="append")
    for number in range(ROUNDS):
        name = f"p{number}"
        before = [edge(kind, name, end) for end in ends[: bound - 1]]
        g.load([person(name), *before], mode="append")
        told = race(*(loading(edge(kind, name, end), mode="merge") for end in ends[-2:]))
        assert sum(one.won for one in told) == 1
        raise_unless((ValidationFailed,), next(one for one in told if not one.won))
        assert [row["src"] for row in rows(g, f"edge:{kind}")].count(name) == bound


@pytest.mark.parametrize("how", ["load", "mutate"])
def test_one_unique_value_under_two_keys(g, race, how) -> None:
    for number in range(ROUNDS):
        email = f"e{number}@x.org"
        names = [f"a{number}", f"b{number}"]
        acts = {
            "load": [loading(person(name, email=email), mode="merge") for name in names],
            "mutate": [mutation(f'insert Person {{ name: "{name}", email: "{email}" }}') for name in names],
        }
        told = race(*acts[how])
        assert sum(one.won for one in told) == 1
        raise_unless((ValidationFailed,), next(one for one in told if not one.won))
        holders = [row["id"] for row in rows(g, "node:Person") if row["email"] == email]
        assert holders == [name for name, one in zip(names, told, strict=True) if one.won]


def test_one_key_appended_twice(g, race) -> None:
    for number in range(ROUNDS):
        told = race(*(loading(person(f"a{number}", age=age), mode="append") for age in (1, 2)))
        assert sum(one.won for one in told) == 1
        raise_unless((KeyConflict,), next(one for one in told if not one.won))
        found = [row["age"] for row in rows(g, "node:Person") if row["id"] == f"a{number}"]
        assert found == [age for age, one in zip((1, 2), told, strict=True) if one.won]


def test_one_key_appended_twice_to_a_branch_that_both_would_make(g, race, figure) -> None:
    seen: Counter[str] = Counter()
    for number in range(ROUNDS):
        where = {"branch": f"work{number}", "base": "main", "mode": "append"}
        told = race(*(loading(person("eve", age=age), **where) for age in (1, 2)))
        assert sum(one.won for one in told) == 1
        raise_unless((KeyConflict, AlreadyExists), next(one for one in told if not one.won))
        found = [row["age"] for row in rows(g, "node:Person", branch=where["branch"]) if row["id"] == "eve"]
        assert found == [age for age, one in zip((1, 2), told, strict=True) if one.won]
        seen[outcome(*told)] += 1
    figure(f"one key appended twice to a new branch: {dict(seen)}")


# -- who came last --------------------------------------------------------------------------------------------


def city(name: str) -> dict[str, Any]:
    return {"type": "City", "data": {"name": name, "country": "xx"}}


@pytest.mark.parametrize("mode", ["append", "merge"])
def test_an_overwrite_takes_only_what_came_before_it(g, race, figure, mode) -> None:
    seen: Counter[str] = Counter()
    for number in range(ROUNDS):
        kept, name = ["paris", "rome", f"o{number}"], f"n{number}"
        before = ids(g, "node:City")
        replaced, added = race(loading(*map(city, kept), mode="overwrite"), loading(city(name), mode=mode))
        raise_unless(MOVED, replaced)
        raise_unless((), added)
        if not replaced.won:
            expected = {*before, name}
        elif position(g, replaced) < position(g, added):
            expected = {*kept, name}
        else:
            expected = set(kept)
        assert ids(g, "node:City") == sorted(expected)
        order = "" if not replaced.won else " after" if expected == set(kept) else " before"
        seen[f"overwrite {outcome(replaced)}{order}"] += 1
    figure(f"overwrite and {mode} at once, every insert acknowledged and accounted for: {dict(seen)}")


def test_no_update_of_one_row_is_lost(g, race, figure) -> None:
    raises = mutation('update Person set { age: age + 1 } where name = "bob"')
    seen: Counter[str] = Counter()
    won = 0
    for _ in range(ROUNDS):
        told = race(raises, raises)
        for one in told:
            raise_unless(MOVED, one)
        assert any(one.won for one in told), "one of two writers gets through"
        won += sum(one.won for one in told)
        assert next(row["age"] for row in rows(g, "node:Person") if row["id"] == "bob") == 20 + won
        seen[outcome(*told)] += 1
    figure(f"age + 1 by two processes: {won} of {2 * ROUNDS} acknowledged and counted; {dict(seen)}")


def test_updates_of_different_rows_never_conflict(g, race, figure) -> None:
    names = [f"p{number}" for number in range(4)]
    g.load([person(name, age=0, email=f"{name}@x.org") for name in names], mode="append")
    lost = 0
    for number in range(1, ROUNDS + 1):
        told = race(*(mutation(f'update Person set {{ age: age + 1 }} where name = "{name}"') for name in names))
        for one in told:
            raise_unless((), one)
        lost += sum(one.lost for one in told)
        assert [row["age"] for row in rows(g, "node:Person") if row["id"] in names] == [number] * len(names)
    figure(f"4 processes update a row each of one table, {ROUNDS} rounds: no conflict, races lost {lost}")


# -- many writers -----------------------------------------------------------------------------------------------


def merge_one_edge_each(racers: Racers, g: og.Graph, options: dict[str, str] | None = None) -> list[Told]:
    acts = [loading(edge("Knows", "ada", "bob", id=f"e{number:02}"), mode="merge") for number in range(MANY)]
    told = racers.race(g.uri, *acts, options=options)
    for one in told:
        raise_unless((), one)
    assert len({one.commit for one in told}) == MANY
    assert {one.commit for one in told} <= {commit.id for commit in g.commits.list()}
    assert set(ids(g, "edge:Knows")) == {"k1", "k2", *(f"e{number:02}" for number in range(MANY))}
    assert orphans(g) == []
    return told


def said(where: str, told: list[Told]) -> str:
    slowest_s, lost = max(one.seconds for one in told), sum(one.lost for one in told)
    return (
        f"{MANY} processes merge one edge each to one branch {where}: {sum(one.won for one in told)} of {MANY} "
        f"({PUBLISHED_BEFORE}); slowest {slowest_s:.2f} s, races lost {lost}"
    )


def test_twelve_processes_merge_an_edge_each(g, racers, figure) -> None:
    figure(said("on disk", merge_one_edge_each(racers, g)))


@pytest.mark.s3
@pytest.mark.slow
def test_twelve_processes_merge_an_edge_each_on_s3(seaweed: SeaweedServer, racers, figure) -> None:
    g = social(f"s3://{seaweed.bucket()}/g.omni", storage_options=seaweed.storage_options)
    figure(said("on SeaweedFS", merge_one_edge_each(racers, g, seaweed.storage_options)))
