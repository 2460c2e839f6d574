"""Queries that have to stop."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from omnigraph.execute.engine import run
from omnigraph.execute.watch import Canceller, Watch
from omnigraph.model.errors import Cancelled, ResourceLimit, TimedOut

ENDLESS = "SELECT count(*) FROM range(1000000000000) AS many(n), range(1000000) AS more(m) GROUP BY hash(n + m) % 7"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Engine:
    """Counts how often it is interrupted; tells when that was more than once."""

    def __init__(self) -> None:
        self.times = 0
        self.again = threading.Event()

    def interrupt(self) -> None:
        self.times += 1
        if self.times > 1:
            self.again.set()


def test_time_is_over() -> None:
    clock = Clock()
    watch = Watch(5, clock)
    watch.check()
    clock.now = 4.9
    watch.check()
    clock.now = 5.0
    with pytest.raises(TimedOut, match="longer than 5 s") as raised:
        watch.check()
    assert isinstance(raised.value, ResourceLimit)
    assert raised.value.facts["limit"] == 5


def test_a_statement_is_interrupted_when_its_time_is_over() -> None:
    with pytest.raises(TimedOut):
        run(ENDLESS, {}, {}, Watch(0.1))
    assert run("SELECT 1 AS one", {}, {}).to_pylist() == [{"one": 1}]


def test_a_statement_is_cancelled_from_another_thread() -> None:
    watch, canceller = Watch(), Canceller()

    def work() -> None:
        with canceller.over(watch):
            run(ENDLESS, {}, {}, watch)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        canceller.cancel()
        with pytest.raises(Cancelled):
            future.result()


def test_an_engine_that_has_not_begun_is_told_again() -> None:
    watch, engine = Watch(), Engine()
    with watch.over(engine):
        watch.cancel()
        assert engine.again.wait(60)
    with pytest.raises(Cancelled):
        watch.check()


def test_what_is_cancelled_stays_cancelled() -> None:
    canceller = Canceller()
    canceller.cancel()
    watch = Watch()
    with canceller.over(watch), pytest.raises(Cancelled):
        watch.check()
