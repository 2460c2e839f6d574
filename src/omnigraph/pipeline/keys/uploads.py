"""What a load does to tables with rows that tasks have uploaded, and how that is staged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from omnigraph.storage.staged import Uploaded
from omnigraph.write.delta import RowMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnigraph.manifest import WriteTxn
    from omnigraph.schema import EdgeType, NodeType
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Staged
    from omnigraph.write.skip import Rejected

    Numbers = np.ndarray[tuple[int], np.dtype[np.integer]]

NO_NUMBERS = np.empty(0, np.int64)


@dataclass(frozen=True)
class UploadChange:
    """What is done to a table."""

    table: NodeType | EdgeType
    mode: RowMode
    count: int
    left_out: Numbers = field(default_factory=lambda: NO_NUMBERS)
    """Rows that were uploaded and are not wanted, numbered over all fragments in order."""
    replaced: Mapping[int, Numbers] = field(default_factory=dict[int, "Numbers"])
    """Stored rows that go: their offsets, by fragment."""

    @property
    def replaces(self) -> bool:
        """Whether every other row goes."""
        return self.mode is RowMode.REPLACE


@dataclass(frozen=True)
class JudgedUploads:
    """Uploaded rows that were found right for one snapshot."""

    changes: Mapping[str, UploadChange]
    rejected: Rejected
    fragments: Mapping[str, list[str]]

    def stage(self, txn: WriteTxn) -> bool:
        """Stage all tables that change; False if none does."""
        wanted = {key: change for key, change in self.changes.items() if change.count or change.replaces}
        stages = {key: self._stage_of(txn, key, change) for key, change in wanted.items()}
        return any(staged is not None for staged in txn.stage_together(stages).values())

    def _stage_of(
        self, txn: WriteTxn, key: str, change: UploadChange
    ) -> Callable[[Tables, TableHandle], Staged | None]:
        if len(change.left_out) and not change.replaces:  # what it became cannot be moved onto another base
            txn.depends_on(key, "added", "changed", "removed")
        how = Uploaded(replaced=change.replaced, left_out=change.left_out, replaces_all=change.replaces)
        fragments = self.fragments[key]
        return lambda tables, handle: tables.stage_uploaded(handle, fragments, how)
