"""From one table schema to another: what needs no rewriting, and how rows are brought over where it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from lance import LanceDataset
    from lance.schema import LanceSchema


def keeps_field_ids(dataset: LanceDataset, target: LanceSchema) -> bool:
    """Whether fields that stay keep their ids and new ones get fresh ids: then no data has to be rewritten."""
    now = {field.name(): field.id() for field in dataset.lance_schema.fields()}
    then = {field.name(): field.id() for field in target.fields()}
    shared = now.keys() & then.keys()
    if now.keys() - shared and then.keys() - shared:
        return False
    if any(now[name] != then[name] for name in shared):
        return False
    types_stay = all(
        dataset.schema.field(name).type == target.to_pyarrow().field(name).type
        and dataset.schema.field(name).nullable == target.to_pyarrow().field(name).nullable
        for name in shared
    )
    fresh = [name for name in then if name not in shared]
    nullable = all(target.to_pyarrow().field(name).nullable for name in fresh)
    return types_stay and nullable and all(then[name] > dataset.max_field_id for name in fresh)


def reshape(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Bring rows to a schema: columns that are missing become null, others are cast."""
    columns = [
        rows.column(field.name).cast(field.type)
        if field.name in rows.schema.names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
