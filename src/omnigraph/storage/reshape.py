"""From one table schema to another: what only needs another schema, and what needs files for new columns.

Nothing is ever rewritten. A column that keeps its type keeps its field id, whatever it is called and wherever it
stands; a column with new values, because its type is wider or because rows that exist get a value, is written beside
the others, a batch at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.errors import BadRequest
from omnigraph.storage.blobs import is_blob, lance_field
from omnigraph.storage.fields import ColumnFields, called, columns_of, fresh, schema_of
from omnigraph.storage.lance_door import drain, lance_errors
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lance.fragment import FragmentMetadata, LanceFragment
    from lance.schema import LanceSchema

    from omnigraph.storage.handles import LanceTable


@dataclass(frozen=True)
class ColumnPlan:
    """Where a column of the new schema comes from."""

    field: pa.Field
    source: str | None
    """The column it was; None if it is new."""
    fill: pa.Scalar | None
    """What existing rows get in a new column."""
    draft: str | None
    """What it is called while it is being written; None if nothing has to be written."""

    @property
    def reads(self) -> str | None:
        """The column its values are computed from."""
        return self.source if self.draft is not None else None

    def values(self, batch: pa.RecordBatch) -> pa.Array:
        """Its values for some rows."""
        if self.source is not None:
            return batch.column(self.source).cast(self.field.type)
        assert self.fill is not None
        return pa.repeat(self.fill, batch.num_rows)


def plan_columns(
    base: pa.Schema, target: pa.Schema, renames: Mapping[str, str], fills: Mapping[str, pa.Scalar], *, is_empty: bool
) -> list[ColumnPlan]:
    """Say for each column of the target where it comes from. A column with a fill is new, whatever its name was."""
    _check_names(base, target, renames, fills)
    claimed = set(renames.values())
    plans: list[ColumnPlan] = []
    for place, field in enumerate(target):
        source = renames.get(field.name)
        if source is None and field.name in base.names and field.name not in claimed and field.name not in fills:
            source = field.name
        fill = _typed(field, fills.get(field.name))
        widens = source is not None and base.field(source).type != field.type
        if is_blob(field) and (fill is not None or (source is not None and not is_blob(base.field(source)))):
            raise BadRequest(f"column {field.name} holds blobs: they are made of nothing but blobs")
        is_written = not is_empty and (widens or fill is not None)
        if source is None and fill is None and not field.nullable and not is_empty:
            raise BadRequest(f"column {field.name} is required: rows that exist need a value for it")
        draft = f"__draft_{place}" if is_written else None
        plans.append(ColumnPlan(field, None if widens and is_empty else source, fill, draft))
    return plans


def becoming_required(base: pa.Schema, plans: Sequence[ColumnPlan]) -> list[str]:
    """Columns of the base that may hold nulls now and must not any more."""
    return [
        plan.source
        for plan in plans
        if plan.source is not None and base.field(plan.source).nullable and not plan.field.nullable
    ]


def refuse_nulls(table: LanceTable, columns: Sequence[str]) -> None:
    """Refuse to require values that are not there."""
    for name in columns:
        with lance_errors(f"read {name} of table {table.ref.location}"):
            nulls = table.dataset.count_rows(f"`{name}` IS NULL")
            drain(table.dataset)
        if nulls:
            raise BadRequest(f"column {name} cannot become required: {nulls} rows have no value")


def target_schema(table: LanceTable, plans: Sequence[ColumnPlan]) -> LanceSchema:
    """The new schema, with the ids that data is stored under."""
    now = table.dataset.lance_schema
    known = columns_of(now)
    next_id = table.dataset.max_field_id + 1
    columns: list[ColumnFields] = []
    for plan in plans:
        name = plan.draft or plan.source
        if name is not None:
            column = known[name]
        else:
            column = fresh(lance_field(plan.field), next_id)
            next_id += len(column)
        columns.append(called(column, plan.field.name, nullable=plan.field.nullable))
    return schema_of(columns, now)


def write_columns(
    table: LanceTable, plans: Sequence[ColumnPlan], key: str
) -> tuple[list[FragmentMetadata], LanceSchema]:
    """Write the new columns of every fragment beside the others, under their draft names."""
    drafts = [plan for plan in plans if plan.draft is not None]
    reads = list(dict.fromkeys(plan.reads for plan in drafts if plan.reads is not None)) or [key]
    numbers = [fragment.id for fragment in table.fragments()]
    written = run_parallel([partial(_write_fragment, table, table.fragment(one), drafts, reads) for one in numbers])
    if len({str(schema) for _, schema in written}) != 1:
        raise AssertionError(f"fragments of table {table.ref.location} gave new columns different ids")
    return [fragment for fragment, _ in written], written[0][1]


def _write_fragment(
    table: LanceTable, fragment: LanceFragment, drafts: Sequence[ColumnPlan], reads: list[str]
) -> tuple[FragmentMetadata, LanceSchema]:
    refused: list[pa.ArrowException] = []
    target = pa.schema([plan.field.with_name(plan.draft or "").with_nullable(True) for plan in drafts])

    def compute(batch: pa.RecordBatch) -> pa.RecordBatch:
        try:
            return pa.RecordBatch.from_arrays([plan.values(batch) for plan in drafts], schema=target)
        except pa.ArrowException as error:
            refused.append(error)
            raise

    try:
        with lance_errors(f"write new columns of table {table.ref.location}"):
            result = fragment.merge_columns(compute, columns=reads)
            drain(table.dataset)
    except Exception as error:
        if refused:
            raise BadRequest(
                f"a value of table {table.ref.location} does not fit its new type: {refused[0]}"
            ) from error
        raise
    return result


def _typed(field: pa.Field, fill: pa.Scalar | None) -> pa.Scalar | None:
    if fill is None:
        return None
    if not fill.is_valid:
        if not field.nullable:
            raise BadRequest(f"column {field.name} is required: null is no value for the rows that exist")
        return None
    try:
        return fill.cast(field.type)
    except pa.ArrowException as error:
        raise BadRequest(f"the value for rows that exist is no {field.type}: {error}") from error


def _check_names(
    base: pa.Schema, target: pa.Schema, renames: Mapping[str, str], fills: Mapping[str, pa.Scalar]
) -> None:
    for new, old in renames.items():
        if new not in target.names or old not in base.names:
            raise BadRequest(f"cannot rename column {old} to {new}: one of them does not exist")
    if len(set(renames.values())) != len(renames):
        raise BadRequest("one column cannot be renamed to two")
    strange = [name for name in fills if name not in target.names or name in renames]
    if strange:
        raise BadRequest(f"only a new column takes a value for rows that exist, not {', '.join(strange)}")
