"""Bad input: one clear line, the right exit code, nothing changed, never a traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from omnigraph.manifest import rows
from tests.support import SeaweedServer
from tests.support.forks import ROOT

from .conftest import Command


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


CASES = {
    "unknown branch": (["snapshot", "g.omni", "--branch", "mian"], "main"),
    "unknown branch to delete": (["branch", "delete", "nope", "--uri", "g.omni"], "nope"),
    "unknown source": (["branch", "create", "b", "--from", "nope", "--uri", "g.omni"], "nope"),
    "existing branch": (["branch", "create", "taken", "--uri", "g.omni"], "already exists"),
    "main cannot be made": (["branch", "create", "main", "--uri", "g.omni"], "main"),
    "main cannot be deleted": (["branch", "delete", "main", "--uri", "g.omni"], "main"),
    "garbage name": (["branch", "create", "../x", "--uri", "g.omni"], "../x"),
    "empty name": (["branch", "create", "", "--uri", "g.omni"], "empty"),
    "a folder that is no graph": (["snapshot", "."], "no graph"),
    "no such folder": (["snapshot", "nowhere.omni"], "no graph"),
    "unknown commit": (
        ["commit", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--uri", "g.omni"],
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ),
    "no address": (["snapshot"], "address"),
    "two addresses": (["snapshot", "g.omni", "--store", "g.omni"], "several addresses"),
    "a server's address": (["snapshot", "http://localhost:1"], "--server"),
    "unknown scheme": (["snapshot", "ftp://x/g.omni"], "ftp"),
    "cleanup without a rule": (["cleanup", "g.omni"], "keep"),
    "keep nothing": (["cleanup", "g.omni", "--keep", "0"], "at least 1"),
    "no duration": (["cleanup", "g.omni", "--older-than", "soon"], "soon"),
    "no schema file": (["init", "--schema", "none.pg", "new.omni"], "none.pg"),
    "schema not given": (["init", "new.omni"], "--schema"),
    "a schema that is a folder": (["init", "--schema", "folder", "new.omni"], "cannot read folder: Is a directory"),
    "a schema that is no text": (["init", "--schema", "binary.pg", "new.omni"], "binary.pg is no text in UTF-8"),
    "a file where the graph would be": (["init", "--schema", "people.pg", "people.pg"], "a file is where its folder"),
    "a graph below a file": (["init", "--schema", "people.pg", "people.pg/g.omni"], "a file is where its folder"),
    "no query file": (["query", "--query", "none.gq", "--uri", "g.omni"], "there is no file none.gq"),
    "no parameters file": (["query", "-e", "query", "--params-file", "none.json", "--uri", "g.omni"], "none.json"),
    "graphs of no server": (["graphs", "list"], "--server"),
    "a dead server": (["snapshot", "--server", "http://127.0.0.1:9"], "does not answer"),
    "serving nothing": (["serve"], "--graph ID=URI"),
    "no declaration": (["serve", "--config", "none.yaml"], "there is no file none.yaml"),
    "no policy": (["policy", "validate", "--policy", "none.yaml"], "there is no file none.yaml"),
    "no place for lines": (["export", "g.omni", "--out", "/proc/none/x.jsonl"], "cannot write /proc/none/x.jsonl"),
    "no records to embed": (["embed", "--input", "x", "--output", "y", "--spec", "none.json"], "there is no file none"),
    "broken schema": (["init", "--schema", "broken.pg", "new.omni"], "broken.pg:2:"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A graph with a branch; the cases only read it."""
    folder = tmp_path_factory.mktemp("errors")
    (folder / "people.pg").write_text("node Person {\n    name: String @key\n}\n")
    (folder / "broken.pg").write_text("node Person {\n    name: Strin\n}\n")
    (folder / "binary.pg").write_bytes(b"node \xff")
    (folder / "folder").mkdir()
    command = Command(folder)
    command("init", "--schema", "people.pg", "g.omni")
    command("branch", "create", "taken", "--uri", "g.omni")
    return command


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_clear_line(place: Command, name: str) -> None:
    arguments, hint = CASES[name]
    before = files(place.folder)
    ran = place(*arguments, code=1)
    assert ran.out == ""
    line = ran.err.splitlines()[-1] if name != "broken schema" else ran.err
    assert line.startswith("error: ")
    assert hint in line
    assert files(place.folder) == before
    assert not (place.folder / "new.omni").exists()


LOADS = {
    "rejects nowhere": (
        ["--data", "people.csv", "--type", "Person", "--on-error", "skip", "--rejects", "none/r.jsonl"],
        "there is no folder none",
    ),
    "a column of nothing": (["--data", "odd.csv", "--type", "Person"], "--map zzz=PROPERTY says which property"),
    "an empty folder": (["--data", "folder"], "the folder folder has no files to load"),
    "a column misspelt": (["--data", "nmae.csv", "--type", "Person"], "--map nmae=name says which property"),
    "a column that is not there": (
        ["--data", "people.csv", "--type", "Person", "--map", "x=name"],
        "columns here: name",
    ),
    "a master that is none": (
        ["--data", "people.csv", "--type", "Person", "--master", "loca["],
        "no place where Spark runs",
    ),
}


