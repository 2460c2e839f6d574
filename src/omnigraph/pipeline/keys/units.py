"""Judging a unit: everything that the load and the graph say of some keys is here, and of no other."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from omnigraph.model.compute import pc
from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.pipeline.keys import facts
from omnigraph.pipeline.keys.plan import table_of
from omnigraph.pipeline.keys.scatter import AT, COUNT, EDGE, ROW
from omnigraph.pipeline.keys.verdict import CARDINALITY, TAKEN, UNIQUENESS, Findings, UnitReport
from omnigraph.pipeline.staging import folder, put_keys
from omnigraph.storage.addresses import ADDRESS
from omnigraph.storage.store import connect
from omnigraph.write.cardinality import wrong_number
from omnigraph.write.collected import distinct_rows
from omnigraph.write.context import GraphCheck
from omnigraph.write.delta import NO_IDS, RowMode, TableDelta, among, column, distinct, joined, without
from omnigraph.write.places import Places, place_text
from omnigraph.write.skip import exists_already
from omnigraph.write.uniqueness import check_tuples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.pipeline.keys.facts import Fact
    from omnigraph.pipeline.keys.plan import Channel, KeyPlan
    from omnigraph.schema import EdgeType
    from omnigraph.storage.interface import TableHandle
    from omnigraph.storage.staged import Aspect

SPLIT = "@split"


def judge_unit(plan: KeyPlan, given: Sequence[Fact]) -> UnitReport:
    """Judge what belongs to one unit."""
    unit = _Unit(plan, given)
    if given[0].unit == plan.units:
        unit.tally()
    elif unit.channel.names:
        unit.check_unique()
    else:
        unit.check_ids()
        unit.check_ends()
        unit.check_sources()
    return unit.report


class _Unit:
    def __init__(self, plan: KeyPlan, given: Sequence[Fact]) -> None:
        self._plan = plan
        self._given = given
        self._number = given[0].unit
        kept_max = Violations().kept_max
        self._kept_max = kept_max
        self.report = UnitReport(self._number, Findings(kept_max), Findings(kept_max), Findings(kept_max))
        self._ids = NO_IDS
        """The ids of the load's rows."""
        self._stored = NO_IDS

    @property
    def channel(self) -> Channel:
        """What is judged."""
        return self._plan.channel_of(self._number)

    def tally(self) -> None:
        """Count rows that are written, and name those that were uploaded and are not."""
        left: list[pa.Table] = []
        for fact in self._given:
            rows = fact.rows()
            key = rows.schema.metadata[b"key"].decode()
            self.report.counts[key] = self.report.counts.get(key, 0) + int(rows.schema.metadata[b"kept"])
            if rows.num_rows:
                count = rows.num_rows
                columns = {"key": pa.repeat(key, count), SPLIT: pa.repeat(pa.scalar(fact.split, pa.int32()), count)}
                left.append(pa.table({**columns, "left": rows.column("left")}))
        if left:
            self._keep("left", pa.concat_tables(left))

    def check_ids(self) -> None:
        """An id is there once in the load; what is there already is replaced, or in the way."""
        plan, key = self._plan, self.channel.key
        rows = self._rows(facts.NEW, with_split=True)
        if rows is not None:
            rows = rows.sort_by(AT)
            delta = self._delta(key, rows, ["id"])
            if plan.is_first:
                rows = self._distinct(delta, rows)
            self._ids = column(rows, "id")
        stored = self._rows(facts.STORED)
        if stored is None:
            return
        self._stored = column(stored, "id")
        if rows is None or not plan.meets_stored(key):
            return
        met = stored.filter(among(self._stored, self._ids))
        if met.num_rows:
            self._keep("replaced", met.select([ADDRESS]))
            self.report.counts["replaced"] = met.num_rows
            if plan.modes[key] is RowMode.INSERT:
                self._report_taken(key, rows.filter(among(self._ids, column(met, "id"))))

    def _distinct(self, delta: TableDelta, rows: pa.Table) -> pa.Table:
        found = Violations()
        stay = distinct_rows(delta, self._plan.mode, found)
        if stay is None:
            return rows
        self.report.dupes.add_all(found)
        goes = np.ones(rows.num_rows, np.bool_)
        goes[stay] = False
        self._keep("dropped", rows.filter(pa.array(goes)).select([SPLIT, ROW]))
        return rows.take(pa.array(stay))

    def _report_taken(self, key: str, rows: pa.Table) -> None:
        table = table_of(self._plan.catalog, key)
        kept = rows.slice(0, self._kept_max)
        for entity_id, at in zip(kept.column("id").to_pylist(), kept.column(AT).to_pylist(), strict=True):
            place, text = place_text(self._plan.words, at), exists_already(table, entity_id)
            violation = Violation(ViolationKind.KEY, text, table.name, None, entity_id, place, at)
            self.report.taken.add((at, TAKEN), violation)
        self.report.taken.add_more(ViolationKind.KEY, rows.num_rows - kept.num_rows)

    def check_ends(self) -> None:
        """Edges end at ids that are there afterwards. Which do not is looked up where the edges are."""
        wanted = self._all_ids(facts.END)
        rest = without(wanted, self._ids)
        missing = without(rest, self._stored)
        if len(missing) < len(rest):
            self.report.counts["met"] = len(rest) - len(missing)
        self._keep_ids("missing", missing)
        self._keep_ids("lost", without(self._all_ids(facts.KEPT_END), self._ids))

    def _all_ids(self, name: str) -> pa.Array:
        return distinct(joined([column(fact.rows(), "id") for fact in self._given if fact.name == name]))

    def _keep_ids(self, name: str, ids: pa.Array) -> None:
        if len(ids):
            self._keep(name, pa.table({"id": ids}))
            self.report.counts[name] = len(ids)

    # -- sources -----------------------------------------------------------------------------------------

    def check_sources(self) -> None:
        """As many edges leave a source as `@card` allows."""
        written, kept, lost = (self._rows(name) for name in (facts.SOURCE, facts.KEPT_SOURCE, facts.LOST_SOURCE))
        numbers = {n for rows in (written, lost) if rows is not None for n in rows.column(EDGE).unique().to_pylist()}
        for number in sorted(numbers):
            edge = self._plan.catalog.edges[number]
            self._check_edge(edge, number, *(_of_edge(rows, number) for rows in (written, kept, lost)))

    def _check_edge(self, edge: EdgeType, number: int, written: pa.Table, kept: pa.Table, lost: pa.Table) -> None:
        touched = distinct(joined([column(written, "id"), column(lost, "id")]))
        kept = kept.filter(among(column(kept, "id"), touched))
        zeros = pa.table({"id": column(lost, "id"), COUNT: pa.array(np.zeros(lost.num_rows, np.int64))})
        every = pa.concat_tables([written.select(["id", COUNT]), kept.select(["id", COUNT]), zeros])
        totals = every.group_by("id").aggregate([(COUNT, "sum")])
        counts = totals.column(f"{COUNT}_sum").to_numpy()
        maximum = edge.cardinality.maximum
        wrong = counts < edge.cardinality.minimum
        if maximum is not None:
            wrong |= counts > maximum
        bad = totals.filter(pa.array(wrong))
        if self._plan.replaces(f"node:{edge.source}") and bad.num_rows:  # a source that goes may lose its edges
            is_gone = pc.and_(pc.equal(bad.column(f"{COUNT}_sum"), 0), pc.invert(among(bad.column("id"), self._ids)))
            bad = bad.filter(pc.invert(is_gone))
        if bad.num_rows:
            self._report_sources(edge, number, bad, written, lost)

    def _report_sources(self, edge: EdgeType, number: int, bad: pa.Table, written: pa.Table, lost: pa.Table) -> None:
        ids = column(bad, "id")
        last = {row["id"]: row for row in _sorted_rows(written, ids, "ascending")}
        first = {row["id"]: row[AT] for row in _sorted_rows(lost, ids, "descending")}
        for row in bad.to_pylist():
            source, at = row["id"], last.get(row["id"])
            text, kind = wrong_number(edge, source, row[f"{COUNT}_sum"]), ViolationKind.CARDINALITY
            if at is None:
                order = (0, CARDINALITY, number, 0, first.get(source, 0))
                self.report.found.add(order, Violation(kind, text, edge.name, None, source))
            else:
                place = place_text(self._plan.words, at[AT])
                violation = Violation(kind, text, edge.name, None, at["edge_id"], place, at[AT])
                self.report.found.add((at[AT], CARDINALITY, number), violation)

    # -- tuples ------------------------------------------------------------------------------------------

    def check_unique(self) -> None:
        """No two rows have the same tuple."""
        rows = self._rows(facts.NEW)
        if rows is None:
            return
        plan, channel = self._plan, self.channel
        rows = rows.sort_by(AT)
        names = list(dict.fromkeys(("id", *channel.names)))
        delta = self._delta(channel.key, rows, names)
        found = Violations()
        ground = _StoredHere(self._rows(facts.STORED), names)
        check_tuples(GraphCheck(plan.catalog, ground, {channel.key: delta}, found), delta, channel.names)
        number = delta.table.uniques.index(channel.names)
        self.report.found.add_all(found, UNIQUENESS, list(plan.modes).index(channel.key), number)

    # -- pieces ------------------------------------------------------------------------------------------

    def _rows(self, name: str, *, with_split: bool = False) -> pa.Table | None:
        """All rows of one kind; None if there is none."""
        parts: list[pa.Table] = []
        for fact in self._given:
            if fact.name == name:
                rows = fact.rows()
                if with_split:
                    rows = rows.append_column(SPLIT, pa.repeat(pa.scalar(fact.split, pa.int32()), rows.num_rows))
                parts.append(rows)
        return pa.concat_tables(parts) if parts else None

    def _delta(self, key: str, rows: pa.Table, names: list[str]) -> TableDelta:
        places = Places(self._plan.words, rows.column(AT).to_numpy())
        return TableDelta(table_of(self._plan.catalog, key), rows.select(names), self._plan.modes[key], places=places)

    def _keep(self, name: str, rows: pa.Table) -> None:
        """Write what is too much to report."""
        path = f"{folder(self._plan.load_id)}/{name}-{self._number:06d}-{secrets.token_hex(6)}.arrow"
        put_keys(connect(self._plan.address), path, rows)
        self.report.files[name] = path


