"""Merge, diff, undo and the feed at the command line."""

from __future__ import annotations

import json

import pytest

import omnigraph as og

LINES = """\
{"type":"Person","data":{"name":"ada","age":36}}
{"type":"Person","data":{"name":"bob"}}
{"edge":"Knows","from":"ada","to":"bob","data":{"id":"k1","since":"2020-01-01"}}
"""


@pytest.fixture
def forked(graph):
    """Two branches that disagree about ada's age."""
    made = og.open(graph.folder / "g.omni")
    made.as_actor("ada").load([json.loads(line) for line in LINES.splitlines()], mode="append")
    made.branches.create("work")
    for branch, age in (("main", 1), ("work", 2)):
        made.mutate(f'query q() {{ update Person set {{ age: {age} }} where name = "ada" }}', branch=branch)
    return graph


def test_a_merge_from_its_conflict_to_its_drawing(forked) -> None:
    refused = forked("branch", "merge", "work", "--uri", "g.omni", code=1)
    assert "divergent_update: node Person 'ada' was changed on both sides (age: 1 on ours, 2 on theirs)" in refused.err
    found = forked("branch", "merge", "work", "--uri", "g.omni", "--json", "--quiet", code=1).document
    (conflict,) = found["merge_conflicts"]
    assert set(conflict) == {"entity_kind", "type_name", "entity_id", "kind", "message"}
    assert found["code"] == "conflict"
    dry = forked("branch", "merge", "work", "--uri", "g.omni", "--dry-run", "--json").document
    assert dry["conflicts"][0]["theirs"]["properties"]["age"] == 2
    dry["conflicts"][0]["properties"] = {"age": "theirs"}
    (forked.folder / "chosen.json").write_text(json.dumps(dry))
    done = forked("branch", "merge", "work", "--uri", "g.omni", "--resolve", "chosen.json", "--delete-branch", "--json")
    assert done.document == {
        "source": "work",
        "target": "main",
        "outcome": "merged",
        "actor_id": None,
        "branch_deleted": True,
    }
    drawing = forked("commit", "list", "g.omni", "--graph").out.splitlines()
    assert drawing[0].startswith("* ")
    assert "(main)" in drawing[0]
    assert drawing[1] == "├─╮"
    assert forked("export", "g.omni", "--type", "Person").out.splitlines()[0].count('"age":2') == 1


def test_a_resolution_that_does_not_fit_changes_nothing(forked) -> None:
    (forked.folder / "chosen.json").write_text('[{"entity_kind": "node", "type_name": "Person", "entity_id": "ada"}]')
    refused = forked("branch", "merge", "work", "--uri", "g.omni", "--resolve", "chosen.json", code=1)
    assert "conflict 1: nothing is chosen" in refused.err


def test_differences_are_pleasant_to_read(forked) -> None:
    out = forked("diff", "main", "work", "--uri", "g.omni").out
    assert out == "node Person\n  ~ ada\n      age: 1 → 2\n"
    stat = forked("diff", "main", "work", "--uri", "g.omni", "--stat").out.splitlines()
    assert stat[1].split() == ["node", "Person", "0", "1", "0"]
    assert forked("diff", "main", "work", "--uri", "g.omni", "--json").document["changes"][0]["op"] == "update"
    assert forked("diff", "main", "main", "--uri", "g.omni").out == "no differences\n"
    assert (
        "is called 'wrok'; branches here: main, work" in forked("diff", "main", "wrok", "--uri", "g.omni", code=1).err
    )
    assert "one of --ours" in forked("branch", "merge", "work", "--uri", "g.omni", "--ours", "--theirs", code=1).err


