"""A stream into a graph: each micro-batch is one commit, exactly once.

The commit names the query and the batch. Before a batch is loaded the lineage is asked whether it is there already,
and the load holds only on the head that was asked: of two drivers that try the same batch one finds the other's commit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
from pyspark.sql.datasource import DataSourceStreamArrowWriter

from omnigraph.model.errors import BadRequest, HeadMoved, OmniGraphError
from omnigraph.pipeline.datasource.staging import Stage, StagedPart, StagedRows, discard, until_published
from omnigraph.pipeline.datasource.writer import write_mode
from omnigraph.write.streams import read_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from omnigraph.manifest import Commit, Repository
    from omnigraph.pipeline.datasource.options import SourceOptions
    from omnigraph.pipeline.datasource.staging import Messages

_OPERATION = re.compile(r"stream ([^ ]+) ([0-9]+)")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class TableSink(DataSourceStreamArrowWriter):
    """Writes a stream of rows of one type."""

    def __init__(self, options: SourceOptions, *, overwrite: bool) -> None:
        self._options = options
        self._mode = write_mode(options, overwrite=overwrite)
        self._stage: Stage | None = None

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedPart:
        """Stage the rows of a task."""
        assert self._stage is not None
        return self._stage.write(iterator)

    def __getstate__(self) -> dict[str, object]:
        """Sent to tasks: now, and only now, something is going to be staged."""
        if self._stage is None:
            self._stage = Stage(self._options, self._mode)
        return dict(self.__dict__)

    def commit(self, messages: Messages, batchId: int) -> None:  # noqa: N803
        """Load a micro-batch, unless an earlier attempt has."""
        staged = StagedRows(self._options, messages)
        with until_published(self._options, staged.load_ids):
            self._load_once(staged, query_id(self._options), batchId)

    def _load_once(self, staged: StagedRows, query: str, batch: int) -> None:
        if not staged.rows and self._mode != "overwrite":
            return
        repository = self._options.open().repository
        while True:
            head = repository.snapshot(self._options.branch).commit_id
            if is_committed(repository, self._options.branch, query, batch):
                return
            try:
                staged.publish(self._mode, operation=f"stream {query} {batch}", if_commit=head)
            except HeadMoved:
                continue
            return

    def abort(self, messages: Messages, batchId: int) -> None:  # noqa: N803
        """Forget what was staged."""
        del batchId
        discard(self._options, StagedRows(self._options, messages).load_ids)


def is_committed(repository: Repository, branch: str, query: str, batch: int) -> bool:
    """Whether a batch of a query is in the lineage of a branch: its newest batch there says so for all before it."""
    for commit in repository.commits(branch):
        found = stream_batch(commit)
        if found is not None and found[0] == query:
            return found[1] >= batch
    return False


def stream_batch(commit: Commit) -> tuple[str, int] | None:
    """The query and the batch that a commit is of."""
    match = _OPERATION.fullmatch(commit.operation)
    return None if match is None else (match.group(1), int(match.group(2)))


def query_id(options: SourceOptions) -> str:
    """What the query is called: its option `query`, or the id that Spark keeps beside its checkpoint."""
    named = options.get("query")
    if named is not None:
        if not _NAME.fullmatch(named):
            raise BadRequest("option query is a name of up to 64 letters, digits, '_', '.' and '-'")
        return named
    checkpoint = options.get("checkpointLocation")
    if checkpoint is None:
        raise BadRequest('a stream needs a checkpoint: .option("checkpointLocation", …)')
    try:
        return str(orjson.loads(read_all(f"{checkpoint.rstrip('/')}/metadata", dict(options.storage) or None))["id"])
    except (OmniGraphError, ValueError, KeyError) as error:
        raise BadRequest(
            f'cannot read the query\'s id beside {checkpoint} ({error}): name the query with .option("query", …)'
        ) from None
