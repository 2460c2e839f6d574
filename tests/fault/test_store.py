"""A store that loses answers, answers late, twice or wrongly, or must not be trusted at all."""

from __future__ import annotations

import dataclasses
import socket
import threading
from collections.abc import Callable, Iterator

import obstore
import pytest

from omnigraph.manifest import Repository, Retention, collect
from omnigraph.model import errors
from omnigraph.storage.address import parse_address
from omnigraph.storage.store import connect
from tests.support import CarelessServer, CountingProxy, Exchange, Fault, MinistackServer, S3Endpoint
from tests.support.graphs import append, ids_of, make, parts, reopen, upsert

pytestmark = pytest.mark.s3

IMPATIENT_S = 2.0
Write = Callable[[Repository], object]
WRITES: dict[str, Write] = {
    "append": lambda repo: append(repo, "new", v=1),
    "upsert": lambda repo: upsert(repo, "a", "new", v=1),
}


def on_entry(*faults: Fault, chain: str = "main") -> Callable[[Exchange], Fault | None]:
    """A hook that breaks the first creations of entries of a chain, one fault each, and lets the rest pass.

    The first write of a process creates the head again to see it refused: the entry that counts is the one after.
    """
    left = list(faults)

    def choose(exchange: Exchange) -> Fault | None:
        is_entry = exchange.method == "PUT" and f"/__manifest/{chain}/" in exchange.path
        return left.pop(0) if left and is_entry else None

    return choose


def entries(proxy: CountingProxy) -> list[Exchange]:
    return [each for each in proxy.exchanges if each.method == "PUT" and "/__manifest/main/" in each.path]


@pytest.fixture
def broken(ministack: MinistackServer) -> Iterator[CountingProxy]:
    with CountingProxy(ministack.endpoint) as proxy:
        yield proxy


@pytest.fixture
def uri(ministack: MinistackServer) -> str:
    """A graph with one row, made without a proxy."""
    uri = f"s3://{ministack.bucket()}/g.omni"
    append(make(uri, ministack.storage_options), "a")
    return uri


def trusting(uri: str, proxy: CountingProxy, timeout_s: float = 30.0) -> Repository:
    """A process that has opened the graph and knows the store to be safe: its next entry is its commit."""
    options = proxy.storage_options
    store = connect(parse_address(uri, options), timeout_s=timeout_s)
    repo = Repository.open(dataclasses.replace(parts(uri, options), store=store))
    repo.place.is_safe = True
    return repo


def check_once(uri: str, server: S3Endpoint, published) -> None:
    """Acknowledged, in the lineage, and its rows there: each once."""
    repo = reopen(uri, server.storage_options)
    lineage = [commit.id for commit in repo.commits()]
    assert lineage.count(published.commit.id) == 1
    assert len(lineage) == 3, "init, the first row, and the commit under test"
    assert ids_of(repo) == ["a", "new"]
    assert repo.head_state("main").number == 2, "one entry, not two"
    assert ids_of(repo, commit=published.commit.id) == ["a", "new"]
    append(repo, "after")
    assert ids_of(reopen(uri, server.storage_options)) == ["a", "after", "new"]


