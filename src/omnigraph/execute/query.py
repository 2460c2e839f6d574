"""A query from text to result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omnigraph.execute.compiled import compiled, planned
from omnigraph.execute.engines import AUTO, ReadRequest, run_read
from omnigraph.execute.profile import NoProfile, Profile
from omnigraph.execute.result import Result, links_of
from omnigraph.execute.watch import Canceller, Watch
from omnigraph.model.errors import BadRequest
from omnigraph.model.names import MAIN
from omnigraph.query import CheckedRead, decode_params
from omnigraph.query.select import select_query

if TYPE_CHECKING:
    from omnigraph.manifest import Repository, Snapshot


@dataclass(frozen=True)
class QueryText:
    """A text, where it comes from, and which of its queries is meant."""

    source: str
    source_name: str = "<query>"
    name: str | None = None


@dataclass(frozen=True)
class Target:
    """What is read: a branch as it is now, or a commit or tag."""

    branch: str = MAIN
    snapshot: str | None = None


@dataclass(frozen=True)
class Limits:
    """How far a query may go, and who may stop it."""

    timeout_s: float | None = None
    rows_max: int | None = None
    canceller: Canceller | None = None

    def __post_init__(self) -> None:
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise BadRequest(f"a timeout of {self.timeout_s:g} s leaves no time: give more than 0")
        if self.rows_max is not None and self.rows_max < 0:
            raise BadRequest(f"a result cannot have {self.rows_max} rows: give 0 or more")


NO_LIMITS = Limits()


def query(
    repository: Repository,
    text: QueryText,
    params: object,
    target: Target,
    limits: Limits = NO_LIMITS,
    engine: str = AUTO,
    profile: Profile | None = None,
) -> Result:
    """Run a query that reads. All of it sees one snapshot, by the schema of that snapshot."""
    watch = Watch(limits.timeout_s)
    with (limits.canceller or Canceller()).over(watch):
        request = prepare(repository, text, params, target, watch, limits.rows_max, profile or NoProfile())
        return run_prepared(request, target, engine)


def run_prepared(request: ReadRequest, target: Target, engine: str = AUTO) -> Result:
    """Run what is planned."""
    read = request.plan.read
    return Result(
        run_read(request, engine),
        read.name,
        request.snapshot.commit_id,
        target.branch if target.snapshot is None else None,
        target.snapshot,
        tuple(column.type for column in read.columns),
        links_of(read),
    )


def prepare(
    repository: Repository,
    text: QueryText,
    params: object,
    target: Target,
    watch: Watch,
    rows_max: int | None,
    profile: Profile,
) -> ReadRequest:
    """Find the snapshot, check the text against its schema, and plan it."""
    snapshot, read = checked_read(repository, text, target)
    watch.check()
    catalog = repository.catalogs.get(snapshot.schema_hash).catalog
    runtime = repository.parts.runtime
    return ReadRequest(
        repository,
        snapshot,
        catalog,
        planned(read, catalog, SnapshotSizes(snapshot)),
        decode_params(read, params),
        datetime.fromtimestamp(runtime.clock.now_us() // 1000 / 1000, tz=UTC),
        watch,
        rows_max,
        profile,
    )


def checked_read(repository: Repository, text: QueryText, target: Target) -> tuple[Snapshot, CheckedRead]:
    """The snapshot, and the query as its schema understands it."""
    snapshot = (
        repository.snapshot(target.branch) if target.snapshot is None else repository.snapshot_at(target.snapshot)
    )
    catalog = repository.catalogs.get(snapshot.schema_hash).catalog
    found = select_query(compiled(text.source, text.source_name, catalog, snapshot.schema_hash), text.name)
    if not isinstance(found, CheckedRead):
        raise BadRequest(f"query '{found.name}' writes: run it with mutate", query=found.name)
    return snapshot, found


class SnapshotSizes:
    """How large the tables of a snapshot are: its state says it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._tables = snapshot.state.tables

    def rows(self, key: str) -> int:
        """Give the number of rows of a table."""
        table = self._tables.get(key)
        return table.row_count if table is not None else 0
