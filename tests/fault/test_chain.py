"""The chain on a local disk: a far head is found with few probes, a number has one creator, absent means beyond."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from omnigraph.model.clock import SystemRuntime
from omnigraph.storage.address import parse_address
from omnigraph.storage.chain import Chain, Entry
from omnigraph.storage.meter import Meter
from omnigraph.storage.store import connect

if TYPE_CHECKING:
    from pathlib import Path

LENGTH = 20_000


def chain_in(folder: Path, first: int = 0) -> Chain:
    return Chain(connect(parse_address(folder)), "c", SystemRuntime().clock, first)


def fill(folder: Path, length: int, first: int = 0) -> Chain:
    """A chain whose objects are made directly."""
    chain = chain_in(folder, first)
    (folder / "c").mkdir()
    for number in range(first, first + length):
        (folder / chain.path(number)).write_bytes(str(number).encode())
    return chain


@pytest.fixture(scope="module")
def long_chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    return fill(tmp_path_factory.mktemp("chain"), LENGTH)


def test_a_head_far_away_takes_few_probes_and_no_listing(long_chain: Chain) -> None:
    with Meter() as meter:
        head = long_chain.head()
    assert head == Entry(LENGTH - 1, str(LENGTH - 1).encode())
    assert meter.lists == 0
    assert meter.requests == meter.gets <= 2 * LENGTH.bit_length() + 1


@pytest.mark.parametrize("behind", [0, 1, 2, 10, 1000, LENGTH - 1])
def test_probes_grow_with_the_logarithm_of_the_distance(long_chain: Chain, behind: int) -> None:
    known = LENGTH - 1 - behind
    with Meter() as meter:
        head = long_chain.head(Entry(known, b""))
    assert head is not None
    assert head.number == LENGTH - 1
    assert meter.requests == 1 if behind == 0 else meter.requests <= 2 * behind.bit_length() + 1


def test_absent_means_beyond_the_head(long_chain: Chain) -> None:
    assert long_chain.read(LENGTH - 1) is not None
    assert long_chain.read(LENGTH) is None
    assert long_chain.read(2**64 - 1) is None


@pytest.mark.parametrize("length", [*range(1, 20), 63, 64, 65])
@pytest.mark.parametrize("first", [0, 7])
def test_the_head_is_exact_at_every_length(tmp_path: Path, length: int, first: int) -> None:
    chain = fill(tmp_path, length, first)
    for known in [None, *(Entry(number, b"") for number in range(first, first + length))]:
        head = chain.head(known)
        assert head is not None
        assert head.number == first + length - 1
    assert sorted(number for number, _ in chain.entries()) == list(range(first, first + length))


def test_an_empty_chain_has_no_head(tmp_path: Path) -> None:
    chain = chain_in(tmp_path)
    assert chain.head() is None
    assert chain.newest_listed() is None
    assert chain.append(0, b"x", lambda _: False) is None
    assert chain.head() == Entry(0, b"x")


def test_racing_creates_have_one_winner_and_the_others_see_it(tmp_path: Path) -> None:
    racers, rounds = 8, 40
    answers: list[dict[bytes, bytes | None]] = [{} for _ in range(rounds)]
    start = threading.Barrier(racers)

    def race(racer: int) -> None:
        chain = chain_in(tmp_path)
        mine = f"racer {racer}".encode()
        for number in range(rounds):
            start.wait()
            answers[number][mine] = chain.append(number, mine, lambda found: found == mine)

    threads = [threading.Thread(target=race, args=(racer,)) for racer in range(racers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chain = chain_in(tmp_path)
    for number, answer in enumerate(answers):
        winners = [mine for mine, found in answer.items() if found is None]
        assert len(winners) == 1, f"number {number} was won by {winners}"
        assert {found for found in answer.values() if found is not None} == set(winners)
        assert chain.read(number) == winners[0]
    head = chain.head()
    assert head is not None
    assert head.number == rounds - 1