@dataclass(frozen=True)
class _StoredHere:
    """The graph as far as a unit knows it: rows of the same tuples. What a check depends on, the driver says."""

    rows: pa.Table | None
    columns: list[str]

    @property
    def snapshot(self) -> _StoredHere:
        return self

    def table(self, key: str) -> TableHandle:
        raise AssertionError(f"a unit does not read {key}")

    def find(self, key: str, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows with one of these values."""
        del key
        if self.rows is None:
            return pa.table({name: pa.array([], pa.string()) for name in columns})
        return self.rows.filter(among(self.rows.column(column), values)).select(list(columns))

    def depends_on(self, key: str, *aspects: Aspect) -> None:
        """Said by the driver."""


def _of_edge(rows: pa.Table | None, number: int) -> pa.Table:
    if rows is None:
        columns = {"id": pa.string(), COUNT: pa.int64(), AT: pa.int64(), "edge_id": pa.string(), EDGE: pa.int16()}
        return pa.schema(columns.items()).empty_table()
    return rows.filter(pc.equal(rows.column(EDGE), number))


def _sorted_rows(rows: pa.Table, ids: pa.Array, order: str) -> list[dict[str, Any]]:
    return rows.filter(among(rows.column("id"), ids)).sort_by([(AT, order)]).to_pylist()
