"""New values for some properties of nodes or edges that are there, by id: as one commit, whatever their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.errors import BadRequest
from omnigraph.model.violations import Violations
from omnigraph.schema import table_key
from omnigraph.write.casts import cast_column
from omnigraph.write.compute import pc
from omnigraph.write.delta import RowMode, TableDelta, by_key
from omnigraph.write.permit import permit_all
from omnigraph.write.rules import check_values
from omnigraph.write.scalars import Column
from omnigraph.write.stage import stage
from omnigraph.write.validate import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.manifest import Commit, PublishPlan, Repository, WriteTxn
    from omnigraph.schema import EdgeType, NodeType
    from omnigraph.write.permit import Permit


@dataclass(frozen=True)
class AssignOptions:
    """Where to write, and what the commit says."""

    branch: str
    operation: str = "mutate"
    actor: str | None = None
    permit: Permit = permit_all
    guards: frozenset[str] = frozenset()
    """Columns that say what the values were made from: a row in which they are not the same any more stays as it is."""


def assign(repository: Repository, values: Mapping[str, pa.Table], options: AssignOptions) -> Commit | None:
    """Set properties. Each table of `values`, by its key, has `id` and a column for each property; None: no change.

    Ids that are not there are left out, and so are rows that have these values already.
    """
    options.permit(values)

    def prepare(txn: WriteTxn) -> PublishPlan | None:
        catalog = repository.catalogs.get(txn.base.schema_hash).catalog
        deltas = by_key([_delta(txn, catalog.tables_by_key[key], rows, options.guards) for key, rows in values.items()])
        violations = Violations()
        for delta in deltas.values():
            check_values(delta, violations)
        validate(catalog, txn, deltas, violations)
        return txn.plan(options.operation, actor=options.actor) if stage(txn, deltas) else None

    published = repository.write(prepare, options.branch)
    return published.commit if published is not None else None


def _delta(txn: WriteTxn, table: NodeType | EdgeType, values: pa.Table, guards: frozenset[str]) -> TableDelta:
    """The rows as they are afterwards, of those that change."""
    key = table_key(table)
    txn.depends_on(key, "changed", "removed")
    names = txn.snapshot.table(key).schema.names
    ids = values.column("id").combine_chunks().cast(pa.string())
    rows = txn.find(key, "id", ids, names)
    places = pc.index_in(rows.column("id"), value_set=ids)
    changed: pa.Array | None = None
    fits: pa.Array | None = None
    for name in values.column_names:
        if name == "id":
            continue
        if name in guards:
            given = values.column(name).combine_chunks().take(places.combine_chunks())
            same = pc.invert(_differs(rows.column(name).combine_chunks(), given.cast(rows.column(name).type)))
            fits = same if fits is None else pc.and_(fits, same)
            continue
        new = _typed(table, name, values.column(name)).take(places.combine_chunks())
        differs = _differs(rows.column(name).combine_chunks(), new)
        changed = differs if changed is None else pc.or_(changed, differs)
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), new)
    for mask in (changed, fits):
        if mask is not None:
            changed = mask if changed is None else pc.and_(changed, mask)
    return TableDelta(table, rows if changed is None else rows.filter(changed), RowMode.UPSERT)


def _typed(table: NodeType | EdgeType, name: str, values: pa.ChunkedArray) -> pa.Array:
    declared = table.property(name)
    if declared is None or declared.type.is_blob or table.is_key(name):
        why = "it has no such property" if declared is None else "a key or a Blob cannot be"
        raise BadRequest(f"{table.name}.{name} cannot be assigned: {why}", property=name)
    column = cast_column(values, declared.type)
    assert isinstance(column, Column)
    if column.bad:
        raise BadRequest(f"{table.name}.{name} is {declared.type.required}: {column.bad[0][1]}", property=name)
    return column.array


def _differs(old: pa.Array, new: pa.Array) -> pa.Array:
    """Where values are not the same; lists and vectors are always taken to differ."""
    if pa.types.is_nested(old.type):
        return pa.array([True] * len(old))
    same = pc.fill_null(pc.equal(old, new), fill_value=False)
    return pc.invert(pc.or_(same, pc.and_(pc.is_null(old), pc.is_null(new))))
