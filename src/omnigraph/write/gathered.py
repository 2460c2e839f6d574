"""What a load has gathered, on its way to a plan: rows in this process, or elsewhere, with what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from omnigraph.write.skip import Rejected, without_rejected
from omnigraph.write.stage import stage
from omnigraph.write.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnigraph.manifest import WriteTxn
    from omnigraph.model.violations import Violations
    from omnigraph.schema import Catalog, EdgeType, NodeType
    from omnigraph.write.delta import Deltas

    Stager = Callable[[WriteTxn, Deltas], bool]
    """Stages a delta that was found right; False if no table changes."""


class Change(Protocol):
    """What a load does to a table, however its rows are held."""

    @property
    def table(self) -> NodeType | EdgeType:
        """The type."""
        ...

    @property
    def replaces(self) -> bool:
        """Whether every other row goes."""
        ...

    @property
    def count(self) -> int:
        """How many rows are written."""
        ...


class Judged(Protocol):
    """Rows that were found right for one snapshot."""

    @property
    def changes(self) -> Mapping[str, Change]:
        """What is done, by table."""
        ...

    @property
    def rejected(self) -> Rejected:
        """Rows that were left out."""
        ...

    def stage(self, txn: WriteTxn) -> bool:
        """Stage all tables that change; False if none does."""
        ...


class Gathered(Protocol):
    """Rows that were typed, and what is wrong with them by themselves."""

    @property
    def changes(self) -> Mapping[str, Change]:
        """What is done if nothing is left out, by table."""
        ...

    @property
    def violations(self) -> Violations:
        """What is wrong with the rows, whatever the graph has."""
        ...

    @property
    def load_id(self) -> str | None:
        """The commit's id and the intent's, if they were chosen before."""
        ...

    @property
    def engine(self) -> str:
        """What has read the rows."""
        ...

    def judge(self, catalog: Catalog, txn: WriteTxn, *, skip: bool) -> Judged:
        """Hold them against the graph: refuse the load, or leave out rows until the rest is right."""
        ...


@dataclass(frozen=True)
class JudgedRows:
    """Rows in this process that were found right."""

    changes: Deltas
    stager: Stager
    rejected: Rejected = field(default_factory=Rejected)

    def stage(self, txn: WriteTxn) -> bool:
        """Stage all tables that change; False if none does."""
        return self.stager(txn, self.changes)


@dataclass(frozen=True)
class GatheredRows:
    """Rows in this process."""

    changes: Deltas
    violations: Violations
    stager: Stager = stage
    load_id: str | None = None
    engine: str = "local"

    def judge(self, catalog: Catalog, txn: WriteTxn, *, skip: bool) -> JudgedRows:
        """Hold them against the graph: refuse the load, or leave out rows until the rest is right."""
        if skip:
            rejected = Rejected()
            deltas = without_rejected(catalog, txn, self.changes, self.violations, rejected)
            return JudgedRows(deltas, self.stager, rejected)
        validate(catalog, txn, self.changes, self.violations)
        return JudgedRows(self.changes, self.stager)
