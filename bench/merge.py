"""What a merge costs beside the bare append of the same rows, and a small one in graphs of several sizes.

`python -m bench.merge`: both sides have changed, so nothing is a fast-forward; who merges has just opened the graph.
The largest graphs were optimized: their fragments are asked through indexes, for a few rows of a million.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import lance
import pyarrow as pa
from lance import LanceDataset, LanceOperation
from lance.fragment import write_fragments
from rich.console import Console
from rich.table import Table

import omnigraph as og
from bench.timing import Line, add_line

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = "node Person {\n    name: String @key\n    age: I32?\n    city: String?\n    score: F64?\n}\n"
INSERTED = 100_000
TIMES = 5
APPEND_BOUND = 3.0
SIZE_BOUND = 3.0
SMALL, LARGE = 100_000, 1_000_000
REQUESTS_BOUND = 1.25
BYTES_BOUND = 2.0


def people(start: int, count: int) -> pa.Table:
    numbers = range(start, start + count)
    return pa.table(
        {
            "name": [f"p{number:09d}" for number in numbers],
            "age": pa.array((number % 90 for number in numbers), pa.int32()),
            "city": [f"a city with the number {number % 1000}" for number in numbers],
            "score": pa.array((number / 7 for number in numbers), pa.float64()),
        }
    )


def seconds(act: Callable[[], object]) -> float:
    started_s = perf_counter()
    act()
    return perf_counter() - started_s


def bare_append(folder: Path, rows: pa.Table) -> float:
    """Write the rows and make the version that has them: what any merge has to beat."""
    whole = rows.add_column(0, "id", rows.column("name"))
    dataset = lance.write_dataset(whole.slice(0, 1), str(folder / "bare.lance"), enable_stable_row_ids=True)

    def append() -> None:
        fragments = write_fragments(whole, dataset, mode="append", enable_stable_row_ids=True)
        LanceDataset.commit(dataset, LanceOperation.Append(fragments), read_version=dataset.version, detached=True)

    return median(seconds(append) for _ in range(TIMES))


def merges(folder: Path, base: int, inserted: int, *, beside: bool) -> float:
    """Merge a branch with so many new rows. `beside`: main has changed the same table; else only another commit."""
    graph = og.init(folder / f"{base}-{inserted}-{beside}.omni", SCHEMA + "node Other {\n    name: String @key\n}\n")
    graph.load({"Person": people(0, base)}, mode="append")
    took: list[float] = []
    for number in range(TIMES):
        branch = f"work{number}"
        graph.branches.create(branch)
        rows = people(base + (number + 1) * INSERTED, inserted)
        graph.load({"Person": rows}, mode="append", branch=branch)
        change = (
            'update Person set { age: 1 } where name = "p000000001"'
            if beside
            else f'insert Other {{ name: "{number}" }}'
        )
        graph.mutate(f"query q() {{ {change.replace('age: 1', f'age: {number}')} }}")
        fresh = og.open(graph.uri)
        fresh.snapshot()
        took.append(seconds(lambda fresh=fresh, branch=branch: fresh.branches.merge(branch)))
    return median(took)


def knows(start: int, count: int, targets: int) -> pa.Table:
    numbers = range(start, start + count)
    return pa.table(
        {
            "id": [f"k{number:09d}" for number in numbers],
            "from": [f"p{number % targets:09d}" for number in numbers],
            "to": [f"p{(number * 7919) % targets:09d}" for number in numbers],
        }
    )


def fork(graph: og.Graph, number: int, size: int) -> str:
    """A branch that changed three people and added three and four edges, beside two changes on main."""
    branch, at = f"work{number}", 5_000 * (number + 1)
    graph.branches.create(branch)
    changed = pa.concat_tables([people(at, 3), people(size + at, 3)])
    ages = pa.array([120 + number] * changed.num_rows, pa.int32())
    graph.load({"Person": changed.set_column(1, "age", ages)}, mode="merge", branch=branch)
    graph.load({"Knows": knows(size + at, 4, size)}, mode="append", branch=branch)
    graph.mutate(f'query q() {{ update Person set {{ age: {number} }} where name = "p000000007" }}')
    graph.load({"Knows": knows(2 * size + at, 1, size)}, mode="append")
    return branch


def asked(folder: Path, size: int) -> list[tuple[int, int, float]]:
    """Merge ten entities into an optimized graph, cold and again in the same process: requests, bytes, seconds."""
    graph = og.init(folder / f"{size}-optimized.omni", SCHEMA + "edge Knows: Person -> Person\n")
    graph.load({"Person": people(0, size)}, mode="append")
    graph.load({"Knows": knows(0, size, size)}, mode="append")
    graph.optimize()
    branches = [fork(graph, number, size) for number in range(2)]
    fresh = og.open(graph.uri)
    found: list[tuple[int, int, float]] = []
    for branch in branches:
        with fresh.meter() as meter:
            took = seconds(lambda branch=branch: fresh.branches.merge(branch))
        found.append((meter.requests, meter.bytes, took))
    return found


def asked_lines(folder: Path) -> list[Line]:
    """What a merge of ten entities asks of the store, in two optimized graphs."""
    found: list[Line] = []
    for state, small, large in zip(("cold", "warm"), asked(folder, SMALL), asked(folder, LARGE), strict=True):
        what = f"merge 10 entities into {LARGE:,} optimized / into {SMALL:,}, {state}"
        times = f"{large[2] * 1000:.0f} ms / {small[2] * 1000:.0f} ms"
        found.append((f"{what}: requests", f"{large[0]} / {small[0]}; {times}", large[0] / small[0], REQUESTS_BOUND))
        found.append((f"{what}: bytes", f"{large[1]:,} / {small[1]:,}", large[1] / small[1], BYTES_BOUND))
    return found


def lines(folder: Path) -> list[Line]:
    bare = bare_append(folder, people(0, INSERTED))
    found: list[Line] = []
    for beside, what in ((False, "ours has not touched"), (True, "ours has changed")):
        took = merges(folder, 1_000, INSERTED, beside=beside)
        figures = f"{took * 1000:.0f} ms / {bare * 1000:.0f} ms"
        found.append((f"merge 100,000 rows into a table {what} / bare append", figures, took / bare, APPEND_BOUND))
    small, large = (merges(folder, base, 10, beside=True) for base in (1_000, 300_000))
    figures = f"{large * 1000:.0f} ms / {small * 1000:.0f} ms"
    found.append(("merge 10 rows into 300,000 / into 1,000", figures, large / small, SIZE_BOUND))
    return [*found, *asked_lines(folder)]


def main() -> int:
    """Print the figures; an error if a bound is broken."""
    table = Table("what", "figures", "ratio", "bound", box=None)
    with tempfile.TemporaryDirectory() as folder:
        broken = [add_line(table, line) for line in lines(Path(folder))]
    Console(highlight=False).print(table)
    return 1 if any(broken) else 0


if __name__ == "__main__":
    sys.exit(main())
