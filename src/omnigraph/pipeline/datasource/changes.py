"""The change feed as a stream: an offset is a commit, and a micro-batch what the commits since the last one changed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
from pyspark.sql import types as t
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from omnigraph.history.diff import differ_of, selection_of
from omnigraph.history.feed import Feed
from omnigraph.model.errors import BadRequest, ChangeFeedGap
from omnigraph.pipeline.datasource.columns import arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.history.changes import EntityChange
    from omnigraph.manifest import Commit, Repository
    from omnigraph.pipeline.datasource.options import SourceOptions

CHANGES = t.StructType(
    [
        t.StructField("commit", t.StringType()),
        t.StructField("committed_at", t.TimestampType()),
        t.StructField("actor", t.StringType()),
        t.StructField("kind", t.StringType()),
        t.StructField("type", t.StringType()),
        t.StructField("id", t.StringType()),
        t.StructField("op", t.StringType()),
        t.StructField("before", t.StringType()),
        t.StructField("after", t.StringType()),
    ]
)
"""`before` and `after` are the node or edge as JSON."""
BATCH_ROWS = 4096
TASKS_MAX = 16
_BEGINNING = ""


@dataclass
class CommitsPartition(InputPartition):
    """Some commits, oldest first."""

    value: tuple[str, ...]


class ChangeReader(DataSourceStreamReader):
    """Reads what happens on a branch."""

    def __init__(self, options: SourceOptions) -> None:
        if options.snapshot is not None:
            raise BadRequest("a stream follows a branch: a commit does not change")
        self._options = options
        given = [_listed(options.get(name)) for name in ("kinds", "types", "ops")]
        self._selection = selection_of(*given)

    def initialOffset(self) -> dict[str, str]:  # noqa: N802 - Spark's name
        """Where a new query starts: `now`, `beginning` or `after:COMMIT`."""
        start = self._options.get("start") or "now"
        if start == "beginning":
            return {"commit": _BEGINNING}
        if start == "now":
            return self._newest()
        word, _, commit = start.partition(":")
        if word != "after" or not commit:
            raise BadRequest(f"option start is now, beginning or after:COMMIT, not {start!r}")
        return {"commit": self._options.open().commits.show(commit).id}

    def latestOffset(self, start: dict[str, str], limit: Any) -> dict[str, str]:  # noqa: N802
        """The newest commit of the branch."""
        del start, limit
        return self._newest()

    def _newest(self) -> dict[str, str]:
        return {"commit": self._options.open().snapshot().commit_id}

    def partitions(self, start: dict[str, str], end: dict[str, str]) -> Sequence[InputPartition]:
        """The commits in between, a few for each task."""
        repository = self._options.open().repository
        commits = [commit.id for commit in _between(repository, self._options.branch, start["commit"], end["commit"])]
        size = max(1, -(-len(commits) // TASKS_MAX))
        return [CommitsPartition(tuple(commits[at : at + size])) for at in range(0, len(commits), size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """What some commits changed."""
        assert isinstance(partition, CommitsPartition)
        repository = self._options.open().repository
        feed, rows = Feed(differ_of(repository)), list[dict[str, Any]]()
        for commit in map(repository.commit, partition.value):
            for change in feed.diff_of(commit, self._selection):
                rows.append(_row(commit, change))
                if len(rows) == BATCH_ROWS:
                    yield _batch(rows)
                    rows = []
        if rows:
            yield _batch(rows)


def _between(repository: Repository, branch: str, start: str, end: str) -> list[Commit]:
    """The commits of a branch after one up to another, oldest first."""
    if start == end:
        return []
    lineage = list(takewhile(lambda commit: commit.id != start, repository.commits(branch)))
    if start != _BEGINNING and lineage and lineage[-1].parent is None:
        raise ChangeFeedGap(start)  # it is not in the lineage: the branch was made anew
    ids = [commit.id for commit in lineage]
    return lineage[ids.index(end) :][::-1] if end in ids else []


def _row(commit: Commit, change: EntityChange) -> dict[str, Any]:
    return {
        "commit": commit.id,
        "committed_at": commit.created_us,
        "actor": commit.actor,
        "kind": change.kind,
        "type": change.type_name,
        "id": change.id,
        "op": str(change.op),
        "before": None if change.before is None else orjson.dumps(change.before.to_json()).decode(),
        "after": None if change.after is None else orjson.dumps(change.after.to_json()).decode(),
    }


def _batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(CHANGES))


def _listed(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]
