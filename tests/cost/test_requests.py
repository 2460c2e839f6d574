"""Requests per operation, exactly, on a real S3 server through a counting proxy; the meter must agree.

A number here is a promise to users: a change that makes one grow fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from omnigraph.manifest import Repository
from omnigraph.storage.meter import Meter
from tests.support import CountingProxy
from tests.support.graphs import NODE, PERSON, append, ids_of, make, reopen, upsert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support import SeaweedServer

pytestmark = [pytest.mark.s3, pytest.mark.slow, pytest.mark.xdist_group("cost")]

DEPTHS = (0, 10, 100, 1000)
WARM_APPEND = 4  # data file, Lance transaction, Lance manifest, chain entry
WARM_UPSERT_NEW = 4  # the same: remembered keys say it is new
WARM_UPSERT_OLD = 5  # and a deletion file, beside the data file: no hop more
COLD_OPEN_AND_APPEND = 8  # LIST and GET of the head, one refused PUT, GET of the table's manifest; then as above
PAST_COMMIT = 1
PAST_COMMIT_FOLDED = 2  # its lineage segment first
BRANCH_CREATE = 4  # registry probe, head probe, first entry, registry entry
BRANCH_DELETE = 4  # registry probe, mark, closing entry, removal


@dataclass
class Cost:
    """What the proxy and the meter counted, both the same."""

    requests: int = 0
    hops: int = 0


@dataclass
class Place:
    """A fresh bucket behind a counting proxy."""

    proxy: CountingProxy
    uri: str

    def make(self, suffix: str = "", **how) -> Repository:
        return make(self.uri + suffix, self.proxy.storage_options, **how)

    def reopen(self, suffix: str = "") -> Repository:
        """As another process has it; without upkeep after its writes, which is counted apart."""
        return reopen(self.uri + suffix, self.proxy.storage_options, auto_fold=False)

    def cost(self, act: Callable[[], object]) -> Cost:
        with self.proxy.counting() as seen, Meter() as meter:
            act()
        assert seen.requests == meter.requests, f"{seen}\n{meter}"
        return Cost(seen.requests, meter.hops)


@pytest.fixture(scope="module")
def proxy(seaweed: SeaweedServer) -> Iterator[CountingProxy]:
    with CountingProxy(seaweed.endpoint) as counting:
        yield counting


@pytest.fixture
def place(seaweed: SeaweedServer, proxy: CountingProxy) -> Place:
    return Place(proxy, f"s3://{seaweed.bucket()}/g.omni")


def test_a_write_costs_the_same_at_any_depth(place: Place, seaweed: SeaweedServer) -> None:
    """Commit 1, 10, 100 or 1,000; a process that was at it all the time or one that has just started."""
    builder = make(place.uri, seaweed.storage_options)  # past the proxy: quicker
    append(builder, "first")
    done = 0
    for depth in DEPTHS:
        for number in range(done, depth):
            append(builder, f"k{number:04}")
        done = depth
        box: list[Repository] = []

        def start(depth: int = depth, box: list[Repository] = box) -> None:
            box.append(place.reopen())
            append(box[0], f"cold{depth}")

        assert place.cost(start).requests == COLD_OPEN_AND_APPEND, f"depth {depth}"
        warm = box[0]
        cost = place.cost(lambda depth=depth, warm=warm: append(warm, f"new{depth}"))
        assert cost == Cost(WARM_APPEND, WARM_APPEND), f"depth {depth}"
        upsert(warm, "first", v=depth)  # learns where the keys are
        cost = place.cost(lambda depth=depth, warm=warm: upsert(warm, f"other{depth}", f"more{depth}"))
        assert cost == Cost(WARM_UPSERT_NEW, WARM_UPSERT_NEW), f"depth {depth}"
        cost = place.cost(lambda depth=depth, warm=warm: upsert(warm, f"other{depth}", v=1))
        assert cost == Cost(WARM_UPSERT_OLD, WARM_UPSERT_OLD - 1), f"depth {depth}"
    assert len(ids_of(builder)) == DEPTHS[-1] + 1 + 4 * len(DEPTHS)
    _past_commits(place, place.reopen())


def _past_commits(place: Place, repo: Repository) -> None:
    """Opening a snapshot of any commit: its chain entry, after its lineage segment if it is an old one."""
    commits = [commit.id for commit in repo.commits()]
    assert len(commits) > DEPTHS[-1]
    repo.head_state("main")
    assert place.cost(lambda: repo.state_of_commit(commits[1])) == Cost(PAST_COMMIT, PAST_COMMIT)
    for commit in (commits[300], commits[900], commits[-1]):
        assert place.cost(lambda commit=commit: repo.state_of_commit(commit)) == Cost(
            PAST_COMMIT_FOLDED, PAST_COMMIT_FOLDED
        )


def test_upkeep_is_a_small_share_of_the_writes(place: Place) -> None:
    """Folding after the acknowledgement, over many writes: fragments stay few, and so do requests."""
    repo = place.make()
    append(repo, "first")
    writes = 128
    cost = place.cost(lambda: [append(repo, f"k{number:03}") for number in range(writes)])
    fragments = len(repo.snapshot().table(PERSON).fragments())
    assert cost.requests <= writes * (WARM_APPEND + 2), cost
    assert fragments <= 24, fragments


@pytest.mark.parametrize(("tables", "siblings"), [(1, 0), (200, 0), (1, 200)])
def test_a_branch_costs_the_same_with_many_tables_and_siblings(place: Place, tables: int, siblings: int) -> None:
    repo = place.make(tables={f"node:T{number}": NODE for number in range(tables)})
    for number in range(siblings):
        repo.create_branch(f"s{number}")
    repo.branches()
    assert place.cost(lambda: repo.create_branch("a/b")).requests == BRANCH_CREATE
    assert place.cost(lambda: repo.delete_branch("a/b")).requests == BRANCH_DELETE
