"""Choices for conflicts: what fits is done, what does not is refused and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnigraph.history import Choice, MergeConflicts, ResolutionInvalid, read_resolution
from tests.history.graphs import content, do, graph_of

if TYPE_CHECKING:
    from pathlib import Path

    import omnigraph as og

ADA: dict[str, Any] = {"entity_kind": "node", "type_name": "Person", "entity_id": "ada"}
BOB: dict[str, Any] = {**ADA, "entity_id": "bob"}


@pytest.fixture
def graph(tmp_path: Path) -> og.Graph:
    """Both sides changed two properties of ada; one changed bob, and the other deleted him."""
    made = graph_of(tmp_path)
    made.branches.create("work")
    do(made, 'update Person set { age: 1, note: "ours" } where name = "ada"')
    do(made, 'update Person set { age: 2, note: "theirs" } where name = "ada"', "work")
    do(made, 'update Person set { age: 3 } where name = "bob"')
    do(made, 'delete Person where name = "bob"', "work")
    return made


def outcome(graph: og.Graph) -> list[object]:
    rows = content(graph)["node:Person"]
    return [rows["ada"]["age"], rows["ada"]["note"], rows.get("bob", {}).get("age")]


@pytest.mark.parametrize(
    ("resolution", "expected"),
    [
        ("ours", [1, "ours", 3]),
        ("theirs", [2, "theirs", None]),
        ([{**ADA, "take": "theirs"}, {**BOB, "take": "ours"}], [2, "theirs", 3]),
        ([{**ADA, "properties": {"age": "theirs"}, "take": "ours"}, {**BOB, "take": "theirs"}], [2, "ours", None]),
        (lambda conflict: "ours" if conflict.entity_id == "ada" else Choice("theirs"), [1, "ours", None]),
        ({"default": "theirs", "conflicts": [{**BOB, "take": "ours"}]}, [2, "theirs", 3]),
    ],
)
def test_choices_are_followed(graph: og.Graph, resolution: Any, expected: list[object]) -> None:
    result = graph.branches.merge("work", resolution=resolution)
    assert result.outcome == "merged"
    assert len(result.conflicts) == 2
    assert outcome(graph) == expected


@pytest.mark.parametrize(
    "resolution", [[{**ADA, "take": "ours"}], [{**ADA, "properties": {"age": "ours"}}], lambda _: None]
)
def test_what_is_left_open_is_still_a_conflict(graph: og.Graph, resolution: Any) -> None:
    before = content(graph)
    with pytest.raises(MergeConflicts) as refused:
        graph.branches.merge("work", resolution=resolution)
    assert BOB["entity_id"] in {one.entity_id for one in refused.value.conflicts}
    assert content(graph) == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no JSON"),
        ("3", "a resolution is a list"),
        ("[3]", "an object is expected"),
        ('[{"entity_kind":"node"}]', "type_name"),
        ('[{"entity_kind":"node","type_name":"Person","entity_id":"ada"}]', "nothing is chosen"),
        ('[{"entity_kind":"node","type_name":"Person","entity_id":"ada","take":"mine"}]', "neither ours nor theirs"),
        ('[{"entity_kind":"node","type_name":"Person","entity_id":"ada","tak":"ours"}]', "did you mean"),
        ('[{"entity_kind":"node","type_name":"Person","entity_id":"cyd","take":"ours"}]', "no conflict about"),
        (
            '[{"entity_kind":"node","type_name":"Person","entity_id":"ada","properties":{"email":"ours"}}]',
            "is not in conf",
        ),
    ],
)
def test_a_file_that_does_not_fit_changes_nothing(graph: og.Graph, text: str, told: str) -> None:
    before, commits = content(graph), graph.commits.list()
    with pytest.raises(ResolutionInvalid, match=told):
        graph.branches.merge("work", resolution=read_resolution(text, "chosen.json"))
    assert (content(graph), graph.commits.list()) == (before, commits)
