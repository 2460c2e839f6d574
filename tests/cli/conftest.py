"""The command as users run it: a process of its own."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.forks import run

SCHEMA = """
node Person {
    name: String @key
    age: I32?
}

edge Knows: Person -> Person {
    since: Date?
}
"""


@dataclass
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass
class Command:
    """Runs `omnigraph` in a folder."""

    folder: Path

    def __call__(self, *arguments: str, code: int = 0, env: dict[str, str] | None = None, given: str = "") -> Ran:
        home = {"COLUMNS": "200", "OMNIGRAPH_HOME": str(self.folder / ".omnigraph")}
        whole = os.environ | home | (env or {})
        done = run("omnigraph", *arguments, cwd=self.folder, env=whole, input=given)
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in ran.err, ran.err
        assert ran.code == code, f"{arguments}: exit {ran.code}\n{ran.out}\n{ran.err}"
        return ran


@pytest.fixture
def omnigraph(tmp_path: Path) -> Command:
    (tmp_path / "people.pg").write_text(SCHEMA)
    return Command(tmp_path)


@pytest.fixture
def graph(omnigraph: Command) -> Command:
    """The command, in a folder with a graph `g.omni`."""
    omnigraph("init", "--schema", "people.pg", "g.omni", "--as", "ada")
    return omnigraph
