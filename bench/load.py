"""Loads of a social graph in process and on Spark, beside DuckDB + Lance without any checks, and Ladybug's COPY.

`python -m bench.load [--scale 0.1]`: 1 is a million people and three million edges. Every lane runs in a process of its
own, so that its peak of memory is its own; Spark's includes the workers it starts, but not Java.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench.tour import person

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = """
node Person { name: String @key  age: I32? }
edge Follows: Person -> Person { since: Date? }
"""
console = Console(highlight=False)


def write_lines(path: Path, people: int) -> int:
    """People, and three edges for each."""
    with path.open("w") as file:
        for number in range(people):
            file.write(f'{{"type":"Person","data":{{"name":"{person(number)}","age":{number % 90}}}}}\n')
        for number in range(3 * people):
            one, other = person(number * 7919 % people), person(number * 104_729 % people)
            file.write(f'{{"edge":"Follows","from":"{one}","to":"{other}","data":{{"since":"2020-01-02"}}}}\n')
    return 4 * people


# -- lanes -------------------------------------------------------------------------------------------------


def local(folder: Path, data: Path) -> float:
    return _omnigraph(folder, data, "local")


def spark(folder: Path, data: Path) -> float:
    """Warm: a first load has started the session and its workers."""
    from omnigraph.pipeline.config import SparkConfig
    from omnigraph.pipeline.session import spark_session

    spark_session(config=SparkConfig())
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


def run_lane(name: str, data: Path) -> tuple[float, int]:
    """Seconds, and the peak of memory in MiB, of a lane in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.load", "--lane", name, "--data", str(data)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["peak_mib"]


def in_lane(name: str, data: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "warm").mkdir()
        seconds = LANES[name](place, data)
    used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({"seconds": seconds, "peak_mib": used[0] // 1024}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--lane", choices=LANES)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    if given.lane is not None:
        in_lane(given.lane, given.data)
        return
    table = Table("lane", "seconds", "rows/s", "× raw", "peak MiB", box=None)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.jsonl"
        rows = write_lines(data, int(1_000_000 * given.scale))
        console.print(f"{rows:,} rows, {data.stat().st_size >> 20} MiB of JSON")
        base = 0.0
        for name in LANES:
            seconds, peak = run_lane(name, data)
            base = base or seconds
            table.add_row(name, f"{seconds:.2f}", f"{rows / seconds:,.0f}", f"{seconds / base:.2f}", f"{peak:,}")
    console.print(table)


if __name__ == "__main__":
    main()
