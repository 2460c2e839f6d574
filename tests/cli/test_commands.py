"""Each command does what the contract says, in text and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

import omnigraph as og
from tests.support import SeaweedServer

from .conftest import Command


@pytest.mark.parametrize("how", ["version", "-v", "--version"])
def test_version_prints_two_lines(omnigraph: Command, how: str) -> None:
    lines = omnigraph(how).out.splitlines()
    assert lines[0] == f"omnigraph {og.__version__}"
    assert lines[1].split()[0] == "internal-schema"
    assert lines[1].split()[1].isdigit()


def test_init_makes_a_graph_once(omnigraph: Command, tmp_path: Path) -> None:
    ran = omnigraph("init", "--schema", "people.pg", "g.omni")
    assert ran.out == f"initialized {tmp_path / 'g.omni'}\n"
    again = omnigraph("init", "--schema", "people.pg", "g.omni", code=1)
    assert "already exists" in again.err
    assert og.open(tmp_path / "g.omni").snapshot().manifest_version == 0


def test_snapshot(graph: Command) -> None:
    document = graph("snapshot", "g.omni", "--json").document
    assert document["graph_branch"] == "main"
    assert document["graph_manifest_version"] == 0
    found = [(one["entity_kind"], one["type_name"], one["entity_count"]) for one in document["datasets"]]
    assert found == [("edge", "Knows", 0), ("node", "Person", 0)]
    text = graph("snapshot", "g.omni").out
    assert "branch main at version 0" in text
    assert "Person" in text


def test_branches_come_and_go(graph: Command, tmp_path: Path) -> None:
    made = graph("branch", "create", "review/today", "--uri", "g.omni", "--json", "--as", "ada")
    assert made.document == {
        "uri": str(tmp_path / "g.omni"),
        "from": "main",
        "name": "review/today",
        "actor_id": "ada",
    }
    assert made.err == f"omnigraph branch create → {tmp_path / 'g.omni'} (direct, local)\n"
    graph("branch", "create", "again", "--from", "review/today", "--store", "g.omni", "--quiet")
    assert graph("branch", "list", "--uri", "g.omni", "--json").document == {
        "branches": ["again", "main", "review/today"]
    }
    assert graph("branch", "list", "--uri", "g.omni").out.split() == ["again", "main", "review/today"]
    assert graph("snapshot", "g.omni", "--branch", "again", "--json").document["graph_branch"] == "again"
    gone = graph("branch", "delete", "again", "--uri", "g.omni", "--json", "--quiet")
    assert gone.document["name"] == "again"
    assert gone.err == ""
    assert graph("branch", "list", "--uri", "g.omni").out.split() == ["main", "review/today"]


def test_commits_are_listed_and_shown(graph: Command) -> None:
    (commit,) = graph("commit", "list", "g.omni", "--json").document["commits"]
    assert commit["actor_id"] == "ada"
    assert commit["parent_commit_id"] is None
    shown = graph("commit", "show", commit["graph_commit_id"], "--uri", "g.omni", "--json").document
    assert shown == commit
    assert commit["graph_commit_id"] in graph("commit", "list", "g.omni").out
    assert "graph_manifest_version: 0" in graph("commit", "show", commit["graph_commit_id"], "--uri", "g.omni").out
    graph("branch", "create", "from-commit", "--from", commit["graph_commit_id"], "--uri", "g.omni")


def test_cleanup_previews_and_then_does(graph: Command) -> None:
    for name in ("a", "b"):
        graph("branch", "create", name, "--uri", "g.omni", "--quiet")
        graph("branch", "delete", name, "--uri", "g.omni", "--quiet")
    preview = graph("cleanup", "g.omni", "--keep", "1", "--grace", "0", "--json")
    assert "pass --confirm" in preview.err
    manifest = next(one for one in preview.document["datasets"] if one["type_key"] == "__manifest")
    assert manifest["old_versions_removed"] >= 2
    assert preview.document["keep_versions"] == 1
    done = graph("cleanup", "g.omni", "--keep", "1", "--older-than", "0s", "--grace", "0", "--confirm", "--json")
    assert done.document["older_than_secs"] == 0
    graph("snapshot", "g.omni")


def test_global_flags_may_come_first(graph: Command) -> None:
    assert graph("--store", "g.omni", "--json", "branch", "list").document == {"branches": ["main"]}


@pytest.mark.s3
def test_a_graph_on_s3(omnigraph: Command, seaweed: SeaweedServer) -> None:
    """Credentials from the environment; destroying something there wants a yes."""
    env, uri = seaweed.env, f"s3://{seaweed.bucket()}/g.omni"
    omnigraph("init", "--schema", "people.pg", uri, env=env)
    made = omnigraph("branch", "create", "b", "--uri", uri, env=env)
    assert "(direct, remote)" in made.err
    refused = omnigraph("branch", "delete", "b", "--uri", uri, env=env, code=1)
    assert "--yes" in refused.err
    omnigraph("branch", "delete", "b", "--uri", uri, "--yes", env=env)
    assert omnigraph("branch", "list", "--uri", uri, env=env).out.split() == ["main"]
    assert "--yes" in omnigraph("cleanup", uri, "--keep", "1", "--confirm", env=env, code=1).err
    omnigraph("cleanup", uri, "--keep", "1", "--confirm", "--yes", env=env)
