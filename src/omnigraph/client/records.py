"""Any input of a load as the lines a server takes, made while they are sent: memory stays what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from omnigraph.history.images import images
from omnigraph.model.clock import SystemIds
from omnigraph.model.violations import Violations
from omnigraph.schema import EdgeType, NodeType, compile_schema
from omnigraph.write.files import data_files
from omnigraph.write.ids import fresh_ids
from omnigraph.write.inputs import Input, each_frame, insist_on_records, kind_of, named_table, typed_frames
from omnigraph.write.sources import open_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.schema import Catalog
    from omnigraph.write.rows import RowBatch
    from omnigraph.write.sources import Source

PIECE_ROWS = 4096
PIECE_BYTES = 4 << 20
"""How much of a frame is written as text at once."""


def has_columns(given: Input) -> bool:
    """Whether the rows are in columns, which take a schema to be read."""
    return kind_of(given) != "jsonl"


def lines_of(given: Input, schema: str | None = None) -> Iterator[bytes]:
    """Chunks of whole lines. A source that is not there is known when this returns."""
    if schema is not None:
        return _frame_lines(given, compile_schema(schema))
    insist_on_records(given)
    files = data_files(given.source, given.options)
    if files is None:
        return _as_they_are(open_lines(given.source, given.options))
    return (chunk for file in files for chunk in _as_they_are(open_lines(file.uri, given.options)))


def _as_they_are(source: Source) -> Iterator[bytes]:
    for _, chunk in source:
        lines = [one if isinstance(one, bytes) else orjson.dumps(one) for one in chunk]
        yield b"\n".join(lines) + b"\n"


# -- frames ----------------------------------------------------------------------------------------------


def _frame_lines(given: Input, catalog: Catalog) -> Iterator[bytes]:
    """Rows are typed here, as a load in process types them; what is wrong with them is not sent."""
    kind, new_ids, wrong = kind_of(given), fresh_ids(SystemIds()), Violations()
    for type_name, frame, start, word in each_frame(given, kind):
        table = named_table(catalog, type_name)
        for batches in typed_frames(frame, table, given.mapping, kind, new_ids, start, word):
            wrong.merge(batches.violations)
            if not wrong.total:
                for rows in batches.tables.values():
                    yield from _written(table, rows)
    wrong.raise_if_any()


def _written(table: NodeType | EdgeType, batch: RowBatch) -> Iterator[bytes]:
    """Rows as records. An id nobody gave is left out: the server makes one."""
    size = max(1, min(PIECE_ROWS, PIECE_BYTES * len(batch) // max(1, batch.table.nbytes)))
    for start in range(0, len(batch), size):
        found = images(table, batch.table.slice(start, size))
        given = batch.given_id.slice(start, size).to_pylist()
        lines: list[bytes] = []
        for image, has_id in zip(found, given, strict=True):
            data = image.properties if has_id else {k: v for k, v in image.properties.items() if k != "id"}
            if image.endpoints is None:
                record: dict[str, object] = {"type": table.name, "data": data}
            else:
                record = {"edge": table.name, "from": image.endpoints[0], "to": image.endpoints[1], "data": data}
            lines.append(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        yield b"".join(lines)
