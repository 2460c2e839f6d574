"""Inputs for loads on either engine: social graphs as lines, clean, and dirty in every way that there is."""

from __future__ import annotations

import random
from typing import Any

import orjson

SCHEMA = """
node Person {
  name: String @key
  age: I32?
  email: String? @unique
  mood: enum(happy, sad)?
  score: F64? @unique
  @range(age, 0..150)
  @check(email, "@")
}
node City { name: String @key  country: String  @unique(country, name) }
node Note { text: String  stars: I32 @default(3) }
edge Knows: Person -> Person { since: Date?  weight: F64? }
edge LivesIn: Person -> City @card(0..1)
edge Wrote: Person -> Note { role: String? }
"""


def node(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def edge(kind: str, source: str, target: str, **data: Any) -> dict[str, Any]:
    return {"edge": kind, "from": source, "to": target, "data": data}


def clean(people: int, seed: int = 1, *, edge_ids: bool = True) -> list[dict[str, Any]]:
    """People, towns, notes with ids, and edges between them; nodes and edges come mixed."""
    dice = random.Random(seed)
    records = [node("City", name=f"city {n}", country=f"country {n % 3}") for n in range(20)]
    records += [
        node("Person", name=f"p{n}", age=dice.randrange(150), email=f"p{n}@x.org" if n % 3 else None, score=float(n))
        for n in range(people)
    ]
    records += [node("Note", id=f"note{n}", text=f"text {n}") for n in range(people // 5)]
    given = (lambda name: {"id": name}) if edge_ids else (lambda _: {})
    records += [
        edge(
            "Knows",
            f"p{dice.randrange(people)}",
            f"p{dice.randrange(people)}",
            since="2020-02-03",
            weight=dice.random(),
            **given(f"k{n}"),
        )
        for n in range(3 * people)
    ]
    records += [edge("LivesIn", f"p{n}", f"city {dice.randrange(20)}", **given(f"l{n}")) for n in range(0, people, 2)]
    records += [edge("Wrote", f"p{n * 5}", f"note{n}", role="author", **given(f"w{n}")) for n in range(people // 5)]
    dice.shuffle(records)
    return records


def changed(people: int) -> list[dict[str, Any]]:
    """Changes of what `clean` made: rows that are there, rows that are new, an id that comes twice."""
    return [
        *(node("Person", name=f"p{n}", age=1) for n in range(0, people, 7)),
        *(node("Person", name=f"new{n}", score=-1.0 - n) for n in range(50)),
        *(edge("Knows", f"new{n}", "p1", id=f"k{n}", weight=-1.0) for n in range(40)),
        *(edge("LivesIn", f"p{n * 2}", "city 1", id=f"l{n * 2}") for n in range(10)),
        edge("Knows", "p1", "p2", id="twice", weight=1.0),
        node("Note", id="note1", text="first"),
        edge("Knows", "p2", "p3", id="twice", weight=2.0),
        node("Note", id="note1", text="second"),
    ]


def dirty(people: int) -> list[bytes]:
    """What `clean` makes, with lines in between that break every rule."""
    lines = [orjson.dumps(record) for record in clean(people, seed=2)]
    wrong: list[Any] = [
        b"{not json",
        b"",
        b'{"type": "Person", "data": {"name": "x", "name": "y"}}',
        node("Person", name="p1", age=3),
        node("Person", name="old", age=1000),
        node("Person", name="text", age="many"),
        node("Person", name="moody", mood="angry"),
        node("Person", age=3),
        node("Person", name="mail", email="no address"),
        node("Person", name="same mail", email="p1@x.org"),
        node("Person", name="same score", score=3.0),
        node("Person", name="unknown", nmae="x"),
        node("Persn", name="x"),
        node("City", name="city 1", country="country 1"),
        edge("Knows", "p1", "nobody", id="e1"),
        edge("Knows", "nobody", "p1", id="e2"),
        edge("LivesIn", "p0", "city 0", id="e3"),
        edge("LivesIn", "p0", "city 2", id="e4"),
        edge("Wrote", "p0", "no note", id="e5"),
        edge("knows", "p3", "p4", id="e6"),
        edge("Knows", "p1", "p2", id="e7", weight="heavy", since="yesterday"),
    ]
    dice = random.Random(3)
    for number, each in enumerate(wrong * 8):
        line = each if isinstance(each, bytes) else orjson.dumps(each)
        line = line.replace(b'"e', f'"{number}e'.encode()) if number >= len(wrong) else line
        lines.insert(dice.randrange(len(lines)), line)
    return lines


def as_lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)