@pytest.mark.parametrize("name", LOADS)
def test_bad_input_of_a_load(place: Command, name: str) -> None:
    arguments, hint = LOADS[name]
    (place.folder / "nmae.csv").write_text("nmae\nada\n")
    (place.folder / "people.csv").write_text("name\nada\n")
    (place.folder / "odd.csv").write_text("name,zzz\nada,1\n")
    ran = place("load", *arguments, "--mode", "append", "g.omni", code=1)
    assert hint in ran.err
    assert "defect" not in ran.err
    assert " 0 " in place("snapshot", "g.omni").out  # nothing was loaded


def test_a_lost_precondition_is_said_before_anything_else(graph: Command) -> None:
    """Rows and statements that would be refused anyhow must not hide that the head has moved."""
    (graph.folder / "wrong.jsonl").write_text('{"type": "Person", "data": {"age": 1}}\n')
    head = ("--if-commit", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert "not at 01ARZ" in graph("load", "--data", "wrong.jsonl", "--mode", "append", *head, "g.omni", code=4).err
    nobody = 'query q() { delete Person where name = "nobody" }'
    assert "not at 01ARZ" in graph("mutate", "-e", nobody, *head, "--uri", "g.omni", code=4).err


class _Mute(BaseHTTPRequestHandler):
    """Knows no path."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name the library calls it by
        """Say nothing."""


def test_a_port_that_is_taken(place: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        ran = place("serve", "--graph", "g.omni", "--unauthenticated", "--bind", bind, code=1)
    assert ran.err.splitlines()[-1].startswith(f"error: cannot listen at {bind}: Address already in use")


def test_a_server_that_is_another(place: Command) -> None:
    with HTTPServer(("127.0.0.1", 0), _Mute) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        ran = place("snapshot", "--server", f"http://127.0.0.1:{server.server_port}", code=1)
        server.shutdown()
    assert "not as OmniGraph does" in ran.err


def test_errors_are_documents_with_json(place: Command) -> None:
    ran = place("snapshot", "g.omni", "--branch", "nope", "--json", code=1)
    assert ran.document["code"]
    assert "nope" in ran.document["error"]
    assert ran.err == ""


@pytest.mark.parametrize(
    "arguments",
    [["frobnicate"], ["branch", "create"], ["snapshot", "g.omni", "--frob"], ["serve", "--log-level", "loud"]],
)
def test_usage_errors_exit_with_two(place: Command, arguments: list[str]) -> None:
    assert place(*arguments, code=2).err


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty"])
def test_a_damaged_manifest_names_the_object(graph: Command, damage: str) -> None:
    entry = next((graph.folder / "g.omni/__manifest/main").iterdir())
    whole = entry.read_bytes()
    entry.write_bytes({"truncated": whole[: len(whole) // 2], "garbage": os.urandom(200), "empty": b""}[damage])
    ran = graph("snapshot", "g.omni", code=1)
    assert entry.name in ran.err
    assert "damaged" in ran.err or "corrupt" in ran.err


def test_a_graph_of_a_newer_format_says_upgrade(graph: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from omnigraph import open as open_graph

    repository = open_graph(graph.folder / "g.omni").repository
    monkeypatch.setattr(rows, "FORMAT", rows.FORMAT + 1)
    repository.create_branch("newer")
    ran = graph("branch", "list", "--uri", "g.omni", code=1)
    assert "upgrade omnigraph" in ran.err


AS_NOBODY = """
import os, sys, zoneinfo
import tests.support.preload
import omnigraph.cli.app, omnigraph.graph, omnigraph.manifest
omnigraph.graph.open_graph(sys.argv[-1]).snapshot()
if os.geteuid() == 0:
    os.setuid(65534)
omnigraph.cli.app.main()
"""
"""Root may write anywhere, so root becomes nobody: after the imports, which may not be readable for others."""


def test_no_permission(omnigraph: Command) -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        root = Path(name) / "g.omni"
        omnigraph("init", "--schema", "people.pg", str(root))
        everything = [root, *root.rglob("*")]
        for path in everything:
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = files(root)
        command = [sys.executable, "-c", AS_NOBODY, "branch", "create", "b", "--uri", str(root)]
        env = {**os.environ, "OMNIGRAPH_HOME": name}  # root's own is not theirs to read
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, env=env)
        assert ran.returncode == 1
        assert "permission" in ran.stderr.splitlines()[-1]
        assert "Traceback" not in ran.stderr
        assert files(root) == before
        for path in everything:
            path.chmod(0o755)


@pytest.mark.s3
def test_s3_without_a_way_in(place: Command, seaweed: SeaweedServer) -> None:
    uri = f"s3://{seaweed.bucket()}/g.omni"
    wrong = place("snapshot", uri, code=1, env=seaweed.env | {"AWS_SECRET_ACCESS_KEY": "wrong"})
    assert "credentials" in wrong.err
    missing = place("snapshot", "s3://no-such-bucket-anywhere/g.omni", code=1, env=seaweed.env)
    assert "bucket" in missing.err
    absent = place("snapshot", uri, code=1, env=seaweed.env)
    assert "no graph" in absent.err
