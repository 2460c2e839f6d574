"""Goldens: every `tests/cases/*.gq` and what it compiles to, in `*.ir` beside it.

`UPDATE_CASES=1 pytest tests/query/test_cases.py` writes the expected texts anew; read the diff before you commit it.
"""

import os
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from omnigraph.query import compile_queries, dump_query, format_queries, ir
from tests.query.people import CASES, CATALOG

FILES = sorted(CASES.glob("*.gq"))


def _queries(path: Path) -> tuple[ir.CheckedQuery, ...]:
    return compile_queries(path.read_text(encoding="utf-8"), CATALOG, path.name).queries


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    found = "\n".join(dump_query(query) for query in _queries(path))
    golden = path.with_suffix(".ir")
    if os.environ.get("UPDATE_CASES"):
        golden.write_text(found, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_queries(text) == text


def test_cases_cover_every_node() -> None:
    seen: set[type] = set()
    for path in FILES:
        for query in _queries(path):
            _collect(query, seen)
    nodes = {*get_args(ir.Expression), *get_args(ir.Statement), *get_args(ir.VariableType), ir.Block, ir.BlockTest}
    assert not {node.__name__ for node in nodes - seen}


def _collect(part: Any, seen: set[type]) -> None:
    seen.add(type(part))
    if isinstance(part, tuple):
        for item in part:
            _collect(item, seen)
    elif is_dataclass(part):
        for field in fields(part):
            _collect(getattr(part, field.name), seen)
