"""Ctrl-C while an engine computes: real processes that get the signal."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import omnigraph as og
from omnigraph.execute.apart import interruptibly

KICK = """
import os, signal, sys, threading, time
from omnigraph.execute import apart, engine

def busy_then_interrupted(work, interrupt):
    def kick():
        began = time.process_time()
        while time.process_time() - began < 0.2:  # it is under way
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=kick, daemon=True).start()
    return apart.interruptibly(work, interrupt)

engine.interruptibly = busy_then_interrupted
"""
ENDLESS = "SELECT count(*) FROM range(1000000000000) AS many(n), range(1000000) AS more(m) GROUP BY hash(n + m) % 7"
STATEMENT = f"""
try:
    engine.run({ENDLESS!r}, {{}}, {{}})
except KeyboardInterrupt:
    print("stopped")
engine.interruptibly = apart.interruptibly
print(engine.run("SELECT 1 AS one", {{}}, {{}}).to_pylist())
"""
DEAF = """
began, ended = threading.Event(), threading.Event()
def deaf():
    began.set()
    ended.wait()
def kick():
    began.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=kick, daemon=True).start()
try:
    apart.interruptibly(deaf, lambda: None)
except KeyboardInterrupt:
    print("left behind")
print(engine.run("SELECT 1 AS one", {}, {}).to_pylist())
"""
COMMAND = """
from omnigraph.cli.app import main
main()
"""
SLOW = "query q() { match { $a: N $b: N $a.x * $b.x % 1000003 = -5 } return { $a.name, $b.name } limit 1 }"


def process(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_a_statement_stops_and_the_next_one_runs() -> None:
    done = process(KICK + STATEMENT)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["stopped", "[{'one': 1}]"]), done.stderr


def test_what_does_not_stop_is_left_behind() -> None:
    done = process("import os, signal, threading\nfrom omnigraph.execute import apart, engine\n" + DEAF)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["left behind", "[{'one': 1}]"]), done.stderr


def test_a_command_ends_as_interrupted_programs_do(tmp_path: Path) -> None:
    graph = og.init(tmp_path / "g.omni", "node N { name: String @key  x: I64 }")
    graph.load(({"type": "N", "data": {"name": f"n{n}", "x": n}} for n in range(60_000)), mode="append")
    done = process(KICK + COMMAND, "query", "--query-string", SLOW, "--uri", graph.uri)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr


def test_results_and_errors_come_back() -> None:
    assert interruptibly(lambda: threading.current_thread(), lambda: None) is not threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 // 0, lambda: None)


def test_other_threads_do_their_work_themselves() -> None:
    with ThreadPoolExecutor(1) as pool:
        here = pool.submit(threading.current_thread).result()
        assert pool.submit(lambda: interruptibly(threading.current_thread, lambda: None)).result() is here
