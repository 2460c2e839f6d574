"""What a real start shows; other tests of the command fork a process that has imported everything.

A question about one node loads no engine: a command answers it in a fraction of a second.
"""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

import omnigraph as og
from tests.cli.conftest import SCHEMA

ASK = """
import sys
from omnigraph.cli.app import main
query = 'query q() { match { $p: Person { name: "ada" } $p knows $f } return { $f.name, $f } limit 5 }'
sys.argv[1:] = ["query", "-e", query, "--uri", sys.argv[1]]
try:
    main()
except SystemExit as ended:
    assert not ended.code
for name in ("duckdb", "sqlglot", "pandas", "pyspark", "fastapi", "prompt_toolkit", "httpx", "cedarpy"):
    assert name not in sys.modules, name
import pandas, pyarrow
assert pyarrow.table({"a": [1]}).to_pandas().equals(pandas.DataFrame({"a": [1]}))
assert pyarrow.Table.from_pandas(pandas.DataFrame({"a": [1]})).num_rows == 1
"""


def test_a_point_query_loads_no_engine(tmp_path) -> None:
    graph = og.init(tmp_path / "g.omni", SCHEMA)
    people = [{"type": "Person", "data": {"name": name}} for name in ("ada", "bob")]
    graph.load([*people, {"edge": "Knows", "from": "ada", "to": "bob", "data": {}}], mode="append")
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "g.omni")], capture_output=True, text=True, timeout=300
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
    done = subprocess.run([sys.executable, "-c", HELP, argument], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


SESSION = """
init --schema people.pg g.omni
load --data people.jsonl --mode append g.omni
query -e "query q() { match { $p: Person } return { $p.name } }" --uri g.omni --format jsonl
mutate -e "query q() { insert Person { name: \\"cyd\\" } }" --uri g.omni
branch create work --uri g.omni
export g.omni
optimize g.omni
cleanup g.omni --keep 1
"""


def test_a_session_of_real_starts(omnigraph) -> None:
    """Each command imports what it needs by itself."""
    (omnigraph.folder / "people.jsonl").write_text('{"type":"Person","data":{"name":"ada"}}\n')
    for line in SESSION.strip().splitlines():
        command = [sys.executable, "-m", "omnigraph", *shlex.split(line)]
        done = subprocess.run(command, cwd=omnigraph.folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
