"""What becomes of one entity: everything one side can have done to it, against everything the other can."""

from __future__ import annotations

import itertools

import pytest

import omnigraph as og
from tests.history.graphs import content, do, graph_of, knows, person

BASE = {"node": {"age": 1, "note": "base"}, "edge": {"since": 1, "note": "base"}}
NUMBER = {"node": "age", "edge": "since"}

# What a side did. The entity is there in the base for all but inserts.
DEEDS = ("unchanged", "number to 2", "number to 3", "note to x", "deleted")
INSERTS = ("nothing", "insert 2", "insert 3", "insert 2 with note")

EXPECTED_DEEDS: dict[tuple[str, str], object] = {
    # ours, theirs → the number and the note afterwards, None if the entity is gone, or a kind of conflict
    ("unchanged", "unchanged"): (1, "base"),
    ("unchanged", "number to 2"): (2, "base"),
    ("unchanged", "number to 3"): (3, "base"),
    ("unchanged", "note to x"): (1, "x"),
    ("unchanged", "deleted"): None,
    ("number to 2", "unchanged"): (2, "base"),
    ("number to 2", "number to 2"): (2, "base"),
    ("number to 2", "number to 3"): "divergent_update",
    ("number to 2", "note to x"): (2, "x"),
    ("number to 2", "deleted"): "delete_vs_update",
    ("number to 3", "unchanged"): (3, "base"),
    ("number to 3", "number to 2"): "divergent_update",
    ("number to 3", "number to 3"): (3, "base"),
    ("number to 3", "note to x"): (3, "x"),
    ("number to 3", "deleted"): "delete_vs_update",
    ("note to x", "unchanged"): (1, "x"),
    ("note to x", "number to 2"): (2, "x"),
    ("note to x", "number to 3"): (3, "x"),
    ("note to x", "note to x"): (1, "x"),
    ("note to x", "deleted"): "delete_vs_update",
    ("deleted", "unchanged"): None,
    ("deleted", "number to 2"): "delete_vs_update",
    ("deleted", "number to 3"): "delete_vs_update",
    ("deleted", "note to x"): "delete_vs_update",
    ("deleted", "deleted"): None,
}
EXPECTED_INSERTS: dict[tuple[str, str], object] = {
    ("nothing", "nothing"): None,
    ("nothing", "insert 2"): (2, None),
    ("nothing", "insert 3"): (3, None),
    ("nothing", "insert 2 with note"): (2, "x"),
    ("insert 2", "nothing"): (2, None),
    ("insert 2", "insert 2"): (2, None),
    ("insert 2", "insert 3"): "divergent_insert",
    ("insert 2", "insert 2 with note"): (2, "x"),
    ("insert 3", "nothing"): (3, None),
    ("insert 3", "insert 2"): "divergent_insert",
    ("insert 3", "insert 3"): (3, None),
    ("insert 3", "insert 2 with note"): "divergent_insert",
    ("insert 2 with note", "nothing"): (2, "x"),
    ("insert 2 with note", "insert 2"): (2, "x"),
    ("insert 2 with note", "insert 3"): "divergent_insert",
    ("insert 2 with note", "insert 2 with note"): (2, "x"),
}


def test_the_tables_are_complete() -> None:
    assert set(EXPECTED_DEEDS) == set(itertools.product(DEEDS, DEEDS))
    assert set(EXPECTED_INSERTS) == set(itertools.product(INSERTS, INSERTS))


def entity(kind: str, name: str, **values: object) -> dict[str, object]:
    return person(name, **values) if kind == "node" else knows(name, "ada", "bob", **values)


def act(graph: og.Graph, kind: str, name: str, deed: str, branch: str) -> None:
    """Do to one entity what a deed says."""
    number = NUMBER[kind]
    now = dict(BASE[kind])
    match deed.split():
        case ["unchanged"] | ["nothing"]:
            return
        case ["deleted"] if kind == "node":
            do(graph, f'delete Person where name = "{name}"', branch)
            return
        case ["deleted"]:
            key = "edge:Knows"
            graph.write(lambda txn: txn.plan("mutate") if txn.change(key, None, [name]) else None, branch=branch)
            return
        case ["number", "to", value]:
            now[number] = int(value)
        case ["note", "to", value]:
            now["note"] = value
        case ["insert", value, *more]:
            now = {number: int(value), **({"note": "x"} if more else {})}
    graph.load([entity(kind, name, **now)], mode="merge", branch=branch)


