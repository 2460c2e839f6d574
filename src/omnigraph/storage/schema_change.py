"""A table gets another schema: only columns with new values are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lance import LanceOperation
from lance.fragment import FragmentMetadata

from omnigraph.storage.reshape import becoming_required, plan_columns, refuse_nulls, target_schema, write_columns
from omnigraph.storage.staged import (
    NO_FILLS,
    NO_RENAMES,
    Staged,
)
from omnigraph.storage.versions import written_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from omnigraph.storage.handles import LanceTable
    from omnigraph.storage.versions import Versions


def change_schema(
    versions: Versions,
    table: LanceTable,
    target: pa.Schema,
    *,
    renames: Mapping[str, str] = NO_RENAMES,
    fills: Mapping[str, pa.Scalar] = NO_FILLS,
) -> Staged:
    """Give a table another schema. Only columns with new values are written, and only those.

    `renames` says what a column was called, `fills` what rows that exist get in a new column; a column with a
    fill is new even if there was one of that name.
    """
    plans = plan_columns(table.schema, target, renames, fills, is_empty=not table.fragments())
    refuse_nulls(table, becoming_required(table.schema, plans))
    grown, fragments = table, list[FragmentMetadata]()
    if any(plan.draft for plan in plans):
        fragments, schema = write_columns(table, plans, table.schema.names[0])
        grown = versions.commit(table, LanceOperation.Merge(fragments, schema))
    result = versions.commit(grown, LanceOperation.Project(target_schema(grown, plans)))
    _carry_over(versions, table, result)
    files = written_files(result, fragments)
    return Staged(table.ref, result.ref, "schema", frozenset({"changed"}), result.row_count, files=files)


def _carry_over(versions: Versions, before: LanceTable, after: LanceTable) -> None:
    """Rows stay where they are when columns come beside them: what is remembered of them stays true."""
    kept = {before.column_id(name) for name in before.schema.names}
    for old, new in zip(before.fragments(), after.fragments(), strict=True):
        known = versions.finder.cache.get(old)
        if known is not None and old.files != new.files:
            versions.finder.cache.put(new, known.only(kept))
