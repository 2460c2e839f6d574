"""Requests per operation, exactly, on a real S3 server through a counting proxy; the meter must agree.

A number here is a promise to users: a change that makes one grow fails.
"""

from __future__ import annotations

import uuid

import pytest

from omnigraph.storage.meter import Meter
from tests.support import CountingProxy
from tests.support.graphs import NODE, append, ids_of, make, reopen, upsert

pytestmark = [pytest.mark.s3, pytest.mark.xdist_group("cost")]

DEPTHS = (0, 10, 100, 1000)


@pytest.fixture(scope="module")
def proxy(seaweed):
    with CountingProxy(seaweed.endpoint) as counting:
        yield counting


@pytest.fixture
def place(seaweed, proxy) -> tuple[str, dict[str, str]]:
    return f"s3://{seaweed.bucket()}/g.omni", proxy.storage_options


def counted(proxy, act) -> tuple[int, int, int]:
    """Requests by the proxy and by the meter, which must be the same, and hops."""
    with proxy.counting() as seen, Meter() as meter:
        act()
    assert seen.requests == meter.requests, f"{seen}\n{meter}"
    return seen.requests, meter.hops, seen.hops


@pytest.mark.slow
def test_a_warm_write_costs_the_same_at_any_depth(place, proxy) -> None:
    """Four requests in four hops for an append, at most six for a keyed upsert: commit 1, 10, 100 or 1,000."""
    uri, options = place
    graph = make(uri, options)
    append(graph, "first")
    done = 0
    for depth in DEPTHS:
        while done < depth:
            append(graph, f"k{done:04}")
            done += 1
        if graph.head_state("main").table("node:Person").row_count % 8 == 7:
            append(graph, f"pad{depth}")  # the next write would fold after its acknowledgement
        graph.parts.__dict__["auto_fold"] = False
        assert counted(proxy, lambda depth=depth: append(graph, f"new{depth}")) == (4, 4, 4), f"depth {depth}"
        requests, _, _ = counted(proxy, lambda depth=depth: upsert(graph, "first", v=depth))
        assert requests <= 6, f"depth {depth}"
        requests, _, _ = counted(proxy, lambda depth=depth: upsert(graph, f"other{depth}"))
        assert requests <= 6, f"depth {depth}"
        graph.parts.__dict__["auto_fold"] = True
    assert len(ids_of(graph)) >= 1000


@pytest.mark.slow
def test_cold_open_and_write_do_not_depend_on_depth(place, proxy) -> None:
    uri, options = place
    graph = make(uri, options)
    found: dict[int, int] = {}
    done = 0
    for depth in (10, 250):
        while done < depth:
            append(graph, f"k{done:04}")
            done += 1

        def cold(depth: int = depth) -> None:
            fresh = reopen(uri, options)
            fresh.parts.__dict__["auto_fold"] = False
            append(fresh, f"cold{depth}")

        with proxy.counting() as seen:
            cold()
        found[depth] = seen.requests
    assert found[10] == found[250] <= 10, found
    commits = [commit.id for commit in graph.commits()]
    graph.head_state("main")
    for commit in (commits[1], commits[100], commits[-1]):
        with proxy.counting() as seen:
            graph.state_of_commit(commit)
        assert seen.requests <= 2, commit


def test_branches_cost_the_same_with_one_and_many_tables_and_siblings(place, proxy) -> None:
    uri, options = place
    costs: set[tuple[int, int]] = set()
    for tables, siblings in ((1, 0), (40, 0), (1, 60)):
        graph = make(f"{uri}-{tables}-{siblings}", options, {f"node:T{n}": NODE for n in range(tables)})
        for number in range(siblings):
            graph.create_branch(f"s{number}")
        graph.branches()
        name = f"b/{uuid.uuid4().hex}"
        with proxy.counting() as create:
            graph.create_branch(name)
        with proxy.counting() as delete:
            graph.delete_branch(name)
        costs.add((create.requests, delete.requests))
    assert len(costs) == 1, costs
    ((create_requests, delete_requests),) = costs
    assert create_requests <= 8
    assert delete_requests <= 6
