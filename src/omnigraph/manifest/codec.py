"""State of a branch to bytes and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from omnigraph.manifest.rows import Row, decode_rows, encode_rows
from omnigraph.manifest.state import (
    CollectMark,
    Commit,
    EntryKind,
    Segment,
    State,
    Stripped,
    TableState,
)
from omnigraph.model.errors import CorruptObject

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATE = "state"
_STRIPPED = "stripped"


def encode_state(state: State) -> bytes:
    """Write the complete state of a branch."""
    return encode_rows(_STATE, _state_rows(state))


def encode_stripped(stripped: Stripped) -> bytes:
    """Write what stays of a number after cleanup."""
    head = Row(stripped.chain, "stripped", metadata={"number": stripped.number, "entry": stripped.entry})
    return encode_rows(_STRIPPED, [head, *map(commit_row, stripped.commits)])


def decode_entry(data: bytes, where: str) -> State | Stripped:
    """Read a chain object: a state, or what cleanup left of one."""
    kind, rows = decode_rows(data, where)
    by_type: dict[str, list[Row]] = {}
    for row in rows:
        by_type.setdefault(row.object_type, []).append(row)
    try:
        if kind == _STRIPPED:
            return _stripped(by_type)
        if kind == _STATE:
            return _state(by_type)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CorruptObject(where, f"a part is missing: {error}") from error
    raise CorruptObject(where, f"it is a {kind or 'nameless'} object, not a branch state")


def _state_rows(state: State) -> Iterable[Row]:
    yield Row(
        state.chain,
        "graph_head",
        metadata={
            "branch": state.branch,
            "number": state.number,
            "entry": state.entry,
            "kind": state.kind,
            "head": state.head,
            "epoch": state.epoch,
            "collect": mark_values(state.collect),
        },
    )
    yield Row(state.schema_hash, "schema", location=f"__schema/{state.schema_hash}")
    for table in state.tables.values():
        yield table_row(table)
    yield from map(commit_row, state.commits)
    yield Row("recent", "lineage_recent", metadata={"commits": [commit_values(commit) for commit in state.recent]})
    yield Row(
        "segments",
        "lineage_segments",
        metadata={"segments": [[s.name, s.first_id, s.last_id, s.commits] for s in state.segments]},
    )


def _state(rows: dict[str, list[Row]]) -> State:
    (head_row,) = rows["graph_head"]
    head = _metadata(head_row)
    (schema,) = rows["schema"]
    tables = [read_table(row) for row in rows.get("table_version", [])]
    return State(
        branch=head["branch"],
        chain=head_row.object_id,
        number=head["number"],
        entry=head["entry"],
        kind=cast("EntryKind", head["kind"]),
        head=head["head"],
        schema_hash=schema.object_id,
        tables={table.key: table for table in tables},
        commits=tuple(read_commit(row) for row in rows.get("graph_commit", [])),
        recent=tuple(map(read_commit_values, _metadata(rows["lineage_recent"][0])["commits"])),
        segments=tuple(Segment(*entry) for entry in _metadata(rows["lineage_segments"][0])["segments"]),
        epoch=head["epoch"],
        collect=read_mark(head["collect"]),
    )


def _stripped(rows: dict[str, list[Row]]) -> Stripped:
    (head,) = rows["stripped"]
    facts = _metadata(head)
    commits = tuple(read_commit(row) for row in rows.get("graph_commit", []))
    return Stripped(head.object_id, facts["number"], facts["entry"], commits)


def table_row(table: TableState) -> Row:
    """A table as a row."""
    return Row(
        f"{table.key}@{table.version}",
        "table_version",
        location=table.location,
        metadata={"added": table.added, "removed": table.removed, "changed": table.changed},
        table_key=table.key,
        table_version=table.version,
        row_count=table.row_count,
    )


def read_table(row: Row) -> TableState:
    """A row as a table."""
    counters = _metadata(row)
    assert row.table_key is not None
    assert row.location is not None
    assert row.table_version is not None
    return TableState(
        row.table_key,
        row.location,
        row.table_version,
        row.row_count or 0,
        counters["added"],
        counters["removed"],
        counters["changed"],
    )


def commit_row(commit: Commit) -> Row:
    """A commit as a row."""
    return Row(
        commit.id,
        "graph_commit",
        metadata={
            "chain": commit.chain,
            "number": commit.number,
            "actor": commit.actor,
            "created_us": commit.created_us,
            "operation": commit.operation,
            "tables": list(commit.tables),
            "before": None if commit.before is None else [_table_values(table) for table in commit.before],
            "merged_at": commit.merged_at,
        },
        base_objects=commit.parents,
        table_branch=commit.branch,
    )


def read_commit(row: Row) -> Commit:
    """A row as a commit."""
    facts = _metadata(row)
    before = facts["before"]
    return Commit(
        id=row.object_id,
        branch=row.table_branch or "",
        chain=facts["chain"],
        number=facts["number"],
        parents=row.base_objects,
        actor=facts["actor"],
        created_us=facts["created_us"],
        operation=facts["operation"],
        tables=tuple(facts["tables"]),
        before=None if before is None else tuple(TableState(*values) for values in before),
        merged_at=_place(facts.get("merged_at")),
    )


def commit_values(commit: Commit) -> list[object]:
    """A commit of the lineage in short: everything but its tables."""
    values: list[object] = [
        commit.id,
        commit.branch,
        commit.chain,
        commit.number,
        list(commit.parents),
        commit.actor,
        commit.created_us,
        commit.operation,
    ]
    return values if commit.merged_at is None else [*values, list(commit.merged_at)]


def read_commit_values(values: list[Any]) -> Commit:
    """The short form back."""
    identity, branch, chain, number, parents, actor, created_us, operation, *merged = values
    merged_at = _place(merged[0]) if merged else None
    return Commit(identity, branch, chain, number, tuple(parents), actor, created_us, operation, merged_at=merged_at)


def mark_values(mark: CollectMark | None) -> list[object] | None:
    """A collect record in short."""
    return None if mark is None else [mark.id, mark.cutoff_us, list(mark.intents)]


def read_mark(values: list[Any] | None) -> CollectMark | None:
    """The short form back."""
    return None if values is None else CollectMark(values[0], values[1], tuple(values[2]))


def _place(values: list[Any] | None) -> tuple[str, int] | None:
    return None if values is None else (str(values[0]), int(values[1]))


def _table_values(table: TableState) -> list[object]:
    return [
        table.key,
        table.location,
        table.version,
        table.row_count,
        table.added,
        table.removed,
        table.changed,
    ]


def _metadata(row: Row) -> dict[str, Any]:
    if row.metadata is None:
        raise KeyError(f"{row.object_type} {row.object_id} has no metadata")
    return row.metadata
