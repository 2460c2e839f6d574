"""The examples are what a newcomer copies: schema, data and queries of each fit together."""

from pathlib import Path

import pytest

import omnigraph as og
from omnigraph.query import compile_queries
from omnigraph.schema import compile_schema

EXAMPLES = sorted(path for path in (Path(__file__).parents[2] / "examples").iterdir() if path.is_dir())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_data_loads_and_the_queries_compile(example: Path, tmp_path: Path) -> None:
    schema = (example / "schema.pg").read_text()
    g = og.init(tmp_path / "g.omni", schema)
    loaded = g.load(example / "data.jsonl", mode="append")
    assert loaded.total_entities == len((example / "data.jsonl").read_text().splitlines())
    compiled = compile_queries((example / "queries.gq").read_text(), compile_schema(schema))
    assert len(compiled.queries) > 5
