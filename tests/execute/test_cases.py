"""Goldens: every query that reads in `tests/cases/*.gq`, its plan and its rows, in `*.rows` beside it.

`UPDATE_CASES=1 pytest tests/execute/test_cases.py` writes the expected texts anew; read the diff before you commit it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import omnigraph as og
from omnigraph.model.clock import SystemClock
from omnigraph.query import CheckedRead, compile_queries
from tests.query.people import CASES, CATALOG

PARAMS: dict[str, dict[str, Any]] = {
    "busy": {"least": 1},
    "adults": {"name": "Ann", "tag": "x", "before": "2024-06-01T00:00:00Z"},
    "conditions": {"roles": ["guest"], "flag": True},
    "page": {"size": 3, "skip": 1},
    "ties": {"since": "2015-01-01"},
    "named": {"name": "Ann"},
    "similar": {"v": [1, 0.5, 0]},
    "found": {"q": "graph", "edits": 1},
    "match": {"limit": 10},
    "alike": {"text": "dogs"},
    "merged": {"q": "graphs"},
}
ROWS_SHOWN = 12


def reads(path: Path) -> list[str]:
    queries = compile_queries(path.read_text(encoding="utf-8"), CATALOG, path.name).queries
    return [query.name for query in queries if isinstance(query, CheckedRead)]


FILES = [path for path in sorted(CASES.glob("*.gq")) if reads(path)]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[og.Graph]:
    made = og.init(tmp_path_factory.mktemp("cases") / "people.omni", (CASES / "people.pg").read_text())
    made.load(CASES / "people.jsonl", mode="append")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMNIGRAPH_EMBEDDINGS_MOCK", "1")  # vectors from texts without a provider
        patch.setattr(SystemClock, "now_us", lambda _: 1_714_979_289_000_000)
        yield made


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_case(graph: og.Graph, path: Path) -> None:
    found = "\n".join("\n".join(told(graph, path, name)) for name in reads(path))
    golden = path.with_suffix(".rows")
    if os.environ.get("UPDATE_CASES"):
        golden.write_text(found, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == found


def told(graph: og.Graph, path: Path, name: str) -> Iterator[str]:
    params = PARAMS.get(name, {})
    result, steps = graph.query(path, name, params), graph.explain(path, name).steps
    yield f"query {name}" + "".join(f" ${key}={json.dumps(value)}" for key, value in params.items())
    yield from (f"  {'  ' * step.depth}{step.text}" for step in steps)
    yield f"{len(result)} {'row' if len(result) == 1 else 'rows'}"
    rows = [json.dumps(row, ensure_ascii=False) for row in result.to_json()]
    if " order " not in steps[-1].text:
        rows.sort()
    yield from (f"  {row}" for row in rows[:ROWS_SHOWN])
    if len(rows) > ROWS_SHOWN:
        yield f"  and {len(rows) - ROWS_SHOWN} more"
    yield ""
