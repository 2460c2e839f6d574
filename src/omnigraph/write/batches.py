"""From a chunk of input to typed rows of every table it has records for. No I/O: tasks on other machines run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.violations import Violations
from omnigraph.schema.arrow import table_key
from omnigraph.write.pause import collector_paused
from omnigraph.write.records import parse_lines, parse_records
from omnigraph.write.rows import RowBatch, build_rows, concat_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omnigraph.schema.catalog import Catalog, EdgeType, NodeType
    from omnigraph.write.records import Parsed

# Records are large while they are Python's objects: few at a time stay in the processor's cache.
SLICE_LINES = 4096


@dataclass(frozen=True)
class Batches:
    """Rows by table key, and everything that is wrong with the chunk."""

    tables: dict[str, RowBatch]
    violations: Violations


def read_batches(
    chunk: Sequence[bytes] | Sequence[dict[str, object]],
    first: int,
    catalog: Catalog,
    *,
    new_id: Callable[[], str],
    strict: bool = True,
    word: str = "line",
) -> Batches:
    """Type a chunk: whole lines of NDJSON, or records. Permissive lines: the chunk is the whole text."""
    tables = {table_key(table): table for table in (*catalog.nodes, *catalog.edges)}
    built: dict[str, list[RowBatch]] = {}
    violations = Violations()
    for parsed in _parsed(chunk, first, catalog, strict, word):
        violations.merge(parsed.violations)
        for key, batch in _built(parsed, tables, new_id, strict, word):
            violations.merge(batch.violations)
            built.setdefault(key, []).append(batch)
    return Batches({key: concat_rows(batches) for key, batches in built.items()}, violations)


def _parsed(
    chunk: Sequence[bytes] | Sequence[dict[str, object]], first: int, catalog: Catalog, strict: bool, word: str
) -> Iterator[Parsed]:
    if chunk and isinstance(chunk[0], bytes) and not strict:
        yield parse_lines(chunk, first, catalog, strict=False, word=word)  # type: ignore[arg-type]
        return
    parse = parse_lines if chunk and isinstance(chunk[0], bytes) else parse_records
    for start in range(0, len(chunk), SLICE_LINES):
        yield parse(chunk[start : start + SLICE_LINES], first + start, catalog, strict=strict, word=word)  # type: ignore[arg-type]


def _built(
    parsed: Parsed, tables: dict[str, NodeType | EdgeType], new_id: Callable[[], str], strict: bool, word: str
) -> Iterator[tuple[str, RowBatch]]:
    for key in list(parsed.tables):
        with collector_paused():
            # Taken out, so that the records are freed while they are still in the cache.
            batch = build_rows(tables[key], parsed.tables.pop(key), new_id=new_id, strict=strict, word=word)
        yield key, batch