FAULTS = {
    "lost answer": [Fault.lose_answer()],
    "two lost answers": [Fault.lose_answer(), Fault.lose_answer()],
    "dropped": [Fault.drop()],
    "lands later, hung up": [Fault.land_later(0.3, hang_up=True)],
    "503": [Fault.answer(503, "SlowDown")],
    "500": [Fault.answer(500, "InternalError")],
    "409": [Fault.answer(409, "ConditionalRequestConflict")],
    "409 then lost answer": [Fault.answer(409, "ConditionalRequestConflict"), Fault.lose_answer()],
    "twice, first answer": [Fault.twice("first")],
    "twice, last answer": [Fault.twice("last")],
    "dropped, then twice": [Fault.drop(), Fault.twice("last")],
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", FAULTS)
def test_a_commit_whose_entry_has_trouble_is_acknowledged_once(ministack, broken, uri, name, write) -> None:
    repo = trusting(uri, broken)
    broken.fault = on_entry(*FAULTS[name])
    published = WRITES[write](repo)
    broken.settle()
    assert [each.fault for each in entries(broken)][: len(FAULTS[name])] == [fault.kind for fault in FAULTS[name]]
    check_once(uri, ministack, published)


@pytest.mark.parametrize("lands_s", [0.5 * IMPATIENT_S, 1.5 * IMPATIENT_S, 2.5 * IMPATIENT_S])
def test_an_entry_that_lands_after_its_timeout_is_acknowledged_once(ministack, broken, uri, lands_s) -> None:
    repo = trusting(uri, broken, timeout_s=IMPATIENT_S)
    broken.fault = on_entry(Fault.land_later(lands_s))
    published = append(repo, "new")
    broken.settle()
    assert len(entries(broken)) > 1, "it was put again"
    check_once(uri, ministack, published)


def test_a_late_entry_does_not_undo_what_came_after(ministack, broken, uri) -> None:
    """The PUT is under way for long: meanwhile it is put again, acknowledged, and others have gone on."""
    repo = trusting(uri, broken)
    it_may_land = threading.Event()
    broken.fault = on_entry(Fault.land_later(it_may_land, hang_up=True))
    published = append(repo, "new")
    append(reopen(uri, ministack.storage_options), "other")
    it_may_land.set()
    broken.settle()
    late = entries(broken)[0]
    assert late.landed == [412]
    fresh = reopen(uri, ministack.storage_options)
    assert ids_of(fresh) == ["a", "new", "other"]
    assert [commit.id for commit in fresh.commits()][1] == published.commit.id


def test_a_loser_whose_answer_is_lost_knows_it_lost(ministack, broken, uri) -> None:
    repo = trusting(uri, broken)
    other = append(reopen(uri, ministack.storage_options), "other")
    broken.fault = on_entry(Fault.lose_answer())
    mine = append(repo, "new")
    assert mine.losses == 1
    fresh = reopen(uri, ministack.storage_options)
    assert [commit.id for commit in fresh.commits()][:2] == [mine.commit.id, other.commit.id]
    assert ids_of(fresh) == ["a", "new", "other"]


def test_a_store_that_stays_silent_leaves_the_outcome_open_and_says_so(ministack, broken, uri, monkeypatch) -> None:
    """Every answer is lost, the reads as well: the commit landed, but nobody can know."""
    monkeypatch.setattr("omnigraph.storage.chain.RETRY_DELAY_S", 0.001)
    repo = trusting(uri, broken)

    def silent(exchange: Exchange) -> Fault | None:
        return Fault.lose_answer() if "/__manifest/main/" in exchange.path else None

    broken.fault = silent
    with pytest.raises(errors.OutcomeUnknown) as caught:
        append(repo, "new")
    broken.fault = None
    assert ids_of(repo) == ["a", "new"], "it had landed"
    assert next(iter(repo.commits())).id in str(caught.value), "the error names the commit to look for"


@pytest.mark.parametrize("name", ["lost answer", "503", "409", "twice, first answer", "twice, last answer"])
def test_a_first_write_of_a_process_survives_trouble_with_its_probe(ministack, broken, uri, name) -> None:
    repo = reopen(uri, broken.storage_options)
    broken.fault = on_entry(*FAULTS[name])
    check_once(uri, ministack, append(repo, "new"))


@pytest.mark.parametrize("name", ["lost answer", "503", "409", "twice, first answer", "twice, last answer"])
def test_init_with_trouble_at_the_first_entry_makes_one_graph(ministack, broken, name) -> None:
    uri = f"s3://{ministack.bucket()}/g.omni"
    broken.fault = on_entry(*FAULTS[name])
    append(make(uri, broken.storage_options), "a")
    assert ids_of(reopen(uri, ministack.storage_options)) == ["a"]


@pytest.mark.parametrize("name", ["lost answer", "lands later, hung up", "503", "409", "twice, last answer"])
def test_branches_with_trouble_in_the_registry(ministack, broken, uri, name) -> None:
    repo = trusting(uri, broken)
    hits = []

    def once() -> Callable[[Exchange], Fault | None]:
        left = list(FAULTS[name])

        def choose(exchange: Exchange) -> Fault | None:
            is_entry = exchange.method == "PUT" and "/__manifest/" not in exchange.path and "/__refs" in exchange.path
            if left and is_entry:
                hits.append(exchange.path)
                return left.pop(0)
            return None

        return choose

    broken.fault = once()
    repo.create_branch("b")
    broken.settle()
    assert [ref.name for ref in reopen(uri, ministack.storage_options).branches()] == ["b", "main"]
    broken.fault = once()
    repo.delete_branch("b")
    broken.settle()
    assert [ref.name for ref in reopen(uri, ministack.storage_options).branches()] == ["main"]
    assert len(hits) == 2


# -- stores to refuse ------------------------------------------------------------------------------------


def objects(server: S3Endpoint, bucket: str) -> dict[str, bytes]:
    store = server.store(bucket)
    listed = obstore.list(store).collect()
    return {info["path"]: bytes(obstore.get(store, info["path"]).bytes()) for info in listed}


def test_a_store_that_ignores_the_condition_is_refused_at_init(careless: CarelessServer) -> None:
    bucket = careless.bucket()
    with pytest.raises(errors.StoreUnsafe):
        make(f"s3://{bucket}/g.omni", careless.storage_options)
    left = [name for name in objects(careless, bucket) if "__probe" not in name]
    assert left == []
    with pytest.raises(errors.NotAGraph):
        reopen(f"s3://{bucket}/g.omni", careless.storage_options)


@pytest.mark.parametrize("act", ["append", "upsert", "create_branch", "create_tag", "cleanup"])
def test_a_graph_copied_to_such_a_store_can_be_read_but_not_written(ministack, careless, uri, act) -> None:
    source, target = uri.split("/")[2], careless.bucket()
    for path, data in objects(ministack, source).items():
        obstore.put(careless.store(target), path, data)
    copied = f"s3://{target}/g.omni"
    repo = reopen(copied, careless.storage_options)
    assert ids_of(repo) == ["a"]
    before = objects(careless, target)
    with pytest.raises(errors.StoreUnsafe):
        _act(repo, act)
    after = objects(careless, target)
    assert {path: data for path, data in after.items() if path in before} == before
    added = after.keys() - before.keys()
    assert not [path for path in added if "/__manifest/main/" in path or "/__refs/" in path]
    orphans = [path for path in added if "/__manifest/" in path]  # under a fresh id that no registry entry names
    assert len(orphans) == (act == "create_branch")
    assert ids_of(reopen(copied, careless.storage_options)) == ["a"]


def _act(repo: Repository, act: str) -> None:
    if act in WRITES:
        WRITES[act](repo)
    elif act == "cleanup":
        collect(repo, Retention(keep=1, grace_s=0.0), dry_run=False)
    else:
        getattr(repo, act)("b")


# -- no way in -------------------------------------------------------------------------------------------


@pytest.fixture(params=["open", "init"])
def enter(request: pytest.FixtureRequest) -> Callable[[str, dict[str, str]], Repository]:
    return reopen if request.param == "open" else make


def test_a_missing_bucket_is_not_found(s3_server: S3Endpoint, enter) -> None:
    with pytest.raises(errors.NotFound):
        enter("s3://no-such-bucket-here/g.omni", s3_server.storage_options)


def test_wrong_credentials_are_denied_and_change_nothing(seaweed, enter) -> None:
    bucket = seaweed.bucket()
    uri = f"s3://{bucket}/g.omni"
    append(make(uri, seaweed.storage_options), "a")
    before = objects(seaweed, bucket)
    for wrong in ({"aws_secret_access_key": "wrong"}, {"aws_access_key_id": "nobody"}):
        with pytest.raises(errors.Denied):
            enter(uri, seaweed.storage_options | wrong)
    assert objects(seaweed, bucket) == before


@pytest.mark.parametrize(("status", "code"), [(403, "AccessDenied"), (403, "SignatureDoesNotMatch")])
def test_permission_lost_in_the_middle_is_denied_and_nothing_is_published(ministack, broken, uri, status, code) -> None:
    repo = reopen(uri, broken.storage_options)
    for part in ("/data/", "/_versions/", "/__manifest/main/"):
        broken.fault = lambda seen, part=part: (
            Fault.answer(status, code) if seen.method == "PUT" and part in seen.path else None
        )
        with pytest.raises(errors.Denied):
            append(repo, "new")
        broken.fault = None
        assert ids_of(reopen(uri, ministack.storage_options)) == ["a"]
    append(repo, "new")
    assert ids_of(reopen(uri, ministack.storage_options)) == ["a", "new"]


def test_an_unreachable_server_is_unavailable(ministack, enter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    closed = ministack.storage_options | {"aws_endpoint": f"http://127.0.0.1:{port}"}
    with pytest.raises(errors.StoreUnavailable):
        enter("s3://bucket/g.omni", closed)


def test_a_server_that_goes_away_under_a_writer_is_unavailable_and_comes_back(tmp_path) -> None:
    with MinistackServer() as server:
        proxy = CountingProxy(server.endpoint).start()
        uri = f"s3://{server.bucket()}/g.omni"
        repo = make(uri, proxy.storage_options)
        append(repo, "a")
        proxy.stop()
        with pytest.raises(errors.StoreUnavailable):
            append(repo, "lost")
        fresh = reopen(uri, server.storage_options)
        assert ids_of(fresh) == ["a"]
        append(fresh, "b")
        assert ids_of(fresh) == ["a", "b"]
