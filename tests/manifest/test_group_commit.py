"""Threads that publish at once share chain entries. Counted, not timed: a held publish shows who waits for what."""

from __future__ import annotations

import threading
from dataclasses import replace

from omnigraph.manifest import Repository
from omnigraph.model.clock import SystemRuntime
from tests.support.graphs import append, ids_of, make, parts

WAIT_S = 60.0


class WatchedLock:
    """Tells that somebody is about to wait."""

    def __init__(self, runtime: WatchedRuntime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()

    def acquire(self, blocking: bool = True) -> bool:
        if self._lock.acquire(blocking=False):
            return True
        if not blocking:
            return False
        if threading.current_thread().name in self._runtime.impatient:
            raise KeyboardInterrupt
        self._runtime.waiting.release()
        return self._lock.acquire()

    def release(self) -> None:
        self._lock.release()


class WatchedRuntime(SystemRuntime):
    """Counts the threads that wait for a publish; those named here do not."""

    def __init__(self, *impatient: str) -> None:
        super().__init__()
        self.waiting = threading.Semaphore(0)
        self.impatient = impatient

    def lock(self) -> WatchedLock:
        return WatchedLock(self)


class HeldStore:
    """A store whose next entry of main is created when as many threads wait as were asked for."""

    def __init__(self, store, runtime: WatchedRuntime) -> None:
        self._store = store
        self.runtime = runtime
        self.waiters = 0
        self.held = threading.Event()

    def __getattr__(self, name: str):
        return getattr(self._store, name)

    def create(self, path: str, data: bytes) -> bool:
        if self.waiters and path.startswith("__manifest/main/"):
            waiters, self.waiters = self.waiters, 0
            self.held.set()
            for _ in range(waiters):
                assert self.runtime.waiting.acquire(timeout=WAIT_S)
        return self._store.create(path, data)


def held_graph(path, *impatient: str, auto_fold: bool = True) -> tuple[Repository, HeldStore]:
    make(path)
    runtime = WatchedRuntime(*impatient)
    own = parts(path, auto_fold=auto_fold)
    store = HeldStore(own.store, runtime)
    repository = Repository.open(replace(own, store=store, runtime=runtime))
    append(repository, "warm")
    return repository, store


def run_beside(repository: Repository, store: HeldStore, names: list[str]) -> dict[str, object]:
    """The first publishes and is held; the others come while it is."""
    done: dict[str, object] = {}

    def work(name: str) -> None:
        try:
            done[name] = append(repository, name)
        except KeyboardInterrupt as error:
            done[name] = error
            store.runtime.waiting.release()

    threads = [threading.Thread(target=work, args=(name,), name=name) for name in names]
    store.waiters = len(names) - 1
    threads[0].start()
    assert store.held.wait(WAIT_S)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive()
    return done


def test_who_comes_while_another_publishes_shares_the_next_entry(tmp_path) -> None:
    repository, store = held_graph(tmp_path / "g.omni", auto_fold=False)
    names = [f"t{number}" for number in range(8)]
    done = run_beside(repository, store, names)
    first, *others = (done[name].commit.number for name in names)
    assert set(others) == {first + 1}, "seven plans, one entry"
    assert repository.head_state("main").number == first + 1
    assert repository.races_lost == 0
    assert ids_of(repository) == sorted([*names, "warm"])


def test_upkeep_is_done_once_and_takes_part_in_no_race(tmp_path) -> None:
    repository, store = held_graph(tmp_path / "g.omni")
    done = run_beside(repository, store, [f"t{number}" for number in range(8)])
    last = max(published.commit.number for published in done.values())
    assert repository.head_state("main").number == last + 1, "one fold, after the group that made it necessary"
    assert len(repository.snapshot().table("node:Person").fragments()) == 1
    assert repository.races_lost == 0


def test_who_gives_up_waiting_keeps_nobody_else(tmp_path) -> None:
    repository, store = held_graph(tmp_path / "g.omni", "t3")
    names = [f"t{number}" for number in range(6)]
    done = run_beside(repository, store, names)
    assert isinstance(done["t3"], KeyboardInterrupt)
    others = [name for name in names if name != "t3"]
    assert ids_of(repository) == sorted([*others, "warm"])
    append(repository, "after")


def test_writers_of_one_process_never_lose_a_race(tmp_path) -> None:
    repository = make(tmp_path / "g.omni")

    def work(name: str) -> None:
        for number in range(5):
            append(repository, f"{name}-{number}")

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids_of(repository)) == 16 * 5
    assert repository.races_lost == 0, "neither each other's nor their own upkeep's"
