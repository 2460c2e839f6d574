"""A mutation from text to commit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omnigraph.execute.compiled import compiled
from omnigraph.manifest.plan import expect_head
from omnigraph.model.errors import BadRequest, OmniGraphError, ReadSetConflict
from omnigraph.query import CheckedMutation, decode_params, ir
from omnigraph.query.select import select_query
from omnigraph.write.ids import fresh_ids
from omnigraph.write.mutation import Given, Mutation
from omnigraph.write.permit import permit_all
from omnigraph.write.stage import stage
from omnigraph.write.validate import validate

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.manifest import Commit, PublishPlan, Repository, WriteTxn
    from omnigraph.schema import Catalog
    from omnigraph.write.blob_policy import BlobPolicy
    from omnigraph.write.permit import Permit


@dataclass(frozen=True)
class MutationResult:
    """What a mutation did. Without a commit there was nothing to change."""

    branch: str
    query_name: str
    affected_nodes: int
    affected_edges: int
    actor: str | None
    commit: Commit | None


@dataclass
class _Attempts:
    """What the attempts at one mutation share."""

    last: Mutation | None = None
    planned: Mutation | None = None
    """The last that came to a plan. What one saw that did not is no promise to anybody."""
    name: str = ""


def mutate(
    repository: Repository,
    source: str,
    name: str | None,
    params: object,
    *,
    branch: str,
    source_name: str = "<query>",
    actor: str | None = None,
    if_commit: str | None = None,
    blobs: BlobPolicy | None = None,
    permit: Permit = permit_all,
) -> MutationResult:
    """Run a query that writes: one commit, or none if nothing changes."""
    runtime = repository.parts.runtime
    now = datetime.fromtimestamp(runtime.clock.now_us() // 1000 / 1000, tz=UTC)
    new_ids = fresh_ids(runtime.ids)
    attempts = _Attempts()

    def checked(schema_hash: str) -> tuple[Catalog, CheckedMutation]:
        catalog = repository.catalogs.get(schema_hash).catalog
        query = select_query(compiled(source, source_name, catalog, schema_hash), name)
        if not isinstance(query, CheckedMutation):
            raise BadRequest(f"query '{query.name}' only reads: run it with query")
        return catalog, query

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        catalog, query = checked(txn.base.schema_hash)
        permit([use.table for use in query.writes])
        expect_head(txn.base, if_commit)
        attempts.name = query.name
        mutation = Mutation(catalog, txn, Given(decode_params(query, params), now, new_ids))
        mutation.run(query.statements)
        _insist_on_same(attempts.planned, mutation)
        attempts.last = mutation
        deltas = mutation.deltas()
        if blobs is not None:
            deltas = blobs.admit(deltas, mutation.violations)
        validate(catalog, txn, deltas, mutation.violations)
        if not stage(txn, deltas):
            return None
        attempts.planned = mutation
        return txn.plan("mutate", actor=actor, if_commit=if_commit)

    def may_use_cache() -> bool:
        try:
            return if_commit is None and _is_blind(checked(repository.base_state(branch, fresh=False).schema_hash)[1])
        except OmniGraphError:  # by the schema that is cached; the newest one has the last word
            return False

    published = repository.write(prepare, branch, fresh=not may_use_cache())
    done = attempts.last
    assert done is not None
    commit = published.commit if published is not None else None
    return MutationResult(branch, attempts.name, done.affected_nodes, done.affected_edges, actor, commit)


def _is_blind(query: CheckedMutation) -> bool:
    """Whether it builds on no rows: otherwise it has to see what others wrote before it began."""
    return not any(isinstance(statement, ir.Update | ir.Delete) for statement in query.statements)


def _insist_on_same(before: Mutation | None, after: Mutation) -> None:
    """What an update or delete builds on must not have changed between two attempts: that is the caller's to decide."""
    if before is not None and not _equal(before.seen, after.seen):
        raise ReadSetConflict("the rows this mutation reads", expected="as first read", actual="changed meanwhile")


def _equal(before: list[pa.Table], after: list[pa.Table]) -> bool:
    return len(before) == len(after) and all(one.equals(other) for one, other in zip(before, after, strict=True))
