"""Speed as ratios within one run: `make bench`. Each line says what must hold; a broken bound ends with an error."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pyarrow as pa
from rich.console import Console
from rich.table import Table

import omnigraph as og
from bench import languages
from bench.latency import local_floor, round_trips
from bench.timing import Line, add_line, timed_ms

SCHEMA = "node Person {\n    name: String @key\n    age: I32?\n}\n"
PERSON = "node:Person"
DEPTH = 600


def append(*names: str):
    def prepare(txn):
        rows = [{"id": name, "name": name, "age": None} for name in names]
        txn.append(PERSON, pa.Table.from_pylist(rows, txn.table(PERSON).schema))
        return txn.plan("append")

    return prepare


def milliseconds(act: Callable[[], object], times: int) -> float:
    return median(timed_ms(act, times))


class Names:
    """New names without end."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        return f"n{self.count}"


def commits(folder: Path) -> list[Line]:
    name = Names()
    g = og.init(folder / "depth.omni", SCHEMA)
    g.write(append(name()))
    shallow = milliseconds(lambda: g.write(append(name())), 60)
    while name.count < DEPTH:
        g.write(append(name()))
    deep = milliseconds(lambda: g.write(append(name())), 60)
    first = g.commits.list()[-1].id
    now = milliseconds(lambda: og.open(g.uri).snapshot().table(PERSON), 20)
    then = milliseconds(lambda: og.open(g.uri).snapshot(commit=first).table(PERSON), 20)
    rows = [f"bulk{number}" for number in range(10_000)]
    bulk = milliseconds(lambda: og.init(folder / f"bulk{name()}.omni", SCHEMA).write(append(*rows)), 3)
    return [
        ("append at depth 600 / at depth 1", f"{deep:.1f} ms / {shallow:.1f} ms", deep / shallow, 2.0),
        ("open the first commit / the newest", f"{then:.1f} ms / {now:.1f} ms", then / now, 4.0),
        ("10,000 rows in one commit / one row", f"{bulk:.1f} ms / {deep:.1f} ms", bulk / deep, 60.0),
    ]


def branches(folder: Path) -> list[Line]:
    name = Names()
    few = og.init(folder / "few.omni", SCHEMA)
    many = og.init(folder / "many.omni", "".join(f"node T{n} {{\n    name: String @key\n}}\n" for n in range(100)))
    one = milliseconds(lambda: few.branches.create(name()), 40)
    hundred = milliseconds(lambda: many.branches.create(name()), 40)
    return [("branch with 100 tables / with 1", f"{hundred:.1f} ms / {one:.1f} ms", hundred / one, 4.0)]


def main() -> int:
    table = Table("what", "figures", "ratio", "bound", box=None)
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for measure in (commits, branches, local_floor) for line in measure(Path(folder))]
    broken = [add_line(table, line) for line in (*lines, *round_trips())]
    Console(highlight=False).print(table)
    languages.main()
    return 1 if any(broken) else 0


if __name__ == "__main__":
    sys.exit(main())
