"""The proxy counts exactly, adds next to nothing, and breaks what it is told to break."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import lance
import obstore
import pyarrow as pa
import pytest
from obstore.exceptions import AlreadyExistsError, GenericError

from tests.support import CarelessServer, CountingProxy, Exchange, Fault, MinistackServer
from tests.support.exchange import Counts
from tests.support.overlap import LATENCIES_S, fewest_hops

pytestmark = pytest.mark.s3

ROOT = Path(__file__).parents[2]
NO_RETRY = {"retry_config": {"max_retries": 0}}
FIFTY_PUTS_AND_GETS = """
import sys, obstore
from tests.support import S3Endpoint
place = S3Endpoint()
place.endpoint, bucket, worker = sys.argv[1:]
store = place.store(bucket, retry_config={"max_retries": 0})
for number in range(50):
    obstore.put(store, f"{worker}/{number}", b"x" * 1000)
    assert len(obstore.get(store, f"{worker}/{number}").bytes()) == 1000
"""


def once(fault: Fault, method: str = "PUT") -> Callable[[Exchange], Fault | None]:
    """A hook that breaks the first request of a method and lets the rest pass."""
    faults = [fault]
    return lambda request: faults.pop() if faults and request.method == method else None


def test_counts_are_exact_for_each_kind(proxy: CountingProxy, s3_bucket: str) -> None:
    store = proxy.store(s3_bucket)
    with proxy.counting() as counts:
        obstore.put(store, "a/1", b"one")
        obstore.put(store, "a/2", b"two")
        obstore.put(store, "a/3", b"three")
        assert counts.requests == counts.puts == 3
        obstore.get(store, "a/1").bytes()
        obstore.get(store, "a/2").bytes()
        obstore.head(store, "a/1")
        assert len(obstore.list(store, "a").collect()) == 3
        obstore.list_with_delimiter(store)
        obstore.delete(store, "a/1")
        obstore.delete(store, ["a/2", "a/3"])
    obstore.put(store, "after", b"not counted")

    kinds = (counts.puts, counts.gets, counts.heads, counts.lists, counts.deletes, counts.posts)
    assert kinds == (3, 2, 1, 2, 2, 0)
    assert counts.requests == counts.hops == sum(kinds)
    assert counts.log[0] == f"PUT /{s3_bucket}/a/1 200"
    assert all(each.status in (200, 204) and each.end_s for each in counts.exchanges)


def test_multipart_uploads_are_told_apart_and_arrive_whole(proxy: CountingProxy, s3_bucket: str) -> None:
    store = proxy.store(s3_bucket)
    data = bytes(range(256)) * 50_000
    with proxy.counting() as counts:
        obstore.put(store, "large", data, chunk_size=5 * 2**20)
        assert obstore.get(store, "large").bytes() == data
    assert (counts.posts, counts.puts, counts.gets) == (2, 3, 1)
    assert sum(each.bytes_in for each in counts.exchanges) > len(data)
    assert counts.exchanges[-1].bytes_out > len(data)


def test_counts_are_exact_for_lance(proxy: CountingProxy, s3_bucket: str) -> None:
    uri, options = f"s3://{s3_bucket}/table.lance", proxy.storage_options
    with proxy.counting() as writing:
        lance.write_dataset(pa.table({"number": [1, 2, 3]}), uri, storage_options=options)
    assert (writing.puts, writing.lists, writing.requests) == (3, 2, 5), writing

    session = lance.Session()  # pyright: ignore[reportPrivateImportUsage]
    with proxy.counting() as opening:
        lance.dataset(uri, version=1, storage_options=options, session=session)
    assert (opening.heads, opening.gets, opening.requests, opening.hops) == (1, 1, 2, 2), opening
    with proxy.counting() as again:
        lance.dataset(uri, version=1, storage_options=options, session=session)
    assert (again.heads, again.requests) == (1, 1), again


def test_parallel_requests_are_one_hop(proxy: CountingProxy, s3_bucket: str) -> None:
    store = proxy.store(s3_bucket)
    obstore.put(store, "warm", b"")
    barrier = threading.Barrier(4)

    def put(number: int) -> None:
        barrier.wait()
        obstore.put(store, f"key/{number}", b"")

    def act() -> Counts:
        with proxy.counting() as counts, ThreadPoolExecutor(4) as pool:
            list(pool.map(put, range(4)))
            obstore.get(store, "key/1").bytes()
        return counts

    counts = fewest_hops(proxy, act, at_most=2)
    assert (counts.requests, counts.hops) == (5, 2), counts
    assert all(each.end_s and each.end_s - each.start_s >= LATENCIES_S[0] for each in counts.exchanges)


def test_hops_are_the_longest_chain() -> None:
    spans = [(0, 10), (1, 2), (3, 4), (3.5, 6), (6, 7)]
    exchanges = [Exchange("GET", "/b/k", "", {}, start_s=start, end_s=end) for start, end in spans]
    assert Counts(exchanges, first=0).hops == 3


def test_a_request_that_is_dropped_never_lands(proxy: CountingProxy, s3_bucket: str) -> None:
    proxy.fault = once(Fault.drop())
    with proxy.counting() as counts, pytest.raises(GenericError):
        obstore.put(proxy.store(s3_bucket, **NO_RETRY), "key", b"", mode="create")
    assert counts.exchanges[0].landed == []
    obstore.put(proxy.store(s3_bucket), "key", b"", mode="create")


def test_a_lost_answer_makes_the_winner_look_like_a_loser(proxy: CountingProxy, s3_bucket: str) -> None:
    proxy.fault = once(Fault.lose_answer())
    with proxy.counting() as counts, pytest.raises(AlreadyExistsError):
        obstore.put(proxy.store(s3_bucket), "key", b"mine", mode="create")
    assert [each.status for each in counts.exchanges] == [None, 412]
    assert [each.landed for each in counts.exchanges] == [[200], [412]]
    assert obstore.get(proxy.store(s3_bucket), "key").bytes() == b"mine"


def test_a_lost_answer_without_retries_is_a_doubt(proxy: CountingProxy, s3_bucket: str) -> None:
    proxy.fault = once(Fault.lose_answer())
    with proxy.counting() as counts, pytest.raises(GenericError):
        obstore.put(proxy.store(s3_bucket, **NO_RETRY), "key", b"mine", mode="create")
    assert [each.landed for each in counts.exchanges] == [[200]]


@pytest.mark.parametrize("answered", ["first", "last"])
def test_a_doubled_request_lands_twice(answered: str, proxy: CountingProxy, s3_bucket: str) -> None:
    proxy.fault = once(Fault.twice("first" if answered == "first" else "last"))
    store = proxy.store(s3_bucket)
    with proxy.counting() as counts:
        if answered == "first":
            obstore.put(store, "key", b"", mode="create")
        else:
            with pytest.raises(AlreadyExistsError):
                obstore.put(store, "key", b"", mode="create")
    assert counts.exchanges[0].landed == [200, 412]


def test_a_put_lands_after_its_client_gave_up(proxy: CountingProxy, s3_bucket: str) -> None:
    it_may_land = threading.Event()
    proxy.fault = once(Fault.land_later(it_may_land))
    impatient = proxy.store(s3_bucket, client_options={"timeout": timedelta(seconds=2)})
    with proxy.counting() as counts, pytest.raises(GenericError):
        obstore.put(impatient, "key", b"late", mode="create")
    store = proxy.store(s3_bucket)
    with pytest.raises(FileNotFoundError):
        obstore.get(store, "key")
    it_may_land.set()
    proxy.settle()
    assert obstore.get(store, "key").bytes() == b"late"
    assert counts.requests == 1, "obstore does not try a conditional PUT again after a timeout"


def test_a_late_put_meets_the_retry_that_overtook_it(proxy: CountingProxy, s3_bucket: str) -> None:
    it_may_land = threading.Event()
    proxy.fault = once(Fault.land_later(it_may_land, hang_up=True))
    with proxy.counting() as counts:
        obstore.put(proxy.store(s3_bucket), "key", b"", mode="create")
        it_may_land.set()
        proxy.settle()
    assert [each.landed for each in counts.exchanges] == [[412], [200]]


def test_an_answer_can_be_made_up(proxy: CountingProxy, s3_bucket: str) -> None:
    proxy.fault = once(Fault.answer(503, "SlowDown"))
    with proxy.counting() as counts:
        obstore.put(proxy.store(s3_bucket), "key", b"", mode="create")
    assert [each.status for each in counts.exchanges] == [503, 200]


def test_a_conflict_reads_as_already_exists_though_nothing_does(proxy: CountingProxy, s3_bucket: str) -> None:
    """S3's 409 says "try again"; obstore words it like 412, so the caller has to look."""
    proxy.fault = once(Fault.answer(409, "ConditionalRequestConflict"))
    with pytest.raises(AlreadyExistsError):
        obstore.put(proxy.store(s3_bucket), "key", b"", mode="create")
    with pytest.raises(FileNotFoundError):
        obstore.head(proxy.store(s3_bucket), "key")


