"""What a check against the graph works with: the delta, the snapshot it meets, and where violations go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omnigraph.model.violations import Violation, ViolationKind, Violations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from omnigraph.schema import Catalog
    from omnigraph.storage.interface import TableHandle
    from omnigraph.storage.staged import Aspect
    from omnigraph.write.delta import TableDelta


class Rows(Protocol):
    """Tables by their keys."""

    def table(self, key: str) -> TableHandle:
        """Open a table."""
        ...


class Ground(Protocol):
    """What a delta is held against: a snapshot, and the read set of the write."""

    @property
    def snapshot(self) -> Rows:
        """The tables as they are without the delta."""
        ...

    def find(self, key: str, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows whose `column` has one of these values."""
        ...

    def depends_on(self, key: str, *aspects: Aspect) -> None:
        """Declare that the write holds only if the table's content did none of these since."""
        ...


@dataclass(frozen=True)
class GraphCheck:
    """One write, held against one snapshot. Whatever a check reads there goes into the write's read set."""

    catalog: Catalog
    txn: Ground
    deltas: Mapping[str, TableDelta]
    violations: Violations

    def each(self, kind: str) -> Iterator[TableDelta]:
        """The deltas of nodes, or of edges."""
        return (delta for key, delta in self.deltas.items() if key.startswith(f"{kind}:"))

    def report(
        self,
        delta: TableDelta,
        row: int | None,
        kind: ViolationKind,
        message: str,
        entity_id: str | None = None,
        *,
        property: str | None = None,  # noqa: A002 - the word for it
        edge: tuple[str, str] | None = None,
    ) -> None:
        """Note a violation by a row of a delta, or (None) by the delta as a whole."""
        place, position = None, 0
        if row is not None:
            entity_id = delta.ids[row].as_py()
            position = int(delta.places.numbers[row]) if delta.places is not None else row
            place = delta.places.text(row) if delta.places is not None else None
        self.violations.add(
            Violation(kind, message, delta.table.name, property, entity_id, place, edge=edge, position=position)
        )
