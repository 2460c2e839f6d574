"""What was acknowledged outlives the process; several servers write one graph; writers share commits."""

import signal
import threading
import time

import pytest

import omnigraph as og
from omnigraph.model.errors import Fenced, OmniGraphError
from tests.server.process import SCHEMA, ServerProcess
from tests.support.eventually import HANGS_S, eventually

INSERT = "query add($name: String) { insert Person { name: $name } }"
NAMES = "query names() { match { $p: Person } return { $p.name } }"


def insert_until_it_fails(url: str, prefix: str, acknowledged: list[str], enough: int) -> None:
    with og.connect(url, graph="g") as graph:
        for number in range(enough):
            name = f"{prefix}-{number}"
            try:
                graph.mutate(INSERT, params={"name": name})
            except OmniGraphError:
                return
            acknowledged.append(name)


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_S)
        assert not thread.is_alive()


def names_of(path) -> set[str]:
    return {row["p.name"] for row in og.open(path).query(NAMES)}


def test_a_killed_server_loses_nothing_it_acknowledged(tmp_path):
    og.init(tmp_path / "g.omni", schema=SCHEMA)
    acknowledged: list[list[str]] = [[] for _ in range(4)]
    with ServerProcess("--graph", "g=g.omni", "--unauthenticated", folder=tmp_path) as server:
        threads = [
            threading.Thread(target=insert_until_it_fails, args=(server.url, str(n), acknowledged[n], 10_000))
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        eventually(lambda: sum(map(len, acknowledged)) >= 20)
        server.stop(signal.SIGKILL)
        for thread in threads:
            thread.join(HANGS_S)
    said = {name for one in acknowledged for name in one}
    assert said <= names_of(tmp_path / "g.omni")
    assert len(names_of(tmp_path / "g.omni")) <= len(said) + 4


def test_a_server_that_is_told_to_stop_finishes_what_it_began(tmp_path):
    og.init(tmp_path / "g.omni", schema=SCHEMA)
    acknowledged: list[str] = []
    with ServerProcess("--graph", "g=g.omni", "--unauthenticated", folder=tmp_path) as server:
        thread = threading.Thread(target=insert_until_it_fails, args=(server.url, "n", acknowledged, 10_000))
        thread.start()
        eventually(lambda: len(acknowledged) >= 3)
        assert server.stop(signal.SIGTERM) in (0, -signal.SIGTERM)
        thread.join(HANGS_S)
    assert set(acknowledged) <= names_of(tmp_path / "g.omni")


def test_two_servers_write_one_graph(tmp_path):
    og.init(tmp_path / "g.omni", schema=SCHEMA)
    acknowledged: list[list[str]] = [[] for _ in range(4)]
    started = ("--graph", "g=g.omni", "--unauthenticated")
    (tmp_path / "other").mkdir()
    with (
        ServerProcess(*started, folder=tmp_path) as one,
        ServerProcess("--graph", f"g={tmp_path / 'g.omni'}", "--unauthenticated", folder=tmp_path / "other") as other,
    ):
        urls = [one.url, other.url] * 2
        run_all(
            [
                threading.Thread(target=insert_until_it_fails, args=(urls[n], str(n), acknowledged[n], 6))
                for n in range(4)
            ]
        )
        assert sum(map(len, acknowledged)) == 24
        for url in (one.url, other.url):
            with og.connect(url, graph="g") as graph:
                assert len(graph.query(NAMES)) == 24
                assert len(graph.commits.list()) == 25


def test_a_fence_shuts_a_server_out_until_it_is_restarted(tmp_path):
    """Opening again by itself would make the fence of an operator worth nothing; reads do no harm."""
    own = og.init(tmp_path / "g.omni", schema=SCHEMA)
    started = ("--graph", "g=g.omni", "--unauthenticated")
    with ServerProcess(*started, folder=tmp_path) as server:
        client = server.client()
        client.post("/mutate", {"query": INSERT, "params": {"name": "before"}})
        own.repository.raise_epoch()
        for _ in range(2):
            refused = client.post("/mutate", {"query": INSERT, "params": {"name": "shut out"}}, 503)
            assert refused["fence"] == {"opened_at": 0, "current": 1}
            assert "restarted" in refused["error"]
        with og.connect(server.url, graph="g") as graph:
            with pytest.raises(Fenced):
                graph.load([{"type": "Person", "data": {"name": "shut out"}}])
            assert graph.query(NAMES).rows == [{"p.name": "before"}]
        assert b'kind="Fenced"' in client.flat("GET", "/metrics").content
    with ServerProcess(*started, folder=tmp_path) as server:
        server.client().post("/mutate", {"query": INSERT, "params": {"name": "after"}})
    assert names_of(tmp_path / "g.omni") == {"before", "after"}


def test_writers_at_once_share_what_a_commit_costs(tmp_path, figure):
    """Eight clients with one row each: what waits is published together, in fewer entries than there are commits.

    How much time that saves says bench/serve.py; here it is a figure, because the machine may have other things to do.
    """
    og.init(tmp_path / "g.omni", schema=SCHEMA)
    chain = tmp_path / "g.omni" / "__manifest" / "main"
    with ServerProcess("--graph", "g=g.omni", "--unauthenticated", "--log-level", "warning", folder=tmp_path) as server:

        def timed(clients: int, each: int, prefix: str) -> float:
            lists: list[list[str]] = [[] for _ in range(clients)]
            threads = [
                threading.Thread(target=insert_until_it_fails, args=(server.url, f"{prefix}{n}", lists[n], each))
                for n in range(clients)
            ]
            started = time.perf_counter()
            run_all(threads)
            took = time.perf_counter() - started
            assert sum(map(len, lists)) == clients * each
            return took

        alone = timed(1, 10, "alone")
        before = len(list(chain.iterdir()))
        together = timed(8, 10, "together")
        entries = len(list(chain.iterdir())) - before
        figure(f"80 rows of 8 clients: {entries} entries, {together / alone:.1f} times as long as 10 rows of one")
        assert entries < 80