@pytest.fixture(scope="module", params=["node", "edge"])
def merged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """One graph in which every cell has an entity of its own: first what conflicts is found, then the rest merged."""
    kind = request.param
    graph = graph_of(tmp_path_factory.mktemp("cells"), [person("ada"), person("bob")])
    cells = {f"d{i}": cell for i, cell in enumerate(EXPECTED_DEEDS)} | {
        f"i{i}": cell for i, cell in enumerate(EXPECTED_INSERTS)
    }
    graph.load([entity(kind, name, **BASE[kind]) for name in cells if name[0] == "d"], mode="append")
    graph.branches.create("theirs")
    for name, (ours, theirs) in cells.items():
        act(graph, kind, name, ours, "main")
        act(graph, kind, name, theirs, "theirs")
    found = graph.branches.merge("theirs", dry_run=True)
    conflicts = {conflict.entity_id: conflict for conflict in found.conflicts}
    graph.branches.create("took-ours")
    graph.branches.create("took-theirs")
    graph.branches.merge("theirs", into="took-ours", resolution="ours")
    graph.branches.merge("theirs", into="took-theirs", resolution="theirs")
    before, key = content(graph), f"{kind}:{'Person' if kind == 'node' else 'Knows'}"
    with pytest.raises(og.OmniGraphError) as refused:
        graph.branches.merge("theirs")
    assert content(graph) == before
    return (
        kind,
        cells,
        conflicts,
        refused.value,
        {name: content(graph, name)[key] for name in ("main", "theirs", "took-ours", "took-theirs")},
    )


def expected_of(name: str, cells: dict[str, tuple[str, str]]) -> object:
    return (EXPECTED_DEEDS if name[0] == "d" else EXPECTED_INSERTS)[cells[name]]


def values(kind: str, row: dict[str, object] | None) -> tuple[object, object] | None:
    return None if row is None else (row[NUMBER[kind]], row["note"])


CELLS = [f"d{i}" for i in range(len(EXPECTED_DEEDS))] + [f"i{i}" for i in range(len(EXPECTED_INSERTS))]


@pytest.mark.parametrize("name", CELLS)
def test_every_cell(merged, name: str) -> None:
    kind, cells, conflicts, refused, tables = merged
    expected = expected_of(name, cells)
    ours, theirs = (values(kind, tables[side].get(name)) for side in ("main", "theirs"))
    taken = [values(kind, tables[side].get(name)) for side in ("took-ours", "took-theirs")]
    if not isinstance(expected, str):
        assert name not in conflicts
        assert taken == [expected, expected]
        return
    conflict = conflicts[name]
    assert (conflict.kind, conflict.entity_kind) == (expected, kind)
    assert conflict.to_json() in refused.facts["merge_conflicts"]
    for image, seen in ((conflict.ours, ours), (conflict.theirs, theirs)):
        assert (image is None) == (seen is None)
        assert image is None or (image.properties[NUMBER[kind]], image.properties["note"]) == seen
    assert (conflict.base is None) == (expected == "divergent_insert")
    if expected == "delete_vs_update":
        assert taken == [ours, theirs]
        assert conflict.properties == ()
    else:
        assert conflict.properties == (NUMBER[kind],)
        assert [one[0] for one in taken if one] == [side[0] for side in (ours, theirs) if side]


def test_a_refused_merge_tells_all_conflicts_at_once(merged) -> None:
    _, cells, conflicts, refused, _ = merged
    wanted = {name for name in cells if isinstance(expected_of(name, cells), str)}
    assert set(conflicts) == wanted
    assert len(refused.facts["merge_conflicts"]) == len(wanted)
