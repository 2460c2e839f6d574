"""`embed` over a graph in tasks: each asks the provider for the vectors of some rows and writes these rows anew.

What is written belongs to no version yet. The driver puts it together and publishes once; a row that somebody else has
changed meanwhile stays as it is, without a vector or with the old one.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.embed import Embedder
from omnigraph.history.diff import differ_of, selection_of
from omnigraph.history.tablediff import DELETE, UPDATE
from omnigraph.manifest import pinned
from omnigraph.model.compute import pc
from omnigraph.model.errors import ReadSetConflict
from omnigraph.pipeline.counting import RowCounter
from omnigraph.pipeline.jobs import each
from omnigraph.pipeline.session import parallelism
from omnigraph.pipeline.slices import TableSlice, cut, open_slice, read_slice
from omnigraph.schema import table_key
from omnigraph.storage.staged import Uploaded
from omnigraph.write.embed_graph import embedded_rows, embedded_tables, lacks_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import SparkSession

    from omnigraph.embed import EmbedSettings
    from omnigraph.manifest import Commit, PublishPlan, Repository, Snapshot, WriteTxn
    from omnigraph.schema import EdgeType, NodeType
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Staged
    from omnigraph.write.assign import AssignOptions
    from omnigraph.write.embed_graph import EmbedScope
    from omnigraph.write.progress import Progress

SLICE_ROWS = 20_000
"""Rows of one task: what is asked for again if it fails."""
FRAGMENT_BYTES = 128 << 20


@dataclass(frozen=True)
class Written:
    """Rows that were written anew: their ids, in the order of the fragments that hold them."""

    ids: tuple[pa.Array, ...]
    fragments: tuple[str, ...]

    @property
    def all_ids(self) -> pa.StringArray:
        """In one piece."""
        return pa.concat_arrays([pa.array([], pa.string()), *self.ids])


@dataclass(frozen=True)
class EmbedTask:
    """Some rows of a table."""

    table: NodeType | EdgeType
    piece: TableSlice
    settings: EmbedSettings
    scope: EmbedScope


def embed_in_tasks(
    session: SparkSession,
    repository: Repository,
    snapshot: Snapshot,
    embedder: Embedder,
    scope: EmbedScope,
    options: AssignOptions,
    progress: Progress | None = None,
) -> Commit | None:
    """Make the vectors of a snapshot, and store them as one commit; None: there were none to make."""
    catalog, parts = repository.catalogs.get(snapshot.schema_hash).catalog, repository.parts
    pieces = [
        (table, piece)
        for table in embedded_tables(catalog, scope)
        for piece in cut(snapshot.table(table_key(table)), parts.uri, parts.options, SLICE_ROWS)
    ]
    settings = _shared(embedder.settings, min(len(pieces), parallelism(session)))
    tasks, counter = [EmbedTask(table, piece, settings, scope) for table, piece in pieces], RowCounter(session)

    def work(number: int) -> bytes:
        return pickle.dumps(run_task(tasks[number], counter.add))

    with pinned(repository, snapshot.state) as intent:
        name = f"omnigraph-embed-{intent}"
        done = each(session, len(tasks), work, name, counter.report(progress, "embedding"))
        found: dict[str, Written] = {}
        for task, answer in zip(tasks, done, strict=True):
            one: Written = pickle.loads(answer)  # noqa: S301 - our own task has written it
            key = table_key(task.table)
            before = found.get(key, Written((), ()))
            found[key] = Written((*before.ids, *one.ids), (*before.fragments, *one.fragments))
        found = {key: one for key, one in found.items() if one.fragments}
        return _publish(repository, snapshot, found, options, intent) if found else None


def _shared(settings: EmbedSettings, tasks: int) -> EmbedSettings:
    """What all tasks together may ask for in a minute, for each of those that run at once."""
    return replace(settings, requests_per_minute=settings.requests_per_minute / max(1, tasks))


# -- in tasks ----------------------------------------------------------------------------------------------


def run_task(task: EmbedTask, count: Callable[[int], None]) -> Written:
    """Embed what lacks a vector, and write these rows; on whichever machine."""
    tables, handle = open_slice(task.piece)
    rows = read_slice(task.piece, handle.schema.names, lacks_vectors(task.table, task.scope))
    ids: list[pa.Array] = []
    fragments: list[str] = []
    pending: list[pa.Table] = []

    def flush() -> None:
        whole = pa.concat_tables(pending)
        ids.append(whole.column("id").combine_chunks().cast(pa.string()))
        fragments.extend(tables.upload(handle, whole))
        pending.clear()

    for part in embedded_rows(task.table, rows, Embedder(task.settings), task.scope):
        pending.append(part)
        count(part.num_rows)
        if sum(one.nbytes for one in pending) >= FRAGMENT_BYTES:
            flush()
    if pending:
        flush()
    return Written(tuple(ids), tuple(fragments))


# -- in the driver -----------------------------------------------------------------------------------------


def _publish(
    repository: Repository, snapshot: Snapshot, found: dict[str, Written], options: AssignOptions, intent: str
) -> Commit | None:
    options.permit(found)

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        if txn.base.schema_hash != snapshot.schema_hash:
            raise ReadSetConflict("schema", expected=snapshot.schema_hash, actual=txn.base.schema_hash)
        others = _changed_by_others(repository, snapshot, txn, found)
        stages: dict[str, Callable[[Tables, TableHandle], Staged | None]] = {}
        for key, one in found.items():
            how = _how(one.all_ids, others.get(key))
            if how is not None:
                txn.depends_on(key, "changed", "removed")
                stages[key] = _stage(one.fragments, how)
        if not stages:
            return None
        txn.stage_together(stages)
        return txn.plan(options.operation, actor=options.actor)

    published = repository.write(prepare, options.branch, intent=intent)
    return published.commit if published is not None else None


def _stage(fragments: tuple[str, ...], how: Uploaded) -> Callable[[Tables, TableHandle], Staged | None]:
    return lambda tables, handle: tables.stage_uploaded(handle, fragments, how)


def _changed_by_others(
    repository: Repository, snapshot: Snapshot, txn: WriteTxn, keys: Iterable[str]
) -> dict[str, pa.Array]:
    """Ids of what was changed or removed since the snapshot, by table."""
    if all(txn.base.table(key).ref == snapshot.state.table(key).ref for key in keys):
        return {}
    names = [key.partition(":")[2] for key in keys]
    diff = differ_of(repository).diff(snapshot.state, txn.base, selection_of(types=names))
    return {
        f"{table.side.kind}:{table.side.table.name}": table.ids.take(pa.array(table.where(UPDATE, DELETE)))
        for table in diff.tables
    }


def _how(ids: pa.StringArray, others: pa.Array | None) -> Uploaded | None:
    """What becomes of the rows: they replace those with their ids, but those that others have changed."""
    if others is None or not len(others):
        return Uploaded(keys=ids)
    is_taken = pc.is_in(ids, value_set=others)
    left_out = np.flatnonzero(is_taken.to_numpy(zero_copy_only=False))
    return (
        Uploaded(keys=ids.filter(pc.invert(is_taken)), left_out=left_out.tolist()) if len(left_out) < len(ids) else None
    )
