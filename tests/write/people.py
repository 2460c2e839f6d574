"""A small schema, and short ways to put lines through it."""

from collections.abc import Callable
from itertools import count

import pyarrow as pa

from omnigraph.model.violations import Violations
from omnigraph.schema import compile_schema
from omnigraph.write.batches import read_batches
from omnigraph.write.records import Parsed, parse_lines
from omnigraph.write.rows import RowBatch

CATALOG = compile_schema(
    """
node Person {
    name: String @key
    age: I32?
    born: Date?
    role: enum(admin, guest) @default("guest")
    tags: [String]?
    at: Vector(2)?
    photo: Blob?
}
node Note { text: String  stars: I32? @default(3) }
node Day { day: Date @key  title: String? }
node Spot { x: F64  y: I32  @key(x, y) }
edge Knows: Person -> Person { since: DateTime?  weight: F64? }
edge Wrote: Person -> Note
"""
)
PERSON, NOTE, DAY, SPOT = (CATALOG.node_types[name] for name in ("Person", "Note", "Day", "Spot"))
KNOWS = CATALOG.edge_types["Knows"]


def parse(text: str | bytes, *, strict: bool = True, first_line: int = 1) -> Parsed:
    data = text.encode() if isinstance(text, str) else text
    return parse_lines(data, first_line, CATALOG, strict=strict)


def faults(violations: Violations) -> list[str]:
    """Give the violations as texts, in order, after checking that the counts agree."""
    assert violations.total == len(violations.kept)
    return [str(violation) for violation in sorted(violations.kept, key=lambda v: v.position)]


def wrong(text: str | bytes, *, strict: bool = True) -> list[str]:
    return faults(parse(text, strict=strict).violations)


def counted_ids() -> Callable[[int], pa.StringArray]:
    """Ids that say how many were made before them."""
    numbers = count(1)
    return lambda wanted: pa.array([f"new-{next(numbers)}" for _ in range(wanted)], pa.string())


def rows(text: str | bytes, *, strict: bool = True) -> dict[str, RowBatch]:
    """Give the rows of every table; new ids are new-1, new-2 and so on."""
    data = text.encode() if isinstance(text, str) else text
    return read_batches(data.split(b"\n"), 1, CATALOG, new_ids=counted_ids(), strict=strict).tables
