"""From a validated delta to a plan: every table staged side by side, in the way that fits what it does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from omnigraph.write.delta import RowMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnigraph.manifest import WriteTxn
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Staged
    from omnigraph.write.delta import TableDelta


def stage(txn: WriteTxn, deltas: Mapping[str, TableDelta]) -> bool:
    """Stage all tables that change; False if none does."""
    content = {key: delta for key, delta in deltas.items() if _has_content(delta)}
    stages = {key: _stage_of(txn, delta) for key, delta in content.items() if not txn.has_staged(key)}
    found = list(txn.stage_together(stages).values())
    found += [txn.amend(key, partial(_change, delta)) for key, delta in content.items() if key not in stages]
    return any(staged is not None for staged in found)


def _has_content(delta: TableDelta) -> bool:
    return bool(delta.rows.num_rows) or bool(len(delta.removed)) or delta.replaces


def _stage_of(txn: WriteTxn, delta: TableDelta) -> Callable[[Tables, TableHandle], Staged | None]:
    if delta.replaces:
        return lambda tables, handle: tables.stage_overwrite(handle, delta.rows)
    if delta.mode is RowMode.FRESH and not len(delta.removed):
        return lambda tables, handle: tables.stage_append(handle, delta.rows, loose=True)
    if not txn.base.table(delta.key).row_count and not len(delta.removed):
        # Nothing is there, so there is nothing to look for; whoever adds rows meanwhile makes us look again.
        txn.depends_on(delta.key, "added")
        return lambda tables, handle: tables.stage_append(handle, delta.rows, loose=True)
    return partial(_change, delta)


def _change(delta: TableDelta, tables: Tables, handle: TableHandle) -> Staged | None:
    upsert = delta.rows if delta.rows.num_rows else None
    return tables.stage_change(handle, upsert, delta.removed.to_pylist(), loose=True)
