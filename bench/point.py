"""Looking up a node and following its edges on a graph of a million edges, beside a bare probe of Lance's index.

`python -m bench.point [EDGES]`: with indexes built, warm. Each query is of another node, so that nothing is answered
from what the last one read.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

import omnigraph as og
from bench.social_data import make_graph, make_tables
from bench.timing import Line, add_line, timed_ms
from omnigraph.execute.cache import shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = 40
BOUND = 3.0
LOOKUP = "query q($id: String) { match { $p: Person { pid: $id } } return { $p.name as name, $p.age as age } }"
EXPAND = "query q($id: String) { match { $p: Person { pid: $id } $p follows $f } return { $f.@id as id } }"


def measured(graph: og.Graph, people: int) -> list[Line]:
    """Our queries in turns with the bare probes, so that both meet the same noise."""
    snapshot = graph.snapshot()
    nodes, edges = (snapshot.table(key).dataset for key in ("node:Person", "edge:Follows"))
    numbers = count()

    def some() -> str:
        return f"p{next(numbers) * 7919 % people:07}"

    def probe(dataset: Any, column: str, columns: list[str]) -> Callable[[], object]:
        return lambda: dataset.scanner(columns=columns, filter=f"{column} = '{some()}'").to_table()

    pairs = [
        ("point lookup", LOOKUP, probe(nodes, "id", ["name", "age"])),
        ("1-hop expand", EXPAND, probe(edges, "src", ["dst"])),
    ]
    lines: list[Line] = []
    for what, text, bare in pairs:
        ours_ms: list[float] = []
        bare_ms: list[float] = []
        for _ in range(TIMES):
            ours_ms += timed_ms(lambda text=text: graph.query(text, params={"id": some()}), 1)
            bare_ms += timed_ms(bare, 1)
        ratio = median(ours_ms) / median(bare_ms)
        lines.append((f"{what} / bare probe", f"{median(ours_ms):.2f} ms / {median(bare_ms):.2f} ms", ratio, BOUND))
    return lines


def main(edges: int = 1_000_000) -> int:
    people = edges // 10
    table = Table("what", "figures", "ratio", "bound", box=None)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "graph.omni"
        make_graph(folder, make_tables(people, edges))
        graph = og.open(folder)
        graph.optimize()
        shared_cache().clear()
        broken = [add_line(table, line) for line in measured(graph, people)]
    Console(highlight=False).print(table)
    return 1 if any(broken) else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
