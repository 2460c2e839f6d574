"""What a process does after an acknowledged write: fold tails of tables and of the lineage.

Published as content-neutral entries: no commit, head unchanged, never retried, dropped when they lose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from omnigraph.model.errors import OmniGraphError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnigraph.manifest.branch import Branch
    from omnigraph.manifest.lineage import Lineage
    from omnigraph.manifest.state import State
    from omnigraph.model.clock import Runtime
    from omnigraph.storage.durable import Durability
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Staged


ATTEMPTS = 8
"""How often upkeep somebody asked for is appended to a branch that moves under it."""


class IndexHook(Protocol):
    """Adds index segments to a table that was just folded; None if there is nothing worth indexing."""

    def __call__(self, table_key: str, handle: TableHandle, schema_hash: str) -> Staged | None:
        """Stage index segments on top of the folded version."""
        ...


def no_indexes(table_key: str, handle: TableHandle, schema_hash: str) -> Staged | None:
    """Leave indexes alone."""
    del table_key, handle, schema_hash
    return None


@dataclass
class Maintenance:
    """Folds tails on one branch."""

    branch: Branch
    tables: Tables
    lineage: Lineage
    runtime: Runtime
    durability: Durability
    index_hook: IndexHook = no_indexes

    def after_write(self, state: State, table_keys: Iterable[str]) -> State | None:
        """Fold what has grown past its bound; the state that was published, or None if nothing was or it lost."""
        if state.is_closed:
            return None
        staged: dict[str, Staged] = {}
        try:
            for key in table_keys:
                fold = self._fold(key, state)
                if fold is not None:
                    staged[key] = fold
            folded = self.lineage.fold(state, self.runtime.ids.ulid()) or state
            if not staged and folded is state:
                return None
            entry, newer = self._append(state, folded, staged)
        except OmniGraphError:
            return None  # the write was acknowledged; upkeep can wait for the next one
        return entry if newer is None else None

    def _fold(self, key: str, state: State) -> Staged | None:
        table = state.tables.get(key)
        if table is None:
            return None
        fold = self.tables.stage_fold(self.tables.open(table.ref))
        if fold is None:
            return None
        indexed = self.index_hook(key, self.tables.open(fold.ref), state.schema_hash)
        return fold if indexed is None else replace(indexed, files=(*fold.files, *indexed.files))

    def publish(self, state: State, staged: Mapping[str, Staged]) -> frozenset[str]:
        """Publish upkeep that took its time; which tables it was for, without those somebody wrote to meanwhile.

        A collection that passed may have taken staged files along: then nothing is published.
        """
        collect = state.collect
        for _ in range(ATTEMPTS):
            fitting = {
                key: one for key, one in staged.items() if key in state.tables and state.tables[key].ref == one.base
            }
            folded = self.lineage.fold(state, self.runtime.ids.ulid()) or state
            if state.is_closed or state.collect != collect or (not fitting and folded is state):
                break
            _, newer = self._append(state, folded, fitting)
            if newer is None:
                return frozenset(fitting)
            state = newer
        return frozenset()

    def _append(self, state: State, folded: State, staged: Mapping[str, Staged]) -> tuple[State, State | None]:
        """Append one content-neutral entry: that entry, and the newer state if one was there first."""
        entry = folded.next("neutral", self.runtime.ids.ulid())
        tables = {
            key: state.tables[key].moved_to(one.ref.version, one.row_count, one.aspects, entry.number)
            for key, one in staged.items()
        }
        self.durability.before_publish(list(staged.values()))
        entry = entry.with_tables(tables)
        return entry, self.branch.append(entry)
