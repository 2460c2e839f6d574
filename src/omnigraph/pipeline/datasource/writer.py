"""Writing a frame: tasks stage, the driver publishes once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceArrowWriter

from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.datasource.staging import Stage, StagedPart, StagedRows, discard, until_published

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from omnigraph.pipeline.datasource.options import SourceOptions
    from omnigraph.pipeline.datasource.staging import Messages


class TableWriter(DataSourceArrowWriter):
    """One write of a frame is one commit, or none."""

    def __init__(self, options: SourceOptions, *, overwrite: bool) -> None:
        self._options = options
        self._mode = write_mode(options, overwrite=overwrite)
        self._stage = Stage(options, self._mode)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedPart:
        """Stage the rows of a task."""
        return self._stage.write(iterator)

    def commit(self, messages: Messages) -> None:
        """Hold all rows against the graph, and publish them."""
        with until_published(self._options, [self._stage.load_id]):
            StagedRows(self._options, messages).publish(self._mode)

    def abort(self, messages: Messages) -> None:
        """Forget what was staged, whoever has told of it."""
        del messages
        discard(self._options, [self._stage.load_id])


def write_mode(options: SourceOptions, *, overwrite: bool) -> str:
    """How rows meet what is there: Spark's own word, or the option `mode` where Spark has none for it."""
    if options.snapshot is not None:
        raise BadRequest("a commit cannot be written to: name a branch")
    mode = options.get("mode") or ("overwrite" if overwrite else "append")
    if overwrite and mode != "overwrite":
        raise BadRequest(f'Spark\'s mode "overwrite" contradicts option mode {mode!r}')
    return mode
