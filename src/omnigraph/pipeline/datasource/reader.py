"""Reading a table in tasks: one snapshot for all of them, fixed when the query is planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from omnigraph.export import select
from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.datasource.columns import arrow_schema
from omnigraph.pipeline.datasource.filters import lance_filter
from omnigraph.pipeline.slices import SLICE_ROWS, TableSlice, cut, read_slice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

    from omnigraph.export.rows import TableRows
    from omnigraph.pipeline.datasource.options import SourceOptions


@dataclass
class SlicePartition(InputPartition):
    """A slice of a table, for one task."""

    value: TableSlice


class TableReader(DataSourceReader):
    """Reads the columns of the schema, of the rows that meet the option `filter`."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options = options
        self._schema = schema
        self._where: str | None = options.get("filter")

    def partitions(self) -> Sequence[InputPartition]:
        """Slices of the snapshot as it is now."""
        options = self._options
        opened = open_table(options)
        missing = [name for name in self._schema.fieldNames() if name not in opened.handle.schema.names]
        if missing:
            raise BadRequest(f"{opened.table.name} has no column {missing[0]!r}", column=missing[0])
        rows = options.number("rowsPerTask", SLICE_ROWS)
        return [SlicePartition(piece) for piece in cut(opened.handle, options.uri, options.storage, rows)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a slice."""
        assert isinstance(partition, SlicePartition)
        schema = arrow_schema(self._schema)
        for rows in read_slice(partition.value, self._schema.fieldNames(), self._where):
            yield from rows.cast(schema).to_batches()


class PushingReader(TableReader):
    """Lets Lance leave out rows that Spark's filters do not want.

    Only for frames that are used once: Spark keeps the first plan of a frame, and with it the filters of that plan.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Note what Lance can do; Spark looks at the rows that are left once more."""
        pushed = lance_filter(filters, open_table(self._options).table)
        if pushed is not None:
            self._where = pushed if self._where is None else f"({self._where}) AND {pushed}"
        return filters


def open_table(options: SourceOptions) -> TableRows:
    """The table that options name."""
    graph = options.open()
    chosen = select(graph.repository, options.branch, snapshot=options.snapshot, types=[options.wanted_type])
    table, *others = chosen.tables
    if others:
        raise BadRequest(f"a node type and an edge type are called {options.wanted_type}: write node:… or edge:…")
    return table
