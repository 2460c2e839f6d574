"""A social graph with documents, of any size, as files to load: for the tour and for benches."""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = """
node Person {
    name: String @key
    age: I32?
    country: String?
    @range(age, 0..150)
}
node Document {
    slug: String @key
    title: String
    published: Date?
}
node Topic { name: String @key }

edge Follows: Person -> Person { since: Date? }
edge Wrote: Person -> Document
edge About: Document -> Topic { weight: F64? }
"""

TOPICS = (
    *("astronomy", "bees", "bridges", "chess", "clouds", "coffee", "compilers", "dance", "design", "ferries"),
    *("gardens", "glaciers", "graphs", "history", "islands", "jazz", "lighthouses", "maps", "music", "ocean"),
    *("optics", "poetry", "radio", "sailing", "spices", "textiles", "trains", "tides", "wolves", "yeast"),
)
COUNTRIES = ("Brazil", "Chile", "Estonia", "France", "Ghana", "India", "Japan", "Kenya", "Mexico", "Norway", "Peru")
_FIRST = ("ada", "alan", "barbara", "chen", "dario", "edsger", "fatima", "grace", "hedy", "ines", "john", "lise")
_LAST = ("adler", "bianchi", "costa", "diaz", "fischer", "garcia", "haddad", "ito", "jansen", "lopez", "okafor")


@dataclass(frozen=True)
class Social:
    """How large it is."""

    people: int
    documents: int
    follows: int
    seed: int = 7

    def write(self, folder: Path) -> int:
        """Write it as files of lines, one of them packed; gives the number of entities."""
        folder.mkdir(parents=True)
        count = 0
        for name, records in {
            "people": self._people(),
            "follows": self._follows(),
            "documents": self._papers(),
        }.items():
            path = folder / f"{name}.jsonl{'.gz' if name == 'documents' else ''}"
            with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else path.open("wb") as file:
                for record in records:
                    file.write(orjson.dumps(record) + b"\n")
                    count += 1
        return count

    def _people(self) -> Iterator[dict[str, Any]]:
        dice = random.Random(self.seed)
        yield from ({"type": "Topic", "data": {"name": topic}} for topic in TOPICS)
        for number in range(self.people):
            data = {
                "name": person(number),
                "age": 16 + int(dice.betavariate(2, 3) * 70),
                "country": dice.choice(COUNTRIES),
            }
            yield {"type": "Person", "data": data}

    def _follows(self) -> Iterator[dict[str, Any]]:
        """Few have many followers: most follow somebody who is known already."""
        dice = random.Random(self.seed + 1)
        for _ in range(self.follows):
            one, other = dice.randrange(self.people), int(self.people * dice.random() ** 3)
            since = f"20{dice.randrange(10, 26)}-{dice.randrange(1, 13):02d}-{dice.randrange(1, 29):02d}"
            yield {"edge": "Follows", "from": person(one), "to": person(other), "data": {"since": since}}

    def _papers(self) -> Iterator[dict[str, Any]]:
        dice = random.Random(self.seed + 2)
        for number in range(self.documents):
            topics = dice.sample(TOPICS, dice.choice((1, 1, 2)))
            slug, title = f"doc-{number}", f"On {' and '.join(topics)}, part {number % 9 + 1}"
            published = f"20{dice.randrange(10, 26)}-{dice.randrange(1, 13):02d}-{dice.randrange(1, 29):02d}"
            yield {"type": "Document", "data": {"slug": slug, "title": title, "published": published}}
            author = int(self.people * dice.random() ** 2)
            yield {"edge": "Wrote", "from": person(author), "to": slug, "data": {}}
            for topic in topics:
                yield {"edge": "About", "from": slug, "to": topic, "data": {"weight": round(dice.random(), 2)}}


def person(number: int) -> str:
    """A name that tells people apart."""
    return f"{_FIRST[number % len(_FIRST)]} {_LAST[number // len(_FIRST) % len(_LAST)]} {number}"
