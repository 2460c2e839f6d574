"""A social network, beside Ladybug and plain DuckDB: `python -m bench.social [PEOPLE FOLLOWS [FOLDER]]`.

Every engine answers in a process of its own, over its own files on the same disk. Answers have to be equal. Ratios
are ours to theirs: below 1 we are faster. `cold` is a new process that opens the database and asks once.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.social_data import make_graph, make_tables, write_parquet
from bench.social_queries import QUESTIONS, SOCIAL

ENGINES = ("ours", "ladybug", "duckdb")
COLD_RUNS = 3
COLD_FASTER_MIN = 7
console = Console(highlight=False)
Answers = dict[str, dict[str, Any]]


def prepare(folder: Path, people: int, follows: int) -> None:
    """Make the data and load it into every engine, unless the folder has it."""
    if (folder / "ready").exists():
        return
    folder.mkdir(exist_ok=True)
    tables = make_tables(people, follows)
    write_parquet(folder / "parquet", tables)
    loads = {"ours": lambda: make_graph(folder / "graph.omni", tables)}
    for engine in ("ladybug", "duckdb"):
        loads[engine] = lambda engine=engine: run(engine, folder, "load")
    for engine, load in loads.items():
        started_s = time.perf_counter()
        load()
        console.print(f"{engine} loaded in {time.perf_counter() - started_s:.1f} s")
    (folder / "ready").touch()


def run(engine: str, folder: Path, mode: str, *numbers: int) -> Answers:
    """Ask an engine in a new process."""
    command = [sys.executable, "-m", "bench.social_engines", engine, str(folder), mode, *map(str, numbers)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{engine} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def cold(engine: str, folder: Path) -> Answers:
    """Each question in a process of its own, the best of several."""
    found: Answers = {}
    for number, question in enumerate(QUESTIONS):
        runs = [run(engine, folder, "cold", number)[question.name] for _ in range(COLD_RUNS)]
        found[question.name] = min(runs, key=lambda each: each["ms"])
    return found


def compare(title: str, answers: dict[str, Answers]) -> tuple[int, bool]:
    """Print times and ratios; how many of the nine we answer faster than Ladybug, and whether answers differ."""
    table = Table(title, "ours ms", "ladybug ms", "duckdb ms", "/ ladybug", "/ duckdb", box=None)
    faster, differ = 0, False
    for question in QUESTIONS:
        each = {engine: answers[engine][question.name] for engine in ENGINES}
        same = all(one["rows"] == each["ours"]["rows"] for one in each.values())
        differ |= not same
        ms = [each[engine]["ms"] for engine in ENGINES]
        ratio = ms[0] / ms[1]
        faster += question in SOCIAL and ratio < 1
        style = "" if same and ratio < 1 else "red"
        name = question.name if same else f"{question.name}: ANSWERS DIFFER"
        table.add_row(name, *(f"{one:.2f}" for one in ms), f"{ratio:.2f}", f"{ms[0] / ms[2]:.2f}", style=style)
    console.print(table)
    console.print(f"{title}: faster than Ladybug on {faster} of {len(SOCIAL)}")
    return faster, differ


def main(people: int = 100_000, follows: int = 2_400_000, where: str | None = None) -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(where or temporary)
        prepare(folder, people, follows)
        every = range(len(QUESTIONS))
        warm_faster, differ = compare("warm", {engine: run(engine, folder, "warm", *every) for engine in ENGINES})
        cold_faster, differ_cold = compare("cold", {engine: cold(engine, folder) for engine in ENGINES})
    broken = differ or differ_cold or warm_faster < len(SOCIAL) or cold_faster < COLD_FASTER_MIN
    return 1 if broken else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(*(int(one) for one in given[:2]), *given[2:]))