def test_a_delay_is_only_slow(proxy: CountingProxy, s3_bucket: str) -> None:
    proxy.fault = once(Fault.delay(0.2))
    with proxy.counting() as counts:
        obstore.put(proxy.store(s3_bucket), "key", b"")
    (exchange,) = counts.exchanges
    assert exchange.status == 200
    assert exchange.end_s
    assert exchange.end_s - exchange.start_s >= 0.2


def test_sixteen_processes_at_once(ministack: MinistackServer) -> None:
    bucket = ministack.bucket()
    with CountingProxy(ministack.endpoint) as proxy, proxy.counting() as counts:
        command = [sys.executable, "-c", FIFTY_PUTS_AND_GETS, proxy.endpoint, bucket]
        workers = [subprocess.Popen([*command, str(worker)], cwd=ROOT) for worker in range(16)]
        assert [worker.wait(timeout=300) for worker in workers] == [0] * 16
    assert (counts.puts, counts.gets, counts.requests) == (800, 800, 1600)


def test_the_proxy_adds_next_to_nothing(careless: CarelessServer, figure) -> None:
    """How long it takes is a figure; a request stays one request, and waits for nothing."""
    bucket = careless.bucket()
    with CountingProxy(careless.endpoint) as proxy, proxy.counting() as counts:
        direct, through = (best_get_s(place.store(bucket)) for place in (careless, proxy))
    assert (counts.puts, counts.gets, counts.requests) == (1, 100, 101)
    figure(f"a request through the counting proxy: {1000 * direct:.2f} ms without it, {1000 * through:.2f} ms with it")


def best_get_s(store: obstore.store.S3Store) -> float:
    """The quickest of many: what a request costs on a machine that is busy with other things as well."""
    obstore.put(store, "key", b"x")
    taken_s: list[float] = []
    for _ in range(100):
        started_s = time.perf_counter()
        obstore.get(store, "key").bytes()
        taken_s.append(time.perf_counter() - started_s)
    return min(taken_s)
