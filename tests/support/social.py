"""A small graph with every kind of rule, for tests of writing."""

from __future__ import annotations

from typing import Any

import omnigraph as og

SCHEMA = """
node Person {
  name: String @key
  age: I32?
  email: String? @unique
  mood: enum(happy, sad)?
  born: Date?
  seen: DateTime?
  tags: [String]?
  @range(age, 0..150)
  @check(email, "@")
}
node City { name: String @key  country: String  @unique(country, name) }
node Note { text: String  stars: I32 @default(3) }
edge Knows: Person -> Person { since: Date?  weight: F64? }
edge LivesIn: Person -> City @card(0..1)
edge Likes: Person -> Note @card(1..3)
edge About: Note -> Person { role: String? @unique(src, role) }
""".replace("role: String? @unique(src, role)", "role: String?  @unique(src, role)")

EVOLVED = (
    SCHEMA.replace("born: Date?", "born: Date?\n  nick: String?")
    .replace("node Note {", 'node Memo @rename_from("Note") {')
    .replace("-> Note", "-> Memo")
    .replace("Note ->", "Memo ->")
    + """
node Pet { name: String @key }
edge Owns: Person -> Pet
"""
)
"""The same with a property, a type and an edge more, and a type of another name."""

PEOPLE: list[dict[str, Any]] = [
    {"type": "Person", "data": {"name": "ada", "age": 36, "email": "ada@x.org", "mood": "happy"}},
    {"type": "Person", "data": {"name": "bob", "age": 20}},
    {"type": "Person", "data": {"name": "cyd"}},
    {"type": "City", "data": {"name": "paris", "country": "fr"}},
    {"type": "City", "data": {"name": "rome", "country": "it"}},
    {"edge": "Knows", "from": "ada", "to": "bob", "data": {"id": "k1", "since": "2020-01-01"}},
    {"edge": "Knows", "from": "bob", "to": "cyd", "data": {"id": "k2"}},
    {"edge": "LivesIn", "from": "ada", "to": "paris", "data": {"id": "l1"}},
]


def social(uri: object, **how: Any) -> og.Graph:
    graph = og.init(str(uri), SCHEMA, **how)
    graph.load(PEOPLE, mode="append")
    return graph


def rows(graph: og.Graph, key: str, **where: Any) -> list[dict[str, Any]]:
    return sorted(graph.snapshot(**where).table(key).scan().to_pylist(), key=lambda row: row["id"])


def ids(graph: og.Graph, key: str, **where: Any) -> list[str]:
    return [row["id"] for row in rows(graph, key, **where)]


def contents(graph: og.Graph, **where: Any) -> dict[str, list[dict[str, Any]]]:
    state = graph.snapshot(**where).state
    return {key: rows(graph, key, **where) for key in state.tables}


def orphans(graph: og.Graph, **where: Any) -> list[str]:
    """Edges that do not end at nodes."""
    snapshot = graph.snapshot(**where)
    catalog = graph.repository.catalogs.get(snapshot.schema_hash).catalog
    found: list[str] = []
    for edge in catalog.edges:
        ends = {
            end: set(ids(graph, f"node:{name}", **where)) for end, name in (("src", edge.source), ("dst", edge.target))
        }
        found += [
            f"{edge.name} {row['id']}: {row['src']} -> {row['dst']}"
            for row in rows(graph, f"edge:{edge.name}", **where)
            if row["src"] not in ends["src"] or row["dst"] not in ends["dst"]
        ]
    return found
