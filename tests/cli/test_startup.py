"""A question about one node loads no engine: a command answers it in a fraction of a second."""

from __future__ import annotations

import subprocess
import sys

import pytest

import omnigraph as og
from tests.cli.conftest import SCHEMA

ASK = """
import sys
from omnigraph.cli.app import app
app(["query", "-e", 'query q() { match { $p: Person { name: "ada" } $p knows $f } return { $f.name, $f } limit 5 }',
     "--uri", sys.argv[1]], standalone_mode=False)
for name in ("duckdb", "sqlglot", "pyspark", "fastapi", "prompt_toolkit", "httpx", "cedarpy"):
    assert name not in sys.modules, name
"""


def test_a_point_query_loads_no_engine(tmp_path) -> None:
    graph = og.init(tmp_path / "g.omni", SCHEMA)
    people = [{"type": "Person", "data": {"name": name}} for name in ("ada", "bob")]
    graph.load([*people, {"edge": "Knows", "from": "ada", "to": "bob", "data": {}}], mode="append")
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "g.omni")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "bob" in done.stdout


HELP = """
import sys
from omnigraph.cli.app import app
app([sys.argv[1]], standalone_mode=False)
for name in ("pyarrow", "lance", "numpy", "pandas", "duckdb", "sqlglot", "pyspark", "fastapi", "httpx", "cedarpy"):
    assert name not in sys.modules, name
"""


@pytest.mark.parametrize("argument", ["--help", "version"])
def test_help_and_version_load_next_to_nothing(argument: str) -> None:
    done = subprocess.run([sys.executable, "-c", HELP, argument], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
