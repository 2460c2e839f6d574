"""What a write costs in time: round trips on a slow object store, and the bare floor on a local disk.

`python -m bench.latency`: delays are added to every request by a proxy before a real S3 server.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import lance
import obstore
import pyarrow as pa
from lance import LanceDataset, LanceOperation
from lance.fragment import write_fragments
from obstore.store import LocalStore
from rich.console import Console
from rich.table import Table
from tests.support import CountingProxy, SeaweedServer

import omnigraph as og
from bench.timing import Line, add_line, timed_ms

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = "node Person {\n    name: String @key\n    age: I32?\n}\n"
QUERY = "query add($name: String) { insert Person { name: $name } }"
DELAYS_MS = (50, 150)
DELAYS_BOUND = 5.0
EARLIER_S = 2.8
"""What the earlier system published for a one-row insert on an object store."""
FLOOR_BOUND = 3.0
WRITERS = 8
GROUP_BOUND = 3.0
"""The earlier system: 15."""
CHAIN_ENTRY = b"x" * 4096
NUMBERS = count()


def round_trips(times: int = 10) -> list[Line]:
    """A one-row insert when every request takes longer: its time in units of the added delay."""
    lines: list[Line] = []
    with SeaweedServer() as server, CountingProxy(server.endpoint) as proxy:
        graph = og.init(f"s3://{server.bucket()}/g.omni", SCHEMA, storage_options=proxy.storage_options)
        insert = inserts(graph)
        insert()
        for delay_ms in DELAYS_MS:
            proxy.latency_s = delay_ms / 1000
            with proxy.counting() as one, graph.meter() as meter:
                insert()
            took_ms = median(timed_ms(insert, times))
            figures = f"{took_ms:.0f} ms, {one.requests} requests in {meter.hops} hops; earlier {EARLIER_S} s"
            lines.append((f"one-row insert / +{delay_ms} ms a request", figures, took_ms / delay_ms, DELAYS_BOUND))
            figures, ratio = together(graph)
            lines.append((f"{WRITERS} writers at once / one, +{delay_ms} ms a request", figures, ratio, GROUP_BOUND))
        proxy.latency_s = 0.0
    return lines


def together(graph: og.Graph, each: int = 6) -> tuple[str, float]:
    """So many rows of each of several writers beside as many rows of one."""
    insert = inserts(graph)

    def write() -> None:
        for _ in range(each):
            insert()

    (alone_ms,) = timed_ms(write, 1)
    with ThreadPoolExecutor(WRITERS) as pool:
        started_s = time.perf_counter()
        for done in [pool.submit(write) for _ in range(WRITERS)]:
            done.result()
        together_ms = (time.perf_counter() - started_s) * 1000
    return f"{together_ms:.0f} ms / {alone_ms:.0f} ms", together_ms / alone_ms


def local_floor(folder: Path, times: int = 60) -> list[Line]:
    """A one-row insert on a local disk beside the least it can be: a file, a table version, an object of a chain."""
    insert = inserts(og.init(folder / "floor.omni", SCHEMA))
    bare = bare_writes(folder)
    for warm_up in (insert, bare):
        timed_ms(warm_up, 10)
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(times):  # in turns, so that both meet the same noise
        ours += timed_ms(insert, 1)
        floor += timed_ms(bare, 1)
    took_ms, floor_ms = median(ours), median(floor)
    figures = f"{took_ms:.2f} ms / {floor_ms:.2f} ms"
    return [("one-row insert / bare file, version, entry", figures, took_ms / floor_ms, FLOOR_BOUND)]


def inserts(graph: og.Graph) -> Callable[[], object]:
    """Insert a new person with every call."""
    return lambda: graph.mutate(QUERY, "add", {"name": f"p{next(NUMBERS)}"})


def bare_writes(folder: Path) -> Callable[[], object]:
    """The same files, written with nothing around them."""
    schema = pa.schema([pa.field("id", pa.string(), nullable=False), ("age", pa.int32()), ("name", pa.string())])
    (folder / "chain").mkdir()
    store = LocalStore(str(folder / "chain"))
    base = lance.write_dataset(schema.empty_table(), str(folder / "bare.lance"), enable_stable_row_ids=True)
    numbers = count()

    def write() -> None:
        name = f"p{next(numbers)}"
        rows = pa.table({"id": [name], "age": [None], "name": [name]}, schema=schema)
        fragments = write_fragments(rows, base, mode="append", enable_stable_row_ids=True)
        LanceDataset.commit(base, LanceOperation.Append(fragments), read_version=base.version, detached=True)
        obstore.put(store, name, CHAIN_ENTRY, mode="create")

    return write


def main() -> int:
    """Print both; an error if a bound is broken."""
    table = Table("what", "figures", "ratio", "bound", box=None)
    with tempfile.TemporaryDirectory() as folder:
        broken = [add_line(table, line) for line in (*round_trips(), *local_floor(Path(folder)))]
    Console(highlight=False).print(table)
    return 1 if any(broken) else 0


if __name__ == "__main__":
    sys.exit(main())
