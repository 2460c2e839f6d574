"""Loads of a social graph in process and on Spark, beside DuckDB + Lance without any checks, and Ladybug's COPY.

`python -m bench.load [--people 1000000 --edges 3000000]`: every lane runs in a process of its own, so that its peaks of
memory are its own: of this Python, of Java, and of the largest Python worker.

`--grow` loads on Spark what is asked for and four times as much, and shows by how much each peak grew.
`--lanes spark --people 1000000 --edges 20000000 --java 2g` shows that a load larger than its memory goes through.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench.memory import ROLES, PeakMemory
from bench.tour import person

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = """
node Person { name: String @key  age: I32? }
edge Follows: Person -> Person { since: Date? }
"""
JAVA = "BENCH_JAVA_MEMORY"
console = Console(highlight=False)


def write_lines(path: Path, people: int, edges: int) -> int:
    """People, and edges between them."""
    with path.open("w") as file:
        for number in range(people):
            file.write(f'{{"type":"Person","data":{{"name":"{person(number)}","age":{number % 90}}}}}\n')
        for number in range(edges):
            one, other = person(number * 7919 % people), person((number * 104_729 + number // people) % people)
            file.write(f'{{"edge":"Follows","from":"{one}","to":"{other}","data":{{"since":"2020-01-02"}}}}\n')
    return people + edges


# -- lanes -------------------------------------------------------------------------------------------------


def local(folder: Path, data: Path) -> float:
    return _omnigraph(folder, data, "local")


def spark(folder: Path, data: Path) -> float:
    """Warm: a first load has started the session and its workers."""
    from omnigraph.pipeline.config import SparkConfig
    from omnigraph.pipeline.session import spark_session

    spark_session(config=SparkConfig(conf={"spark.driver.memory": os.environ.get(JAVA, "4g")}))
    few = folder / "few.jsonl"
    few.write_text('{"type":"Person","data":{"name":"x"}}\n')
    _omnigraph(folder / "warm", few, "spark")
    return _omnigraph(folder, data, "spark")


def _omnigraph(folder: Path, data: Path, engine: str) -> float:
    import omnigraph as og

    graph = og.init(folder / "graph.omni", SCHEMA)
    started_s = time.perf_counter()
    graph.load(data, mode="append", engine=engine)
    return time.perf_counter() - started_s


def raw(folder: Path, data: Path) -> float:
    """DuckDB reads JSON, Lance writes two tables; nothing is checked, not even that ids are there once."""
    import duckdb
    import lance

    started_s = time.perf_counter()
    connection = duckdb.connect()
    columns = "{'type': 'VARCHAR', 'edge': 'VARCHAR', 'from': 'VARCHAR', 'to': 'VARCHAR', 'data': 'JSON'}"
    read = f"FROM read_json('{data}', format='newline_delimited', columns={columns})"
    people = f"SELECT data->>'name' AS id, id AS name, (data->>'age')::INT AS age {read} WHERE type IS NOT NULL"
    ends = 'uuid()::VARCHAR AS id, "from" AS src, "to" AS dst'
    follows = f"SELECT {ends}, (data->>'since')::DATE AS since {read} WHERE edge IS NOT NULL"
    for name, query in {"people": people, "follows": follows}.items():
        lance.write_dataset(connection.sql(query).to_arrow_reader(100_000), str(folder / f"{name}.lance"))
    return time.perf_counter() - started_s


def ladybug(folder: Path, data: Path) -> float:
    """COPY from CSV files, which are made before the clock starts: it reads no mixed lines."""
    import ladybug as lb

    with data.open() as lines, (folder / "p.csv").open("w") as people, (folder / "f.csv").open("w") as follows:
        for line in lines:
            record = json.loads(line)
            if "edge" in record:
                follows.write(f"{record['from']},{record['to']},{record['data']['since']}\n")
            else:
                people.write(f"{record['data']['name']},{record['data']['age']}\n")
    connection = lb.Connection(lb.Database(str(folder / "db")))
    connection.execute("CREATE NODE TABLE Person(name STRING, age INT32, PRIMARY KEY(name))")
    connection.execute("CREATE REL TABLE Follows(FROM Person TO Person, since DATE)")
    started_s = time.perf_counter()
    connection.execute(f"COPY Person FROM '{folder}/p.csv'")
    connection.execute(f"COPY Follows FROM '{folder}/f.csv'")
    return time.perf_counter() - started_s


LANES: dict[str, Callable[[Path, Path], float]] = {"raw": raw, "local": local, "spark": spark, "ladybug": ladybug}


@dataclass(frozen=True)
class Run:
    """What a lane took."""

    seconds: float
    peaks_mib: dict[str, int]

    def peaks(self) -> list[str]:
        """As cells of a table."""
        return [f"{self.peaks_mib[role]:,}" if role in self.peaks_mib else "" for role in ROLES]


def run_lane(name: str, data: Path, java: str) -> Run:
    """A lane in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.load", "--lane", name, "--data", str(data)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {JAVA: java},
    )
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def in_lane(name: str, data: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, PeakMemory() as memory:
        place = Path(folder)
        (place / "warm").mkdir()
        seconds = LANES[name](place, data)
    print(json.dumps({"seconds": seconds, "peaks_mib": memory.peaks_mib}))


def compare(given: argparse.Namespace, folder: Path) -> Table:
    """Lanes beside each other."""
    table = Table("lane", "seconds", "rows/s", "× raw", *(f"{role} MiB" for role in ROLES), box=None)
    data = folder / "data.jsonl"
    rows = write_lines(data, given.people, given.edges)
    console.print(f"{rows:,} rows, {data.stat().st_size >> 20} MiB of JSON")
    base = 0.0
    for name in given.lanes:
        run = run_lane(name, data, given.java)
        base = run.seconds if name == "raw" else base
        times = f"{run.seconds / base:.2f}" if base else ""
        table.add_row(name, f"{run.seconds:.2f}", f"{rows / run.seconds:,.0f}", times, *run.peaks())
    return table


def grow(given: argparse.Namespace, folder: Path) -> Table:
    """How much more memory four times the input takes."""
    table = Table("rows", "seconds", *(f"{role} MiB" for role in ROLES), box=None)
    runs: list[Run] = []
    for times in (1, 4):
        data = folder / f"{times}.jsonl"
        rows = write_lines(data, times * given.people, times * given.edges)
        runs.append(run_lane("spark", data, given.java))
        table.add_row(f"{rows:,}", f"{runs[-1].seconds:.2f}", *runs[-1].peaks())
    ratios = [f"{runs[1].peaks_mib[role] / runs[0].peaks_mib[role]:.2f}" for role in ROLES]
    table.add_row("× 4", f"{runs[1].seconds / runs[0].seconds:.2f}", *ratios)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=300_000)
    parser.add_argument("--lanes", nargs="+", choices=LANES, default=list(LANES))
    parser.add_argument("--java", default="4g", help="how much memory Java may take")
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--lane", choices=LANES, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lane is not None:
        in_lane(given.lane, given.data)
        return
    with tempfile.TemporaryDirectory() as folder:
        table = grow(given, Path(folder)) if given.grow else compare(given, Path(folder))
    console.print(table)


if __name__ == "__main__":
    main()
