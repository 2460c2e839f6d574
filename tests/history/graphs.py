"""Graphs that are forked and put together again, and short ways to say what each side does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import omnigraph as og

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = """
node Person {
    name: String @key
    age: I32?
    email: String? @unique
    note: String?
    @range(age, 0..150)
}
node City { name: String @key }
edge Knows: Person -> Person { since: I32?  note: String? }
edge LivesIn: Person -> City @card(0..1)
"""


def person(name: str, **values: Any) -> dict[str, Any]:
    return {"type": "Person", "data": {"name": name, **values}}


def city(name: str) -> dict[str, Any]:
    return {"type": "City", "data": {"name": name}}


def knows(edge_id: str, source: str, target: str, **values: Any) -> dict[str, Any]:
    return {"edge": "Knows", "from": source, "to": target, "data": {"id": edge_id, **values}}


def lives_in(edge_id: str, source: str, target: str) -> dict[str, Any]:
    return {"edge": "LivesIn", "from": source, "to": target, "data": {"id": edge_id}}


PEOPLE = [
    person("ada", age=36, note="a"),
    person("bob", age=20),
    person("cyd"),
    city("paris"),
    city("rome"),
    knows("k1", "ada", "bob", since=2000),
]


def graph_of(folder: object, records: Iterable[dict[str, Any]] = PEOPLE, schema: str = SCHEMA) -> og.Graph:
    graph = og.init(f"{folder}/g.omni", schema)
    graph.load(list(records), mode="append")
    return graph


def do(graph: og.Graph, statement: str, branch: str = "main") -> str:
    """Run one statement; gives its commit."""
    commit = graph.mutate(f"query q() {{ {statement} }}", branch=branch).commit
    assert commit is not None
    return commit.id


def content(graph: og.Graph, branch: str = "main", commit: str | None = None) -> dict[str, dict[str, dict[str, Any]]]:
    """All rows, by table and id."""
    snapshot = graph.snapshot(branch, commit=commit)
    return {
        key: {row["id"]: row for row in snapshot.table(key).scan().to_pylist()} for key in sorted(snapshot.state.tables)
    }


def row(graph: og.Graph, key: str, entity_id: str, branch: str = "main") -> dict[str, Any] | None:
    return content(graph, branch)[key].get(entity_id)
