"""Writing a frame: tasks stage, the driver publishes once."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pyspark.sql.datasource import DataSourceArrowWriter

from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.datasource.staging import StagedPart, StagedRows, load_staged, stage_part, staging_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql.datasource import WriterCommitMessage

    from omnigraph.pipeline.datasource.options import SourceOptions


class TableWriter(DataSourceArrowWriter):
    """One write of a frame is one commit, or none."""

    def __init__(self, options: SourceOptions, *, overwrite: bool) -> None:
        self._options = options
        self._mode = write_mode(options, overwrite=overwrite)
        self._folder = staging_folder(options)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedPart:
        """Stage the rows of a task."""
        return stage_part(self._options, self._folder, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Validate all rows and publish them."""
        staged = StagedRows(self._options, cast("Sequence[StagedPart | None]", messages))
        try:
            load_staged(self._options, staged, self._mode)
        finally:
            staged.discard()

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Forget what was staged."""
        StagedRows(self._options, cast("Sequence[StagedPart | None]", messages)).discard()


def write_mode(options: SourceOptions, *, overwrite: bool) -> str:
    """How rows meet what is there: Spark's own word, or the option `mode` where Spark has none for it."""
    if options.snapshot is not None:
        raise BadRequest("a commit cannot be written to: name a branch")
    mode = options.get("mode") or ("overwrite" if overwrite else "append")
    if overwrite and mode != "overwrite":
        raise BadRequest(f'Spark\'s mode "overwrite" contradicts option mode {mode!r}')
    return mode
