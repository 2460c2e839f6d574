"""Load on a server over loopback: clients that read and write, their times, and what is left after `kill -9`."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

import omnigraph as og

SCHEMA = "node Person {\n    name: String @key\n    age: I32?\n}\n\nedge Knows: Person -> Person\n"
INSERT = "query add($name: String, $age: I32?) { insert Person { name: $name, age: $age } }"
READ = "query friends($name: String) { match { $p: Person { name: $name } $p knows $q } return { $q.name, $q.age } }"
DOCUMENTED = {200, 400, 404, 409, 413, 429}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--writes", type=float, default=0.2, help="share of requests that write")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = run(Path(folder), given.clients, given.seconds, given.writes)
    print(json.dumps(report, indent=2))


def run(folder: Path, clients: int, seconds: float, writes: float) -> dict[str, object]:
    people(folder / "g.omni", 1000)
    server, url = start(folder)
    alone, together = inserts(url, 1, 20), inserts(url, 8, 20)
    stop_at = time.monotonic() + seconds
    results = [Client(n) for n in range(clients)]
    threads = [threading.Thread(target=one.work, args=(url, stop_at, writes)) for one in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    server.stdout.close()
    acknowledged = {name for one in results for name in one.acknowledged}
    found = og.open(folder / "g.omni").query("query q() { match { $p: Person } return { $p.name } }")
    lost = acknowledged - {row["p.name"] for row in found}
    statuses: dict[int, int] = {}
    for one in results:
        for status, count in one.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    return {
        "clients": clients,
        "requests_per_s": round(sum(statuses.values()) / seconds),
        "read_ms": times([t for one in results for t in one.reads_s]),
        "write_ms": times([t for one in results for t in one.writes_s]),
        "statuses": statuses,
        "undocumented": sum(count for status, count in statuses.items() if status not in DOCUMENTED),
        "acknowledged": len(acknowledged),
        "lost_after_kill": len(lost),
        "8_inserters_against_1": round(together / alone, 2),
    }


class Client:
    """One client: reads mostly, writes sometimes."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.reads_s: list[float] = []
        self.writes_s: list[float] = []
        self.statuses: dict[int, int] = {}
        self.acknowledged: list[str] = []

    def work(self, url: str, stop_at: float, writes: float) -> None:
        dice = random.Random(self.number)
        with httpx.Client(base_url=url, timeout=60) as http:
            while time.monotonic() < stop_at:
                if dice.random() < writes:
                    self.write(http)
                else:
                    self.read(http, dice.randrange(1000))

    def read(self, http: httpx.Client, person: int) -> None:
        body = {"query": READ, "params": {"name": f"p{person}"}}
        self.reads_s.append(self.timed(http, "/graphs/g/query", body)[1])

    def write(self, http: httpx.Client) -> None:
        name = f"c{self.number}-{len(self.writes_s)}"
        body = {"query": INSERT, "params": {"name": name, "age": 1}}
        status, took = self.timed(http, "/graphs/g/mutate", body)
        self.writes_s.append(took)
        if status == 200:
            self.acknowledged.append(name)

    def timed(self, http: httpx.Client, path: str, body: object) -> tuple[int, float]:
        started = time.perf_counter()
        status = http.post(path, json=body).status_code
        self.statuses[status] = self.statuses.get(status, 0) + 1
        return status, time.perf_counter() - started


def people(path: Path, count: int) -> None:
    graph = og.init(path, schema=SCHEMA)
    nodes = [{"type": "Person", "data": {"name": f"p{n}", "age": n % 90}} for n in range(count)]
    edges = [{"edge": "Knows", "from": f"p{n}", "to": f"p{(n * 7 + 1) % count}"} for n in range(count)]
    graph.load([*nodes, *edges])


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "omnigraph", "serve", "--graph", "g=g.omni", "--unauthenticated"]
    command += ["--bind", "127.0.0.1:0", "--log-level", "warning"]
    env = {**os.environ, "OMNIGRAPH_PER_ACTOR_INFLIGHT_MAX": "64"}
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=env)
    assert server.stdout is not None
    return server, "http://" + server.stdout.readline().strip().partition("=")[2]


def inserts(url: str, clients: int, each: int) -> float:
    def work(number: int) -> None:
        with httpx.Client(base_url=url, timeout=60) as http:
            for n in range(each):
                body = {"query": INSERT, "params": {"name": f"i{clients}-{number}-{n}"}}
                assert http.post("/graphs/g/mutate", json=body).status_code == 200

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def times(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds) or [0.0]
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * 1000, 1) for p in (50, 95, 99)}


if __name__ == "__main__":
    main()
