"""One engine in a process of its own: `python -m bench.social_engines ENGINE FOLDER MODE NUMBER…` prints JSON.

`load` reads the tables into the engine's own files. `warm` runs each question several times and tells the median,
`cold` opens the database and runs a question for the first time. Loading the program is not counted: imports, and for
us the tables of the parser.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.social_data import SCHEMA
from bench.social_queries import QUESTIONS, Question

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    Ask = Callable[[Question], pa.Table]

NODES = ("Person", "City", "Country", "Interest")
EDGES = {
    "Follows": ("Person", "Person"),
    "LivesIn": ("Person", "City"),
    "InCountry": ("City", "Country"),
    "HasInterest": ("Person", "Interest"),
}
_COLUMNS = {
    "Person": "id STRING PRIMARY KEY, pid STRING, name STRING, age INT32, gender STRING",
    "City": "id STRING PRIMARY KEY, cid STRING, name STRING",
    "Country": "id STRING PRIMARY KEY, name STRING",
    "Interest": "id STRING PRIMARY KEY, name STRING",
}
WARM_S = 1.5
"""How long each question is repeated."""


def ours(folder: Path) -> Ask:
    import omnigraph as og

    graph = og.open(folder / "graph.omni")
    return lambda question: graph.query(question.gq, params=question.params).to_arrow()


def ladybug(folder: Path) -> Ask:
    import ladybug as lb

    connection = lb.Connection(lb.Database(str(folder / "ladybug.db")))

    def ask(question: Question) -> pa.Table:
        return connection.execute(question.cypher, question.params).get_as_arrow(100_000)

    return ask


def duckdb(folder: Path) -> Ask:
    import duckdb as db

    connection = db.connect(str(folder / "duck.db"))
    return lambda question: connection.sql(question.sql, params=question.params or None).to_arrow_table()


ENGINES: dict[str, Callable[[Path], Ask]] = {"ours": ours, "ladybug": ladybug, "duckdb": duckdb}


def load_ladybug(folder: Path) -> None:
    import ladybug as lb

    connection = lb.Connection(lb.Database(str(folder / "ladybug.db")))
    for name in NODES:
        connection.execute(f"CREATE NODE TABLE {name}({_COLUMNS[name]})")
        connection.execute(f"COPY {name} FROM '{folder}/parquet/{name}.parquet'")
    for name, (source, target) in EDGES.items():
        connection.execute(f"CREATE REL TABLE {name}(FROM {source} TO {target})")
        rows = f"(LOAD FROM '{folder}/parquet/{name}.parquet' RETURN src, dst)"
        connection.execute(f"COPY {name} FROM {rows}")


def load_duckdb(folder: Path) -> None:
    import duckdb as db

    with db.connect(str(folder / "duck.db")) as connection:
        for name in (*NODES, *EDGES):
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM '{folder}/parquet/{name}.parquet'")


def _rows(found: pa.Table) -> list[list[Any]]:
    return [
        [round(value, 6) if isinstance(value, float) else value for value in row.values()] for row in found.to_pylist()
    ]


def _warm(ask: Ask, question: Question) -> dict[str, Any]:
    rows = _rows(ask(question))
    took: list[float] = []
    while len(took) < 3 or (sum(took) < WARM_S and len(took) < 100):
        started_s = time.perf_counter()
        ask(question)
        took.append(time.perf_counter() - started_s)
    return {"rows": rows, "ms": median(took) * 1000}


def _cold(engine: str, folder: Path, question: Question) -> dict[str, Any]:
    _import(engine)
    started_s = time.perf_counter()
    found = ENGINES[engine](folder)(question)
    took = time.perf_counter() - started_s
    return {"rows": _rows(found), "ms": took * 1000}


def _import(engine: str) -> None:
    import pyarrow.compute  # noqa: F401

    if engine == "ours":
        import omnigraph.execute.query
        import omnigraph.execute.read
        import omnigraph.graph  # noqa: F401
        from omnigraph.execute.engine import cursor
        from omnigraph.query import compile_queries
        from omnigraph.schema import compile_schema

        cursor()
        text = "query q() { match { $p: Person $p follows $q } return { $q.name as n, count($p) } order { n } limit 1 }"
        compile_queries(text, compile_schema(SCHEMA))
    else:
        __import__(engine)


def main(engine: str, where: str, mode: str, *numbers: str) -> None:
    folder = Path(where)
    if mode == "load":
        {"ladybug": load_ladybug, "duckdb": load_duckdb}[engine](folder)
        return
    asked = [QUESTIONS[int(number)] for number in numbers]
    if mode == "cold":
        found = {question.name: _cold(engine, folder, question) for question in asked}
    else:
        _import(engine)
        ask = ENGINES[engine](folder)
        found = {question.name: _warm(ask, question) for question in asked}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
