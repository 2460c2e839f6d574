"""Real processes racing on a real S3 server: every acknowledged commit is in the lineage exactly once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.support.forks import forking
from tests.support.graphs import append, ids_of, make, reopen, upsert

if TYPE_CHECKING:
    from tests.support import SeaweedServer

pytestmark = [pytest.mark.s3, pytest.mark.slow, pytest.mark.xdist_group("race")]

WORKERS, COMMITS = 16, 25
FEW_COMMITS = 5
WRITES = {"append": append, "upsert": upsert}


def _race(uri: str, options: dict[str, str], write: str, branch: str, worker: int, commits: int, start, out) -> None:
    repo = reopen(uri, options)
    start.wait()
    for number in range(commits):
        key = f"{worker:02}-{number:02}"
        started_s = time.perf_counter()
        published = WRITES[write](repo, key, branch=branch, v=worker)
        out.put((published.commit.id, key, time.perf_counter() - started_s, published.losses))


def race(
    uri: str, options: dict[str, str], write: str, branches: list[str], commits: int
) -> list[tuple[str, str, float, int]]:
    """What each process was told: commit, key, seconds it took, races lost."""
    context = forking()
    out, start = context.Queue(), context.Barrier(WORKERS)
    processes = [
        context.Process(
            target=_race, args=(uri, options, write, branches[worker % len(branches)], worker, commits, start, out)
        )
        for worker in range(WORKERS)
    ]
    for process in processes:
        process.start()
    try:
        told = [out.get(timeout=300) for _ in range(WORKERS * commits)]
        for process in processes:
            process.join(timeout=300)
    finally:
        for process in processes:
            process.kill()
            process.join()
    assert [process.exitcode for process in processes] == [0] * WORKERS
    return told


@pytest.mark.parametrize(("write", "commits"), [("append", COMMITS), ("upsert", FEW_COMMITS)])
def test_many_processes_on_one_branch(seaweed: SeaweedServer, figure, write: str, commits: int) -> None:
    uri, options = f"s3://{seaweed.bucket()}/g.omni", seaweed.storage_options
    make(uri, options)
    started_s = time.perf_counter()
    told = race(uri, options, write, ["main"], commits)
    took_s = time.perf_counter() - started_s
    acknowledged = [commit for commit, *_ in told]
    assert len(set(acknowledged)) == WORKERS * commits
    fresh = reopen(uri, options)
    assert sorted(commit.id for commit in fresh.commits() if commit.operation != "init") == sorted(acknowledged)
    assert ids_of(fresh) == sorted(key for _, key, *_ in told)
    slowest_s, losses = max(one[2] for one in told), sum(one[3] for one in told)
    figure(
        f"{WORKERS} processes x {commits} {write}s to one branch on SeaweedFS: {took_s:.1f} s with their start, "
        f"slowest commit {slowest_s:.2f} s, races lost {losses}"
    )


def test_each_commit_adds_its_row_to_all_before_it(seaweed: SeaweedServer) -> None:
    uri, options = f"s3://{seaweed.bucket()}/g.omni", seaweed.storage_options
    make(uri, options)
    key_of = {commit: key for commit, key, *_ in race(uri, options, "append", ["main"], FEW_COMMITS)}
    fresh = reopen(uri, options)
    expected: set[str] = set()
    for commit in [commit for commit in fresh.commits() if commit.operation != "init"][::-1]:
        expected.add(key_of[commit.id])
        assert set(ids_of(fresh, commit=commit.id)) == expected


def test_processes_on_branches_of_their_own_never_lose_a_race(seaweed: SeaweedServer) -> None:
    uri, options = f"s3://{seaweed.bucket()}/g.omni", seaweed.storage_options
    repo = make(uri, options)
    names = [f"agent/{worker}" for worker in range(WORKERS)]
    for name in names:
        repo.create_branch(name)
    told = race(uri, options, "append", names, FEW_COMMITS)
    assert sum(losses for *_, losses in told) == 0
    for worker, name in enumerate(names):
        assert ids_of(repo, name) == [f"{worker:02}-{number:02}" for number in range(FEW_COMMITS)]
    assert ids_of(repo) == []
