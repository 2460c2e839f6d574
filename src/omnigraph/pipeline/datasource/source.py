"""The data source `omnigraph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from omnigraph.pipeline.datasource.options import read_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType


class OmniGraphSource(DataSource):
    """Tables of a graph as frames."""

    @classmethod
    def name(cls) -> str:
        """The word for `format(…)`."""
        return "omnigraph"

    def schema(self) -> StructType:
        """The columns of the type, or those of them that `columns` names; without a type those of the change feed."""
        from pyspark.sql.types import StructType

        from omnigraph.pipeline.datasource.columns import spark_schema
        from omnigraph.pipeline.datasource.reader import open_table

        options = read_options(self.options)
        if options.type_name is None:
            from omnigraph.pipeline.datasource.changes import CHANGES

            return CHANGES
        names = [name.strip() for name in (options.get("columns") or "").split(",") if name.strip()]
        whole = spark_schema(open_table(options).table, blobs=options.flag("blobs") or bool(names))
        return whole if not names else StructType([_field(whole, name) for name in names])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Read rows."""
        from omnigraph.pipeline.datasource.reader import PushingReader, TableReader

        options = read_options(self.options)
        _ = options.wanted_type
        return (PushingReader if options.flag("pushdown") else TableReader)(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Follow what happens on a branch."""
        from omnigraph.pipeline.datasource.changes import ChangeReader

        del schema  # changes have columns of their own
        return ChangeReader(read_options(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Write rows of a type as one commit."""
        del schema  # rows bring theirs
        from omnigraph.pipeline.datasource.writer import TableWriter

        return TableWriter(read_options(self.options), overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """Write each micro-batch as one commit, exactly once."""
        del schema
        from omnigraph.pipeline.datasource.sink import TableSink

        return TableSink(read_options(self.options), overwrite=overwrite)


def _field(schema: StructType, name: str) -> Any:
    from omnigraph.model.errors import BadRequest

    if name not in schema.fieldNames():
        raise BadRequest(f"there is no column {name!r}; there are {', '.join(schema.fieldNames())}", column=name)
    return schema[name]


def register(session: SparkSession) -> None:
    """Make the format known to a session that does not find it by itself."""
    session.dataSource.register(OmniGraphSource)
