"""The change feed: shapes, order, pages, cursors, filters, baselines, gaps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import omnigraph as og
from omnigraph.history.tokens import decode_token
from omnigraph.model.errors import BadRequest, ChangeFeedGap, CommitNotFound, CursorRejected, ResourceLimit
from tests.history.graphs import SCHEMA, content, do, graph_of, knows, person
from tests.support.disk import wait_for_tick

if TYPE_CHECKING:
    from pathlib import Path

RICH = """
node Thing {
    name: String @key
    whole: I64?
    share: F32?
    day: Date?
    at: DateTime?
    tags: [String]?
    place: Vector(2)?
    picture: Blob?
}
"""


def all_pages(graph: og.Graph, limit: int | None = None, **how: Any) -> tuple[list[Any], Any]:
    """Changes of a whole poll with their commits, and its last page."""
    filters = {name: how[name] for name in ("branch", "kinds", "types", "ops") if name in how}
    page = graph.changes.poll(limit=limit, **how)
    found = [(block.cause.commit.id, change) for block in page.blocks for change in block.changes]
    while page.next_page_token is not None:
        assert page.cursor is None
        assert page.caught_up is None
        page = graph.changes.poll(page_token=page.next_page_token, limit=limit, **filters)
        found += [(block.cause.commit.id, change) for block in page.blocks for change in block.changes]
    assert page.cursor is not None
    return found, page


def test_the_shapes_of_the_contract(tmp_path: Path) -> None:
    graph = og.open(graph_of(tmp_path).uri, actor="ada")
    commit = graph.commits.show(do(graph, 'update Person set { age: 40 } where name = "ada"'))
    found = graph.commits.changes(commit.id).to_json()
    (change,) = found["changes"]
    assert found["cause"] == {
        "graph_commit_id": commit.id,
        "parent_commit_id": commit.parent,
        "authored_branch": "main",
        "actor_id": "ada",
        "authored_at": commit.created_us,
    }
    before = {"id": "ada", "name": "ada", "age": 36, "email": None, "note": "a"}
    assert change == {
        "kind": "node",
        "type": {"id": change["type"]["id"], "name": "Person"},
        "id": "ada",
        "op": "update",
        "before": {"properties": before},
        "after": {"properties": {**before, "age": 40}},
    }
    edge = graph.commits.changes(graph.commits.list()[1].id, kinds=["edge"]).to_json()["changes"][0]
    assert edge["after"] == {
        "properties": {"id": "k1", "since": 2000, "note": None},
        "endpoints": {"from": "ada", "to": "bob"},
    }
    assert set(edge) == {"kind", "type", "id", "op", "after"}
    assert json.loads(json.dumps(found)) == found


def test_values_are_written_as_rows_are_everywhere(tmp_path: Path) -> None:
    values = {
        "whole": 2**53 + 1,
        "share": 0.5,
        "day": "2020-02-29",
        "at": "2020-02-29T01:02:03.004Z",
        "tags": ["a", "b"],
        "place": [1.0, 2.0],
        "picture": "base64:AAEC",
    }
    graph = graph_of(tmp_path, [{"type": "Thing", "data": {"name": "t", **values}}], RICH)
    (change,) = graph.commits.changes(graph.commits.list()[0].id).changes
    assert change.after is not None
    assert change.after.properties == {"id": "t", "name": "t", **values}


def test_nodes_come_before_edges_then_by_type_and_id(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    changes = graph.commits.changes(graph.commits.list()[0].id).changes
    order = [(change.kind == "edge", change.type_id, change.id) for change in changes]
    assert order == sorted(order)
    assert len({change.type_id for change in changes}) == 3


@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_pages_tell_everything_once_and_only_the_last_has_a_cursor(tmp_path: Path, limit: int) -> None:
    graph = graph_of(tmp_path)
    do(graph, 'update Person set { age: 40 } where name = "ada"')
    do(graph, 'delete Person where name = "cyd"')
    found, last = all_pages(graph, limit, start="beginning")
    whole, _ = all_pages(graph, None, start="beginning")
    assert found == whole
    assert len(found) == 8
    assert last.caught_up
    again, end = all_pages(graph, limit, cursor=last.cursor)
    assert (again, end.caught_up) == ([], True)
    new = do(graph, 'update Person set { age: 41 } where name = "ada"')
    assert [commit for commit, _ in all_pages(graph, limit, cursor=last.cursor)[0]] == [new]


def test_a_page_token_means_the_same_poll_whatever_is_written_meanwhile(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    first = graph.changes.poll(start="beginning", limit=2)
    assert first.next_page_token is not None
    do(graph, 'update Person set { age: 41 } where name = "ada"')
    page = graph.changes.poll(page_token=first.next_page_token, limit=1000)
    assert page.caught_up is False
    later, last = all_pages(graph, cursor=page.cursor)
    assert [change.op for _, change in later] == ["update"]
    assert last.caught_up


def test_a_poll_tells_of_so_many_commits_and_goes_on_from_its_cursor(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    for age in range(5):
        do(graph, f'update Person set {{ age: {age} }} where name = "ada"')
    page = graph.changes.poll(start="beginning", max_commits=3)
    assert (len(page.blocks), page.caught_up) == (3, False)
    rest = graph.changes.poll(cursor=page.cursor)
    assert (len(rest.blocks), rest.caught_up) == (4, True)


def test_starts(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    first = graph.commits.list()[0].id
    second = do(graph, 'update Person set { age: 41 } where name = "ada"')
    assert graph.changes.poll().blocks == graph.changes.poll(start="now").blocks == ()
    assert [commit for commit, _ in all_pages(graph, start=f"after:{first}")[0]] == [second]
    assert len(graph.changes.poll(start="beginning").blocks) == 3


def test_filters_choose_changes_and_not_commits(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    do(graph, 'delete Person where name = "ada"')
    edges, _ = all_pages(graph, start="beginning", kinds=["edge"])
    assert [(change.op, change.id) for _, change in edges] == [("insert", "k1"), ("delete", "k1")]
    deleted, last = all_pages(graph, start="beginning", types=["Person"], ops=["delete"])
    assert [change.id for _, change in deleted] == ["ada"]
    assert len(graph.changes.poll(start="beginning", ops=["delete"]).blocks) == 3
    with pytest.raises(CursorRejected, match="another filter"):
        graph.changes.poll(cursor=last.cursor)


def test_a_branch_is_followed_across_its_fork_and_a_merge_is_one_block(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    graph.branches.create("work")
    for age in (1, 2):
        do(graph, f'update Person set {{ age: {age} }} where name = "ada"', "work")
    do(graph, 'update Person set { age: 3 } where name = "bob"')
    cursor = graph.changes.poll().cursor
    assert len(graph.changes.poll(branch="work", start="beginning").blocks) == 4
    merge = graph.branches.merge("work").commit
    assert merge is not None
    page = graph.changes.poll(cursor=cursor)
    (block,) = page.blocks
    assert block.to_json()["cause"]["merged_parent_commit_id"] == merge.merged_parent
    assert [(change.id, change.changed) for change in block.changes] == [("ada", ("age",))]


def test_upkeep_is_not_told(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    for number in range(40):
        graph.load([person(f"n{number}")], mode="append")
    assert len(graph.snapshot().table("node:Person").fragments()) < 40, "nothing was folded"
    found, _ = all_pages(graph, start="beginning", types=["Person"])
    assert [change.id for _, change in found] == ["ada", "bob", "cyd", *(f"n{number}" for number in range(40))]
    assert {change.op for _, change in found} == {"insert"}


def test_a_baseline_and_what_comes_after_it_are_the_graph(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    taken = graph.changes.baseline()
    do(graph, 'delete Person where name = "cyd"')
    graph.load([person("dan"), knows("k2", "dan", "ada")], mode="append")
    *lines, handshake = [json.loads(line) for line in taken.lines()]
    assert handshake == {
        "baseline": {"snapshot_commit_id": taken.snapshot_commit_id, "resume_cursor": taken.resume_cursor}
    }
    assert [next(iter(line)) for line in lines] == ["edge", "type", "type", "type", "type", "type"]
    copy = og.init(str(tmp_path / "copy.omni"), SCHEMA)
    copy.load(lines, mode="append")
    assert content(copy) == content(graph, commit=taken.snapshot_commit_id)
    for _, change in all_pages(graph, cursor=taken.resume_cursor)[0]:
        if change.op == "delete":
            copy.mutate(f'query q() {{ delete Person where name = "{change.id}" }}')
        else:
            copy.load([record(change)], mode="merge")
    assert content(copy) == content(graph)


def record(change: Any) -> dict[str, Any]:
    if change.after.endpoints is None:
        return {"type": change.type_name, "data": change.after.properties}
    source, target = change.after.endpoints
    return {"edge": change.type_name, "from": source, "to": target, "data": change.after.properties}


def test_a_filtered_baseline_goes_on_with_the_same_filter(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    taken = graph.changes.baseline(types=["Person"], ops=["update"])
    assert len(list(taken.lines())) == 4
    do(graph, 'update Person set { age: 3 } where name = "bob"')
    found, _ = all_pages(graph, cursor=taken.resume_cursor, types=["Person"], ops=["update"])
    assert [change.id for _, change in found] == ["bob"]


def test_history_that_cleanup_reclaimed_is_a_typed_gap(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    start = graph.changes.poll().cursor
    gone = do(graph, 'update Person set { age: 1 } where name = "ada"')
    for age in range(2, 6):
        do(graph, f'update Person set {{ age: {age} }} where name = "ada"')
    kept = graph.changes.poll().cursor
    last = do(graph, 'update Person set { age: 9 } where name = "ada"')
    wait_for_tick(tmp_path)
    graph.cleanup(keep=2, grace_s=0.0, confirm=True)
    fresh = og.open(graph.uri)
    with pytest.raises(ChangeFeedGap) as gap:
        fresh.changes.poll(cursor=start)
    assert gap.value.facts["change_feed_gap"] == {"cursor": start, "first_unreadable_commit_id": gone}
    with pytest.raises(ChangeFeedGap):
        fresh.commits.changes(gone)
    with pytest.raises(ChangeFeedGap):
        fresh.changes.poll(start="beginning")
    assert [commit for commit, _ in all_pages(fresh, cursor=kept)[0]] == [last]
    assert fresh.changes.poll(cursor=fresh.changes.baseline().resume_cursor).caught_up


def test_tokens_are_for_what_they_were_made_for(tmp_path: Path) -> None:
    graph = graph_of(tmp_path / "a")
    other = graph_of(tmp_path / "b")
    graph.branches.create("work")
    cursor = graph.changes.poll(branch="work").cursor
    page = graph.changes.poll(start="beginning", limit=1).next_page_token
    commit = graph.commits.list()[0].id
    of_commit = graph.commits.changes(commit, limit=1).next_page_token
    assert cursor
    assert page
    assert of_commit
    refused = [
        lambda: graph.changes.poll(cursor=cursor),
        lambda: other.changes.poll(cursor=graph.changes.poll().cursor),
        lambda: graph.changes.poll(cursor=page),
        lambda: graph.changes.poll(page_token=cursor, branch="work"),
        lambda: graph.changes.poll(page_token=of_commit),
        lambda: graph.commits.changes(commit, page_token=page),
        lambda: graph.commits.changes(graph.commits.list()[1].id, page_token=of_commit),
        lambda: graph.changes.poll(cursor=cursor[:-2], branch="work"),
        lambda: graph.changes.poll(cursor="x" * 5000),
        lambda: graph.changes.poll(cursor="é"),
        lambda: graph.changes.poll(cursor=""),
    ]
    for attempt in refused:
        with pytest.raises(CursorRejected, match=r"^change cursor rejected: "):
            attempt()
    graph.branches.delete("work")
    graph.branches.create("work")
    with pytest.raises(CursorRejected, match="made again"):
        graph.changes.poll(cursor=cursor, branch="work")
    assert decode_token(cursor, "cursor").encode() == cursor


def test_bad_requests(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    cursor = graph.changes.poll().cursor
    for bad in (
        {"cursor": cursor, "start": "now"},
        {"start": "yesterday"},
        {"limit": 0},
        {"limit": -1},
        {"kinds": ["vertex"]},
        {"ops": ["upsert"]},
    ):
        with pytest.raises(BadRequest):
            graph.changes.poll(**bad)
    for limit in ({"limit": 8193}, {"max_commits": 513}, {"max_commits": 0}):
        with pytest.raises(ResourceLimit):
            graph.changes.poll(**limit)
    unknown = "0" * 26
    for attempt in (
        lambda: graph.changes.poll(start=f"after:{unknown}"),
        lambda: graph.commits.changes(unknown),
        lambda: graph.commits.revert(unknown),
        lambda: graph.commits.cherry_pick(unknown),
        lambda: graph.diff(unknown),
    ):
        with pytest.raises(CommitNotFound):
            attempt()
