"""JSONL: one record for each line, as a load reads it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from omnigraph.schema import EdgeType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnigraph.export.rows import Records, TableRows

CHUNK_BYTES = 64 << 10


def json_lines(records: Records) -> Iterator[bytes]:
    """The lines of some rows; nulls are written, so that a record is the whole row."""
    table, columns = records.table, records.columns
    names = ["id", *(each.name for each in table.properties)]
    rows = zip(*(columns[name] for name in names), strict=True)
    dump = orjson.dumps
    if isinstance(table, EdgeType):
        for source, target, row in zip(columns["src"], columns["dst"], rows, strict=True):
            record = {"edge": table.name, "from": source, "to": target, "data": dict(zip(names, row, strict=True))}
            yield dump(record, option=orjson.OPT_APPEND_NEWLINE)
        return
    for row in rows:
        yield dump({"type": table.name, "data": dict(zip(names, row, strict=True))}, option=orjson.OPT_APPEND_NEWLINE)


def graph_lines(tables: Iterable[TableRows]) -> Iterator[bytes]:
    """All records in chunks of whole lines: about 64 KiB, more only where one line is longer."""
    chunk: list[bytes] = []
    size = 0
    for table in tables:
        for records in table.records():
            for line in json_lines(records):
                if chunk and size + len(line) > CHUNK_BYTES:
                    yield b"".join(chunk)
                    chunk, size = [], 0
                chunk.append(line)
                size += len(line)
    if chunk:
        yield b"".join(chunk)
