"""A load whose keys stay in files: judged in passes, of which only what is wrong or left out comes to this process."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from omnigraph.model.errors import KeyConflict
from omnigraph.model.violations import Violations
from omnigraph.pipeline.keys.plan import Excluded, KeyPlan, StoredKeys, channels_of, counted_edge, table_of
from omnigraph.pipeline.keys.scatter import ROW, stored_columns
from omnigraph.pipeline.keys.units import SPLIT
from omnigraph.pipeline.keys.uploads import NO_NUMBERS, JudgedUploads, UploadChange
from omnigraph.pipeline.keys.verdict import UNIQUENESS, Findings
from omnigraph.pipeline.slices import cut
from omnigraph.pipeline.staging import get_keys
from omnigraph.schema import NodeType
from omnigraph.storage.addresses import ADDRESS, offsets_of, owners_of
from omnigraph.write.collected import row_mode
from omnigraph.write.context import GraphCheck
from omnigraph.write.delta import RowMode, TableDelta, empty_rows
from omnigraph.write.skip import Rejected
from omnigraph.write.uniqueness import is_comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from omnigraph.manifest import WriteTxn
    from omnigraph.pipeline.keys.passes import Passes
    from omnigraph.pipeline.keys.plan import SplitKeys
    from omnigraph.pipeline.keys.uploads import Numbers
    from omnigraph.pipeline.keys.verdict import UnitReport
    from omnigraph.schema import Catalog
    from omnigraph.storage.address import Address
    from omnigraph.storage.staged import Aspect
    from omnigraph.storage.store import Store
    from omnigraph.write.modes import LoadMode

_GREW: tuple[Aspect, ...] = ("added", "changed")


@dataclass(frozen=True)
class StagedKeys:
    """Where the keys of a load are, and what its rows do."""

    load_id: str
    address: Address
    mode: LoadMode
    words: Mapping[int, str]
    splits: tuple[SplitKeys, ...]
    numbers: tuple[int, ...]
    """How many positions each split has."""
    fragments: Mapping[str, list[str]]
    skip: bool
    is_new: bool
    """Whether the branch is made for this load."""

    def total(self, what: str) -> dict[str, int]:
        """A number that tasks have reported, by table, in the order of the input."""
        found: dict[str, int] = {}
        for split in self.splits:
            for key, table in split.tables.items():
                found[key] = found.get(key, 0) + getattr(table, what)
        return found


@dataclass(frozen=True)
class GatheredKeys:
    """Rows that tasks have uploaded, with their keys in files."""

    passes: Passes
    store: Store
    keys: StagedKeys
    changes: Mapping[str, UploadChange]
    violations: Violations
    engine: str = "spark"

    @property
    def load_id(self) -> str:
        """The commit's id and the intent's."""
        return self.keys.load_id

    def judge(self, catalog: Catalog, txn: WriteTxn, *, skip: bool) -> JudgedUploads:
        """Hold them against the graph: refuse the load, or leave out rows until the rest is right."""
        return _Judging(self, catalog, txn).judge(skip=skip)


def gather_keys(passes: Passes, store: Store, catalog: Catalog, keys: StagedKeys, found: Violations) -> GatheredKeys:
    """`found` is what is wrong with rows by themselves."""
    given = keys.total("given")
    changes = {
        key: UploadChange(table_of(catalog, key), row_mode(keys.mode, [given[key] > 0]), rows)
        for key, rows in keys.total("rows").items()
    }
    return GatheredKeys(passes, store, keys, changes, found)


@dataclass
class _Judging:
    """One load, held against one snapshot, in as many passes as it takes: one if nothing is wrong."""

    gathered: GatheredKeys
    catalog: Catalog
    txn: WriteTxn
    _reports: list[UnitReport] = field(default_factory=list["UnitReport"])
    _tables: dict[int, str] = field(default_factory=dict[int, str])
    """The table that each unit judges."""

    def judge(self, *, skip: bool) -> JudgedUploads:
        """Refuse the load, or give what is left of it."""
        plan, rejected, hidden = self._plan(), Rejected(), dict[str, int]()
        wrong = Violations()
        wrong.merge(self.gathered.violations)
        while True:
            before = plan
            self._reports = self.gathered.passes.verdicts(plan)
            if plan.is_first:
                dupes = self._findings("dupes")
                wrong.merge(dupes.violations())
                if skip:
                    rejected.add(wrong)
                elif self.gathered.keys.is_new:  # the branch is not to be made for what is wrong by itself
                    wrong.raise_if_any()
                plan = replace(plan, is_first=False, excluded=self._excluded(plan, rejected))
            hides = {key: count for key, count in self._counts("replaced").items() if plan.needs_hidden(key)}
            if plan.excluded != before.excluded or hides != hidden:  # then some of what was judged does not count
                plan, hidden = replace(plan, hidden=self._paths("replaced", hides)), hides
                continue
            found = self._found(plan)
            if not skip:
                self._refuse(wrong, found)
                break
            found.merge([self._findings("taken")])
            if not found.total:
                break
            rejected.add(found.violations())
            plan = replace(plan, excluded=self._excluded(plan, rejected))
        self._declare(plan)
        return JudgedUploads(self._changes(plan), rejected, self.gathered.keys.fragments)

    # -- the plan ----------------------------------------------------------------------------------------

    def _plan(self) -> KeyPlan:
        keys, state = self.gathered.keys, self.txn.base
        stored_rows = {key: table.row_count for key, table in state.tables.items()}
        rows, given = keys.total("rows"), keys.total("given")
        for key in given:
            table = table_of(self.catalog, key)
            if isinstance(table, NodeType) and table.key:
                given[key] = rows[key]  # a key that is wrong may still be another's
        plan = KeyPlan(
            keys.load_id,
            keys.address,
            self.catalog,
            keys.mode,
            {key: change.mode for key, change in self.gathered.changes.items()},
            stored_rows,
            keys.words,
            keys.splits,
            (),
            channels_of(self.catalog, given, rows, stored_rows),
            skip=keys.skip,
        )
        for channel in plan.channels:
            self._tables |= dict.fromkeys(range(channel.first, channel.first + channel.units), channel.key)
        wanted = [key for key in stored_rows if stored_columns(plan, key)]
        return replace(plan, stored=tuple(piece for key in wanted for piece in self._slices(key)))

    def _slices(self, key: str) -> Iterator[StoredKeys]:
        address = self.gathered.keys.address
        for piece in cut(self.txn.snapshot.table(key), address.uri, address.options):
            yield StoredKeys(key, piece)

    def _excluded(self, plan: KeyPlan, rejected: Rejected) -> Excluded:
        dropped = dict(plan.excluded.dropped)
        for key, path in self._files("dropped"):
            rows = get_keys(self.gathered.store, path)
            splits, numbers = rows.column(SPLIT).to_numpy(), rows.column(ROW).to_numpy()
            for split in np.unique(splits).tolist():
                dropped[split, key] = dropped.get((split, key), b"") + numbers[splits == split].tobytes()
        positions = np.sort(np.fromiter(rejected.rows, np.int64, len(rejected.rows)))
        wrong: dict[int, bytes] = {}
        for split, count in zip(plan.splits, self.gathered.keys.numbers, strict=True):
            start, end = np.searchsorted(positions, [split.base, split.base + count + 2])
            if end > start:
                wrong[split.split] = positions[start:end].tobytes()
        return Excluded(dropped, wrong)

    # -- what was found ----------------------------------------------------------------------------------

    def _found(self, plan: KeyPlan) -> Findings:
        """Everything that would be wrong with the graph, but for ids that are taken."""
        found = self._findings("found")
        missing, lost = self._paths("missing"), self._paths("lost")
        if missing or lost:
            found.merge([self.gathered.passes.look_again(plan, missing, lost)])
        general = Violations()
        for key, change in self.gathered.changes.items():
            delta = TableDelta(change.table, empty_rows(change.table), change.mode)
            for names in change.table.uniques if change.count else ():
                is_comparable(GraphCheck(self.catalog, self.txn, {key: delta}, general), delta, names)
        found.add_all(general, UNIQUENESS)
        return found

    def _refuse(self, wrong: Violations, found: Findings) -> None:
        whole = Violations()
        whole.merge(wrong)
        whole.merge(found.violations())
        whole.raise_if_any()
        taken: dict[str, Findings] = {}
        for report in self._reports:
            if report.taken.total:
                taken.setdefault(self._tables[report.unit], Findings(report.taken.kept_max)).merge([report.taken])
        for key in self.gathered.changes:
            if key in taken:
                first = taken[key].violations().kept[0]
                assert first.entity_id is not None
                raise KeyConflict(key, first.entity_id, count=taken[key].total, place=first.place)

    def _findings(self, name: str) -> Findings:
        whole = Findings(Violations().kept_max)
        whole.merge(getattr(report, name) for report in self._reports)
        return whole

    def _counts(self, name: str) -> dict[str, int]:
        """A number that units have reported, by table."""
        found: dict[str, int] = {}
        for report in self._reports:
            if report.unit in self._tables and name in report.counts:
                key = self._tables[report.unit]
                found[key] = found.get(key, 0) + report.counts[name]
        return found

    def _files(self, name: str) -> Iterator[tuple[str, str]]:
        """Files that units have written, with the tables they are about."""
        for report in self._reports:
            if name in report.files:
                yield self._tables[report.unit], report.files[name]

    def _paths(self, name: str, of: Iterable[str] | None = None) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for key, path in self._files(name):
            if of is None or key in of:
                found[key] = (*found.get(key, ()), path)
        return found

    # -- what it depends on, and what is written ---------------------------------------------------------

    def _declare(self, plan: KeyPlan) -> None:
        """What was looked up in the graph, so that a commit that changes the answer makes the load look again."""
        for key in self._counts("met"):
            self.txn.depends_on(key, "removed")
        for key in plan.stored_rows:
            if plan.keeps_edges(key):
                self.txn.depends_on(key, "added", "changed")
        for key, change in self.gathered.changes.items():
            if change.mode in (RowMode.INSERT, RowMode.UPSERT):
                self.txn.depends_on(key, "added")  # keys are not here to be compared with what comes meanwhile
            if change.replaces:
                continue
            edge = counted_edge(plan, key)
            if edge is not None:
                self.txn.depends_on(key, *(("added", "changed", "removed") if edge.cardinality.minimum else _GREW))
            if change.table.uniques:
                self.txn.depends_on(key, *_GREW)

    def _changes(self, plan: KeyPlan) -> dict[str, UploadChange]:
        kept: dict[str, int] = {}
        left: dict[tuple[str, int], Numbers] = {}
        for report in self._reports:
            if report.unit == plan.units:
                kept = report.counts
                if "left" in report.files:
                    left = _left_out(get_keys(self.gathered.store, report.files["left"]))
        changes: dict[str, UploadChange] = {}
        for key, change in self.gathered.changes.items():
            numbers, before = list["Numbers"](), 0
            for split in plan.splits:
                if (key, split.split) in left:
                    numbers.append(left[key, split.split] + before)
                before += split.tables[key].uploaded if key in split.tables else 0
            changes[key] = replace(
                change,
                count=kept.get(key, 0),
                left_out=np.concatenate(numbers) if numbers else NO_NUMBERS,
                replaced=self._replaced(key) if change.mode is RowMode.UPSERT else {},
            )
        return changes

    def _replaced(self, key: str) -> dict[int, Numbers]:
        """Stored rows that go, by fragment."""
        found: dict[int, list[Numbers]] = {}
        for owner, path in self._files("replaced"):
            if owner == key:
                addresses = np.sort(get_keys(self.gathered.store, path).column(ADDRESS).to_numpy())
                for fragment, offsets in _by_fragment(addresses):
                    found.setdefault(fragment, []).append(offsets)
        return {fragment: np.concatenate(parts) for fragment, parts in found.items()}


def _left_out(rows: pa.Table) -> dict[tuple[str, int], Numbers]:
    found: dict[tuple[str, int], Numbers] = {}
    keys, splits, numbers = rows.column("key").to_numpy(), rows.column(SPLIT).to_numpy(), rows.column("left").to_numpy()
    for key in np.unique(keys).tolist():
        for split in np.unique(splits[keys == key]).tolist():
            found[key, split] = numbers[(keys == key) & (splits == split)].astype(np.int64)
    return found


def _by_fragment(addresses: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Iterator[tuple[int, Numbers]]:
    owners = owners_of(addresses)
    fragments, starts = np.unique(owners, return_index=True)
    offsets = offsets_of(addresses).astype(np.uint32)
    yield from zip(fragments.tolist(), np.split(offsets, starts[1:]), strict=True)
