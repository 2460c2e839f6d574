"""Runs the statements of a mutation against one snapshot: what they match, what they write, what they take away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.execute import compute, constant, filter_rows, key_equality, used_columns
from omnigraph.model.types import blob_uri_column
from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.query import ir
from omnigraph.schema import EdgeType, NodeType, table_key, table_schema
from omnigraph.write.blobs import build_blob
from omnigraph.write.delta import column, distinct, joined, without
from omnigraph.write.pending import WORD, Pending
from omnigraph.write.records import Records
from omnigraph.write.references import without_mask
from omnigraph.write.rows import build_rows
from omnigraph.write.rules import check_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omnigraph.manifest import WriteTxn
    from omnigraph.query.params import Value
    from omnigraph.schema import Catalog
    from omnigraph.write.delta import TableDelta
    from omnigraph.write.ids import NewIds

Table = NodeType | EdgeType


@dataclass(frozen=True)
class Given:
    """What a mutation gets from its caller, once for all attempts."""

    params: Mapping[str, Value]
    now: datetime
    new_ids: NewIds


class Mutation:
    """One attempt at a mutation. `seen` is what it found in the graph and builds on, for later attempts to compare."""

    def __init__(self, catalog: Catalog, txn: WriteTxn, given: Given) -> None:
        self._catalog = catalog
        self._txn = txn
        self._given = given
        self._pending: dict[str, Pending] = {}
        self.violations = Violations()
        self.affected_nodes = 0
        self.affected_edges = 0
        self.seen: list[pa.Table] = []

    def run(self, statements: Sequence[ir.Statement]) -> None:
        """Run all statements; each sees what those before it did."""
        for number, statement in enumerate(statements, 1):
            match statement:
                case ir.InsertNode() | ir.InsertEdge():
                    self._insert(statement, number)
                case ir.Update():
                    self._update(statement, number)
                case ir.Delete():
                    self._delete(statement)

    def deltas(self) -> dict[str, TableDelta]:
        """What it all comes to, with the rules of single rows checked."""
        deltas: dict[str, TableDelta] = {}
        for key, pending in self._pending.items():
            deltas[key] = delta = pending.delta()
            check_values(delta, self.violations, pending.known_bad())
        return deltas

    # -- statements ------------------------------------------------------------------------------------

    def _insert(self, statement: ir.InsertNode | ir.InsertEdge, number: int) -> None:
        is_edge = isinstance(statement, ir.InsertEdge)
        table = self._table(statement.type_name, is_edge)
        data = {one.property: self._value(one.value) for one in statement.assignments}
        ends = ([self._text(statement.source)], [self._text(statement.target)]) if is_edge else ([], [])
        records = Records([data], np.array([number], np.int64), *ends)
        batch = build_rows(table, records, new_ids=self._given.new_ids, word=WORD)
        self.violations.merge(batch.violations)
        pending = self._of(table)
        for name in batch.bad_cells:
            pending.bad_cells.setdefault(name, set()).update(column(batch.table, "id").to_pylist())
        pending.write(batch.table, number, fresh=not batch.given_id[0].as_py())
        self._count(is_edge, 1)

    def _update(self, statement: ir.Update, number: int) -> None:
        table = self._table(statement.type_name, statement.is_edge)
        matched = self._matching(table, statement.condition, table_schema(table).names)
        self._count(statement.is_edge, matched.num_rows)
        if not matched.num_rows:
            return
        values = {one.property: one.value for one in statement.assignments if not one.type.is_blob}
        computed = compute(matched, values, self._given.params, self._given.now)
        for one in statement.assignments:
            if one.type.is_blob:
                computed = self._with_blob(computed, table.name, one, matched.num_rows, number)
        changed = _assigned(matched, computed)
        if changed.num_rows:
            self._of(table).write(changed, number, fresh=False)

    def _with_blob(
        self, computed: pa.Table, type_name: str, assignment: ir.Assignment, count: int, number: int
    ) -> pa.Table:
        """Add the columns of a blob, which is given the same way as in a load."""
        blob = build_blob([self._value(assignment.value)] * count)
        name = assignment.property
        for _, reason in blob.bad[:1]:
            place = f"{WORD} {number}"
            text = f"{type_name}.{name}: {reason}"
            self.violations.add(Violation(ViolationKind.BLOB, text, type_name, name, None, place, number))
        for column_name, values in ((name, blob.data), (blob_uri_column(name), blob.uri)):
            computed = computed.append_column(column_name, values)
        return computed

    def _delete(self, statement: ir.Delete) -> None:
        table = self._table(statement.type_name, statement.is_edge)
        gone = column(self._matching(table, statement.condition, ["id"]), "id")
        self._count(statement.is_edge, len(gone))
        if not len(gone):
            return
        self._of(table).remove(gone)
        if isinstance(table, NodeType):
            self._cascade(table, gone)

    def _cascade(self, node: NodeType, gone: pa.Array) -> None:
        """Take the edges of nodes along, each once."""
        for edge in self._catalog.edges_touching(node.name):
            ends = [end for end, name in (("src", edge.source), ("dst", edge.target)) if name == node.name]
            key = table_key(edge)
            self._txn.depends_on(key, "added", "changed")
            hits = [column(self._txn.find(key, end, gone, ["id"]), "id") for end in ends]
            doomed = distinct(joined(hits))
            if key in self._pending:
                doomed = without(doomed, self._pending[key].removed)
            if len(doomed):
                self._of(edge).remove(doomed)
                self._count(True, len(doomed))
                self.seen.append(pa.table({"id": doomed}).sort_by("id"))

    # -- what statements read --------------------------------------------------------------------------

    def _matching(self, table: Table, condition: ir.Expression, names: list[str]) -> pa.Table:
        """Rows that meet the condition, as this statement sees them: stored ones, unless changed, and changed ones."""
        stored = self._stored_matching(table, condition, names)
        pending = self._pending.get(table_key(table))
        if pending is None:
            self.seen.append(stored.sort_by("id"))
            return stored
        stored = stored.filter(without_mask(stored, pending.hidden))
        self.seen.append(stored.sort_by("id"))
        if not pending.rows.num_rows:
            return stored
        written = filter_rows(pending.rows, condition, self._given.params, self._given.now)
        return pa.concat_tables([stored, written.select(names)])

    def _stored_matching(self, table: Table, condition: ir.Expression, names: list[str]) -> pa.Table:
        key = table_key(table)
        params, now = self._given.params, self._given.now
        pinned = key_equality(condition, table, params)
        if pinned is None or pinned.column != "id":
            # Rows that come to match, or no longer do, would change what this statement means.
            self._txn.depends_on(key, "added", "changed")
        if pinned is not None:
            rest = pinned.residual
            used = used_columns(rest) if rest is not None else ()
            rows = self._txn.find(
                key, pinned.column, pinned.values, [*names, *(name for name in used if name not in names)]
            )
            return (rows if rest is None else filter_rows(rows, rest, params, now)).select(names)
        narrow = ["id", *(name for name in used_columns(condition) if name != "id")]
        found = filter_rows(self._txn.snapshot.table(key).scan(narrow), condition, params, now)
        ids = column(found, "id")
        return self._txn.find(key, "id", ids, names) if len(ids) else table_schema(table).empty_table().select(names)

    def _value(self, expression: ir.Expression) -> object:
        value = constant(expression, self._given.params, self._given.now)
        return list(value) if isinstance(value, tuple) else value

    def _text(self, expression: ir.Expression) -> str:
        return str(self._value(expression))

    # -- tables ----------------------------------------------------------------------------------------

    def _table(self, name: str, is_edge: bool) -> Table:
        return self._catalog.edge_types[name] if is_edge else self._catalog.node_types[name]

    def _of(self, table: Table) -> Pending:
        return self._pending.setdefault(table_key(table), Pending(table))

    def _count(self, is_edge: bool, rows: int) -> None:
        if is_edge:
            self.affected_edges += rows
        else:
            self.affected_nodes += rows


def _assigned(rows: pa.Table, computed: pa.Table) -> pa.Table:
    """The rows with their new values; rows that stay as they are are left out."""
    result = rows
    changed = np.zeros(rows.num_rows, np.bool_)
    for name in computed.column_names:
        declared = rows.schema.field(name)
        value = computed.column(name).cast(declared.type)
        before, after = (_bits(values).to_pylist() for values in (rows.column(name), value))
        changed |= np.fromiter((a != b for a, b in zip(before, after, strict=True)), np.bool_, rows.num_rows)
        result = result.set_column(result.schema.get_field_index(name), declared, value)
    return result.filter(pa.array(changed))


def _bits(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers of which equal ones are the same: -0.0 is not 0.0, and NaN is NaN."""
    if not pa.types.is_floating(values.type):
        return values
    whole = pa.int32() if values.type.bit_width == 32 else pa.int64()
    return pa.chunked_array([chunk.view(whole) for chunk in values.chunks], whole)
