"""Rows come, are replaced, and go: each change is staged as a version of its own."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from lance import LanceOperation
from lance.schema import LanceSchema

from omnigraph.storage import blobs
from omnigraph.storage.find import KEY, check_keys
from omnigraph.storage.parallel import run_parallel
from omnigraph.storage.staged import (
    ADDED,
    ALL_ASPECTS,
    CHANGED,
    REMOVED,
    Aspect,
    FragmentIdentity,
    RebaseRefused,
    Staged,
    TableRef,
    added_since,
    check_rebase,
)
from omnigraph.storage.uploading import by_fragment, parse_fragments, replacement
from omnigraph.storage.versions import data_files, written_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lance.fragment import FragmentMetadata

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.staged import Offsets, Uploaded
    from omnigraph.storage.versions import Versions


def change_rows(
    versions: Versions,
    table: LanceTable,
    upsert: pa.Table | None = None,
    delete: Iterable[str] = (),
    *,
    loose: bool = False,
) -> Staged | None:
    """Insert or replace whole rows by `id`, and delete rows by `id`. None if that changes nothing.

    What only adds rows may be left `loose`.
    """
    doomed = pa.array(delete, pa.string())
    rows = upsert if upsert is not None else table.schema.empty_table()
    wanted = cast("pa.StringArray", rows.column(KEY).combine_chunks().cast(pa.string()))
    check_keys(wanted, doomed)
    present = table.fragments()
    replaced = versions.finder.locate(table, present, wanted)
    removed = versions.finder.locate(table, present, doomed)
    if rows.num_rows == 0 and not removed:
        return None
    touched = [fragment for fragment in present if fragment.id in replaced or fragment.id in removed]
    updated, gone, fragments = _write_change(versions, table, rows, touched, replaced, removed)
    operation = replacement(table, fragments, updated, gone)
    hits = sum(len(offsets) for offsets in replaced.values())
    aspects: set[Aspect] = set()
    if hits < rows.num_rows:
        aspects |= ADDED
    if hits:
        aspects.add("changed")
    if removed:
        aspects |= REMOVED
    is_loose = loose and not touched
    result = table if is_loose else versions.commit(table, operation)
    return Staged(
        table.ref,
        result.ref,
        "change",
        frozenset(aspects),
        result.row_count + (rows.num_rows if is_loose else 0),
        touched=tuple(touched),
        base_files=frozenset(name for fragment in present for name in fragment.files),
        keys=wanted,
        operation=operation,
        files=data_files(table, fragments) if is_loose else written_files(result, fragments, updated),
        is_loose=is_loose,
    )


def _write_change(
    versions: Versions,
    table: LanceTable,
    rows: pa.Table,
    touched: list[FragmentIdentity],
    replaced: dict[int, list[int]],
    removed: dict[int, list[int]],
) -> tuple[list[FragmentMetadata], list[int], list[FragmentMetadata]]:
    """Write new rows and which old ones go, side by side: fragments that lose rows, that go, that are new."""
    doomed = {
        fragment.id: sorted({*replaced.get(fragment.id, ()), *removed.get(fragment.id, ())}) for fragment in touched
    }
    tasks, gone = versions.deletions(table, touched, doomed)
    if rows.num_rows:
        tasks.append(partial(versions.upload, table, rows))
    written = run_parallel(tasks)
    fragments = written.pop() if rows.num_rows else []
    return [one for part in written for one in part], gone, fragments


def put_uploaded(versions: Versions, table: LanceTable, fragments: Sequence[str], how: Uploaded) -> Staged:
    """Add, upsert or put in place of all others the rows that other processes have uploaded."""
    new = parse_fragments(fragments)
    if how.keys is None and not how.replaced and not how.replaces_all and not len(how.left_out):
        return versions.commit_append(table, new)
    present = table.fragments()
    replaced = how.replaced if how.keys is None else versions.finder.locate(table, present, how.keys)
    touched = [fragment for fragment in present if fragment.id in replaced]
    updated, gone = _delete_from(versions, table, touched, replaced)
    operation = replacement(table, new, updated, gone, replaces_all=how.replaces_all)
    result = versions.commit(table, operation)
    files = written_files(result, new, updated)
    if len(how.left_out):  # only a fragment of a version can lose rows, so this takes two
        offsets = by_fragment(result.fragments()[-len(new) :], how.left_out)
        losing = [fragment for fragment in result.fragments() if fragment.id in offsets]
        fewer, emptied = _delete_from(versions, result, losing, offsets)
        result = versions.commit(result, replacement(result, [], fewer, emptied))
        files = (*files, *written_files(result, [], fewer))
    hits = sum(len(offsets) for offsets in replaced.values())
    return Staged(
        table.ref,
        result.ref,
        "overwrite" if len(how.left_out) or how.replaces_all else "change",
        ALL_ASPECTS if how.replaces_all else ADDED | CHANGED if hits else ADDED,
        result.row_count,
        touched=tuple(touched),
        base_files=frozenset(name for fragment in present for name in fragment.files),
        keys=how.keys,
        operation=operation,
        files=files,
    )


def _delete_from(
    versions: Versions,
    table: LanceTable,
    touched: Sequence[FragmentIdentity],
    doomed: Mapping[int, Sequence[int]] | Mapping[int, Offsets],
) -> tuple[list[FragmentMetadata], list[int]]:
    """Delete rows by their offsets: fragments that lose some, and the ids of those that lose all."""
    tasks, gone = versions.deletions(table, touched, doomed)
    return [one for part in run_parallel(tasks) for one in part], gone


def overwrite(versions: Versions, table: LanceTable, rows: pa.Table | pa.RecordBatchReader) -> Staged:
    """Replace all rows, and the schema if it differs. From a reader it holds a batch at a time."""
    schema = LanceSchema.from_pyarrow(blobs.lance_schema_of(rows.schema))
    if any(blobs.is_blob(field) for field in rows.schema):  # Lance gives new files with blobs other field ids
        emptied = versions.commit(table, LanceOperation.Overwrite(schema, []))
        fragments = versions.upload(emptied, rows)
        result = versions.commit(emptied, LanceOperation.Append(fragments)) if fragments else emptied
    else:
        is_empty = isinstance(rows, pa.Table) and rows.num_rows == 0
        fragments = [] if is_empty else versions.upload(table, rows, mode="overwrite")
        result = versions.commit(table, LanceOperation.Overwrite(schema, fragments))
    files = written_files(result, fragments)
    return Staged(table.ref, result.ref, "overwrite", ALL_ASPECTS, result.row_count, files=files)


def rewrite(versions: Versions, staged: Staged) -> Staged:
    """Write all rows of a staged version into new files, so that nothing of its base is needed any more."""
    table = versions.open(staged.ref)
    rows = pa.RecordBatchReader.from_batches(table.schema, table.batches(table.schema.names))
    written = overwrite(versions, table, rows)
    return dataclasses.replace(written, base=staged.base, files=(*staged.files, *written.files))


def rebase(versions: Versions, staged: Staged, onto: TableRef) -> Staged:
    """Stage the same change on another base without uploading data again, or refuse."""
    base = versions.open(onto)
    fragments = base.fragments()
    check_rebase(staged, fragments)
    if staged.keys is not None and len(staged.keys):
        newer = added_since(staged, fragments)
        if versions.finder.locate(base, newer, staged.keys):
            raise RebaseRefused("a key it inserts was added since")
    result = versions.commit(base, cast("Any", staged.operation))
    known = frozenset(name for fragment in fragments for name in fragment.files)
    return dataclasses.replace(
        staged,
        base=onto,
        ref=result.ref,
        row_count=result.row_count,
        base_files=known if staged.base_files else staged.base_files,
        files=(*staged.files, *written_files(result, [])),
        is_loose=False,
    )


def stage_stack(versions: Versions, changes: Sequence[Staged], onto: TableRef) -> list[Staged]:
    """Stage changes that only add rows on top of each other: each version has the rows of all before it, too.

    So none waits for another. The first ones are staged, until one does not fit.
    """
    base = versions.open(onto)
    fitting = changes[: _count_fitting(versions, base, changes)]
    new = [_new_fragments(change) for change in fitting]
    whole = [[one for part in new[: number + 1] for one in part] for number in range(len(new))]
    operations = [_addition(base, change, fragments) for change, fragments in zip(fitting, whole, strict=True)]
    results = run_parallel([partial(versions.commit, base, operation) for operation in operations])
    return [
        dataclasses.replace(
            change,
            base=before.ref,
            ref=result.ref,
            row_count=result.row_count,
            base_files=frozenset(name for one in before.fragments() for name in one.files)
            if change.base_files
            else change.base_files,
            files=(*change.files, *written_files(result, [])),
            is_loose=False,
        )
        for change, before, result in zip(fitting, [base, *results], results, strict=False)
    ]


def _count_fitting(versions: Versions, base: LanceTable, changes: Sequence[Staged]) -> int:
    """How many of the first changes only add rows, in one way, and keys that nobody has added since."""
    fragments, added = base.fragments(), set[str]()
    for number, change in enumerate(changes):
        if change.touched or type(change.operation) is not type(changes[0].operation):
            return number
        keys = [] if change.keys is None else change.keys.to_pylist()
        newer = added_since(change, fragments) if keys else []
        if not added.isdisjoint(keys) or versions.finder.locate(base, newer, pa.array(keys, pa.string())):
            return number
        added.update(keys)
    return len(changes)


def _new_fragments(change: Staged) -> list[FragmentMetadata]:
    operation = cast("Any", change.operation)
    return list(operation.fragments if isinstance(operation, LanceOperation.Append) else operation.new_fragments)


def _addition(base: LanceTable, change: Staged, fragments: Sequence[FragmentMetadata]) -> LanceOperation.BaseOperation:
    """The change's own way to add rows, for these."""
    if isinstance(change.operation, LanceOperation.Append):
        return LanceOperation.Append(list(fragments))
    return replacement(base, fragments, [], [])
