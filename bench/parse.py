"""How fast records become rows, on one core: `python -m bench.parse`."""

from __future__ import annotations

import time
from collections.abc import Callable

import orjson

from omnigraph.model.clock import SystemIds
from omnigraph.schema import compile_schema
from omnigraph.write.batches import SLICE_LINES, read_batches
from omnigraph.write.ids import fresh_ids
from omnigraph.write.records import parse_lines

COUNT = 200_000
RUNS = 5
CHUNK_LINES = 50_000

SCHEMA = """
node Person { name: String @key age: I32? score: F64 born: Date active: Bool }
edge Knows: Person -> Person { since: DateTime? weight: F64? }
"""


def node_line(number: int) -> bytes:
    born = f"{1950 + number % 60}-0{1 + number % 9}-1{number % 10}"
    data = {
        "name": f"person-{number}",
        "age": number % 90,
        "score": number / 7,
        "born": born,
        "active": number % 2 == 0,
    }
    return orjson.dumps({"type": "Person", "data": data})


def edge_line(number: int) -> bytes:
    data = {"since": "2020-01-01T00:00:00Z", "weight": number / 3}
    ends = {"from": f"person-{number}", "to": f"person-{number * 7 % COUNT}"}
    return orjson.dumps({"edge": "Knows", **ends, "data": data})


def bare_edge_line(number: int) -> bytes:
    ends = {"from": f"person-{number}", "to": f"person-{number * 7 % COUNT}"}
    return orjson.dumps({"edge": "Knows", **ends, "data": {}})


def main() -> None:
    catalog = compile_schema(SCHEMA)
    new_ids = fresh_ids(SystemIds())

    def parse(lines: list[bytes]) -> int:
        done = 0
        for start in range(0, len(lines), SLICE_LINES):
            parsed = parse_lines(lines[start : start + SLICE_LINES], start + 1, catalog)
            done += sum(map(len, parsed.tables.values()))
        return done

    def load(lines: list[bytes]) -> int:
        done = 0
        for start in range(0, len(lines), CHUNK_LINES):
            batches = read_batches(lines[start : start + CHUNK_LINES], start + 1, catalog, new_ids=new_ids)
            batches.violations.raise_if_any()
            done += sum(map(len, batches.tables.values()))
        return done

    shapes: dict[str, Callable[[int], bytes]] = {
        "nodes, 5 properties": node_line,
        "edges, 2 properties": edge_line,
        "edges, none": bare_edge_line,
    }
    for name, line in shapes.items():
        lines = [line(number) for number in range(COUNT)]
        for what, act in (("parse", parse), ("parse and rows", load)):
            best_s = min(_seconds(act, lines) for _ in range(RUNS))
            print(f"{name:<22}{what:<16}{COUNT / best_s:>12,.0f} lines/s")


def _seconds(act: Callable[[list[bytes]], int], lines: list[bytes]) -> float:
    started_s = time.perf_counter()
    assert act(lines) == COUNT
    return time.perf_counter() - started_s


if __name__ == "__main__":
    main()