def test_undo_and_what_became_of_an_entity(forked) -> None:
    commit = forked("commit", "list", "g.omni", "--json").document["commits"][0]["graph_commit_id"]
    forked("revert", commit, "--uri", "g.omni", "--as", "cyd")
    assert "has it that way already" in forked("revert", commit, "--uri", "g.omni").out
    log = forked("log", "Person", "ada", "--uri", "g.omni", "--json").document["events"]
    assert [(one["op"], one["operation"], one["actor_id"]) for one in log] == [
        ("update", "revert", "cyd"),
        ("update", "mutate", None),
        ("insert", "load", "ada"),
    ]
    assert "age: 1 → 36" in forked("log", "Person", "ada", "--uri", "g.omni", "--limit", "1").out
    blame = forked("blame", "Person", "ada", "--uri", "g.omni", "--json").document["properties"]
    assert {one["property"]: one["actor_id"] for one in blame} == {"age": "cyd", "name": "ada"}
    reset = forked("branch", "reset", "main", "--to", commit, "--uri", "g.omni", "--json").document
    assert reset["commit"]["parent_commit_id"] != commit
    assert "content of" in forked("branch", "reset", "main", "--to", commit, "--uri", "g.omni").out


def test_the_feed(forked) -> None:
    commits = forked("commit", "list", "g.omni", "--json").document["commits"]
    changes = forked("commit", "changes", commits[1]["graph_commit_id"], "--uri", "g.omni", "--limit", "1", "--json")
    assert [one["id"] for one in changes.document["changes"]] == ["ada", "bob", "k1"]
    assert "next_page_token" not in changes.document
    start = forked("changes", "poll", "--uri", "g.omni", "--start", "beginning", "--limit", "2", "--json").document
    assert [len(block["changes"]) for block in start["blocks"]] == [0, 3, 1]
    assert start["caught_up"] is True
    text = forked("changes", "poll", "--uri", "g.omni", "--cursor", start["cursor"]).out.splitlines()
    assert text == ["caught up: yes", f"cursor: {start['cursor']}"]
    assert "change cursor rejected" in forked("changes", "poll", "--uri", "g.omni", "--cursor", "x", code=1).err


def test_a_baseline_is_a_whole_file_or_none(forked) -> None:
    told = forked("changes", "baseline", "--out", "base.jsonl", "--uri", "g.omni", "--json").document
    *lines, last = (forked.folder / "base.jsonl").read_text().splitlines()
    assert json.loads(last) == {"baseline": told}
    assert [next(iter(json.loads(line))) for line in lines] == ["edge", "type", "type"]
    assert sorted(path.name for path in forked.folder.glob("*base*")) == ["base.jsonl", "base.jsonl.lock"]
    missing = forked("changes", "baseline", "--out", "no/such/base.jsonl", "--uri", "g.omni", code=1)
    assert "cannot be written" in missing.err


def test_tags_name_commits_and_are_forgotten(graph) -> None:
    first = graph("commit", "list", "g.omni", "--json").document["commits"][0]["graph_commit_id"]
    assert graph("tag", "create", "v1", "--uri", "g.omni").out == f"created tag v1 at {first}\n"
    named = graph("tag", "create", "v2", "--from", "v1", "--uri", "g.omni", "--json", "--as", "ada").document
    assert (named["name"], named["graph_commit_id"], named["from"], named["actor_id"]) == ("v2", first, "v1", "ada")
    assert [tag["name"] for tag in graph("tag", "list", "--uri", "g.omni", "--json").document["tags"]] == ["v1", "v2"]
    assert graph("branch", "create", "fix", "--from", "v1", "--uri", "g.omni").out == "created branch fix from v1\n"
    assert graph("tag", "delete", "v1", "--uri", "g.omni").out == "deleted tag v1\n"
    assert graph("tag", "delete", "v1", "--uri", "g.omni", code=1).err.endswith("tag 'v1' not found; tags here: v2\n")
    nowhere = graph("tag", "create", "v3", "--from", "nowhere", "--uri", "g.omni", code=1).err
    assert "no branch, tag or commit is called 'nowhere'; branches here: fix, main; tags here: v2" in nowhere
