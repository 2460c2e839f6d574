"""Bad input: one clear line, the right exit code, nothing changed, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

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
    "broken schema": (["init", "--schema", "broken.pg", "new.omni"], "broken.pg:2:"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A graph with a branch; the cases only read it."""
    folder = tmp_path_factory.mktemp("errors")
    (folder / "people.pg").write_text("node Person {\n    name: String @key\n}\n")
    (folder / "broken.pg").write_text("node Person {\n    name: Strin\n}\n")
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


def test_errors_are_documents_with_json(place: Command) -> None:
    ran = place("snapshot", "g.omni", "--branch", "nope", "--json", code=1)
    assert ran.document["code"]
    assert "nope" in ran.document["error"]
    assert ran.err == ""


@pytest.mark.parametrize("arguments", [["frobnicate"], ["branch", "create"], ["snapshot", "g.omni", "--frob"]])
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
