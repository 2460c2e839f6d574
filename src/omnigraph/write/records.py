"""Records grouped by the table they are for: NDJSON, or Python's dicts of the same shape. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnigraph.model.violations import ViolationKind, Violations
from omnigraph.write.grouping import Records, group_records
from omnigraph.write.json_lines import BOM, encoding_fault, read_lines
from omnigraph.write.json_stream import read_stream
from omnigraph.write.pause import collector_paused
from omnigraph.write.places import number_of
from omnigraph.write.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.schema.catalog import Catalog


@dataclass(frozen=True)
class Parsed:
    """Records by table key, and what was wrong with the rest."""

    tables: dict[str, Records]
    violations: Violations

    def then(self, other: Parsed) -> Parsed:
        """Give what came out of this part of an input followed by another part."""
        tables = dict(self.tables)
        for key, records in other.tables.items():
            tables[key] = tables[key].then(records) if key in tables else records
        violations = Violations()
        violations.merge(self.violations)
        violations.merge(other.violations)
        return Parsed(tables, violations)


def parse_lines(
    chunk: bytes | Sequence[bytes], first_line: int, catalog: Catalog, *, strict: bool = True, word: str = "line"
) -> Parsed:
    """Parse whole lines of NDJSON. Permissive: the chunk is the whole text, because values may span lines."""
    report = Report(word)
    start = _start(chunk)
    fault = encoding_fault(start) if number_of(first_line) == 1 else None
    if fault is not None:
        report.add(ViolationKind.SYNTAX, fault, 1)
        return Parsed({}, report.violations)
    with collector_paused():
        if strict:
            values, numbers = read_lines(_lines(chunk, first_line), first_line, report)
        else:
            text = chunk if isinstance(chunk, bytes) else b"\n".join(chunk)
            values, numbers = read_stream(text, first_line, report)
        return Parsed(group_records(values, numbers, catalog, report, strict=strict), report.violations)


def _lines(chunk: bytes | Sequence[bytes], first_line: int) -> Sequence[bytes]:
    lines = chunk.split(b"\n") if isinstance(chunk, bytes) else list(chunk)
    if number_of(first_line) == 1 and lines and lines[0].startswith(BOM):
        return [lines[0].removeprefix(BOM), *lines[1:]]
    return lines


def parse_records(
    records: Sequence[object], first: int, catalog: Catalog, *, strict: bool = True, word: str = "record"
) -> Parsed:
    """Take records that are Python's dicts already."""
    report = Report(word)
    numbers = np.arange(first, first + len(records), dtype=np.int64)
    return Parsed(group_records(records, numbers, catalog, report, strict=strict), report.violations)


def _start(chunk: bytes | Sequence[bytes]) -> bytes:
    if isinstance(chunk, bytes):
        return chunk[:4]
    return chunk[0][:4] if chunk else b""
