"""From a chunk of input to typed rows of every table it has records for. No I/O: tasks on other machines run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.violations import Violations
from omnigraph.schema.arrow import table_key
from omnigraph.write.ahead import ahead
from omnigraph.write.identity import Cells
from omnigraph.write.json_columns import read_columns
from omnigraph.write.lines import Lines
from omnigraph.write.pause import collector_paused
from omnigraph.write.records import parse_lines, parse_records
from omnigraph.write.report import Report
from omnigraph.write.rows import RowBatch, assemble, build_rows, concat_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omnigraph.schema.catalog import Catalog
    from omnigraph.write.ids import NewIds
    from omnigraph.write.json_columns import TypedColumns

    Chunk = Sequence[bytes] | Sequence[dict[str, object]]

# Records are large while they are Python's objects: few at a time stay in the processor's cache.
SLICE_LINES = 4096


@dataclass(frozen=True)
class Batches:
    """Rows by table key, and everything that is wrong with the chunk."""

    tables: dict[str, RowBatch]
    violations: Violations


def read_batches(
    chunk: Chunk,
    first: int,
    catalog: Catalog,
    *,
    new_ids: NewIds,
    strict: bool = True,
    word: str = "line",
) -> Batches:
    """Type a chunk: whole lines of NDJSON, or records. Permissive lines: the chunk is the whole text."""
    reader = _Reader(catalog, new_ids, strict, word)
    return reader.batches(chunk, first, reader.columns(chunk))


def read_ahead(
    chunks: Iterable[tuple[int, Chunk]], catalog: Catalog, *, new_ids: NewIds, strict: bool, word: str
) -> Iterator[Batches]:
    """Type chunks, each with the number of its first line or record; the next ones are parsed meanwhile."""
    reader = _Reader(catalog, new_ids, strict, word)
    for (first, chunk), found in ahead(chunks, lambda numbered: reader.columns(numbered[1])):
        yield reader.batches(chunk, first, found)


@dataclass(frozen=True)
class _Reader:
    """Reads lines together where they are as they should be, and one by one where they are not."""

    catalog: Catalog
    new_ids: NewIds
    strict: bool
    word: str

    def columns(self, chunk: Chunk) -> list[TypedColumns] | None:
        """What lines become together, without an id and without a report; None if not every one is as it should be."""
        return read_columns(chunk, self.catalog) if self.strict and isinstance(chunk, Lines) else None

    def batches(self, chunk: Chunk, first: int, found: list[TypedColumns] | None) -> Batches:
        """The rows of a chunk, of which `found` has been read together, or nothing."""
        built: dict[str, list[RowBatch]] = {}
        violations = Violations()
        for key, batch in self._read(chunk, first, found, violations):
            violations.merge(batch.violations)
            built.setdefault(key, []).append(batch)
        return Batches({key: concat_rows(batches) for key, batches in built.items()}, violations)

    def _read(
        self, chunk: Chunk, first: int, found: list[TypedColumns] | None, violations: Violations
    ) -> Iterator[tuple[str, RowBatch]]:
        """Batches by table key; `violations` get those of records that are in none."""
        if not chunk:
            return
        if isinstance(chunk[0], bytes) and not self.strict:
            yield from self._one_by_one(chunk, first, violations)
            return
        if found is not None:
            yield from self._together(found, first)
            return
        for start in range(0, len(chunk), SLICE_LINES):
            part = chunk[start : start + SLICE_LINES]
            found = self.columns(part) if len(part) < len(chunk) else None
            if found is not None:
                yield from self._together(found, first + start)
            else:
                yield from self._one_by_one(part, first + start, violations)

    def _together(self, found: list[TypedColumns], first: int) -> Iterator[tuple[str, RowBatch]]:
        return ((table_key(each.table), self._rows(each, first)) for each in found)

    def _rows(self, found: TypedColumns, first: int) -> RowBatch:
        cells = Cells(found.table, first + found.numbers, Report(self.word))
        return assemble(cells, {**found.columns}, found.ids, self.new_ids)

    def _one_by_one(self, chunk: Chunk, first: int, violations: Violations) -> Iterator[tuple[str, RowBatch]]:
        parse = parse_lines if isinstance(chunk[0], bytes) else parse_records
        parsed = parse(chunk, first, self.catalog, strict=self.strict, word=self.word)  # type: ignore[arg-type]
        violations.merge(parsed.violations)
        tables = {table_key(table): table for table in (*self.catalog.nodes, *self.catalog.edges)}
        for key in list(parsed.tables):
            with collector_paused():
                # Taken out, so that the records are freed while they are still in the cache.
                records = parsed.tables.pop(key)
                batch = build_rows(tables[key], records, new_ids=self.new_ids, strict=self.strict, word=self.word)
            yield key, batch
