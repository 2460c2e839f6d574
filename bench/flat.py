"""Memory of a query with a selective filter over rows that no index covers: `python -m bench.flat [ROWS]`.

A new process opens the graph and asks; four times the rows must not take much more memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.table import Table

import omnigraph as og
from bench.memory import PeakMemory
from bench.timing import add_line

ROWS = 250_000
BATCH = 50_000
TIMES = 4
BOUND = 1.2
SCHEMA = "node Note { slug: String @key  text: String  size: I64 }"
QUERIES = {
    "by text": 'match { $n: Note $n.text contains "number 77777 " } return { $n.slug as slug }',
    "by number": "match { $n: Note $n.size = 77777 } return { $n.slug as slug }",
    "by both, counted": 'match { $n: Note $n.text contains "77777" $n.size > 0 } return { count($n) as n }',
}


def make(place: Path, rows: int) -> None:
    """Rows of about 300 bytes."""
    graph = og.init(place, SCHEMA)
    for start in range(0, rows, BATCH):
        numbers = range(start, min(start + BATCH, rows))
        columns = {
            "slug": [f"n{number}" for number in numbers],
            "text": [f"this is number {number} " + "and then some " * 20 for number in numbers],
            "size": pa.array(numbers),
        }
        graph.load({"Note": pa.table(columns)}, mode="append")


def ask(place: str) -> None:
    """Ask everything, and print the peak."""
    graph = og.open(place)
    with PeakMemory() as memory:
        for text in QUERIES.values():
            assert len(graph.query(f"query q() {{ {text} }}").rows) == 1
    print(json.dumps(memory.peaks_mib["driver"]))


def main(rows: int) -> int:
    """Two sizes, in processes of their own."""
    peaks: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (rows, TIMES * rows):
            place = Path(folder, f"{count}.omni")
            make(place, count)
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "bench.flat", "--ask", str(place)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            peaks.append(json.loads(done.stdout))
    table = Table("what", "figures", "ratio", "bound", box=None)
    figures = f"{peaks[1]} MiB / {peaks[0]} MiB"
    line = f"selective filters over {TIMES * rows:,} rows / over {rows:,}", figures, peaks[1] / peaks[0], BOUND
    broken = add_line(table, line)
    Console(highlight=False).print(table)
    return int(broken)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        ask(sys.argv[2])
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
