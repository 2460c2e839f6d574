"""What units and second looks report: violations in the order a load in process has them, and files with the rest."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from omnigraph.model.violations import Violation, ViolationKind, Violations

if TYPE_CHECKING:
    from collections.abc import Iterable

Order = tuple[int, ...]
"""Position, check, table, part of the check, row: what violations are sorted by."""

ENDPOINTS, REFERENCES, CARDINALITY, UNIQUENESS, TAKEN = range(5)


@dataclass
class Findings:
    """Violations: all counted, the first ones kept in order."""

    kept_max: int
    counts: Counter[ViolationKind] = field(default_factory=Counter[ViolationKind])
    kept: list[tuple[Order, Violation]] = field(default_factory=list[tuple[Order, Violation]])

    @property
    def total(self) -> int:
        """How many there are."""
        return self.counts.total()

    def add(self, order: Order, violation: Violation) -> None:
        """Note one."""
        self.counts[violation.kind] += 1
        self.kept.append((order, violation))
        if len(self.kept) > 4 * self.kept_max:
            self._trim()

    def add_more(self, kind: ViolationKind, count: int) -> None:
        """Note more of a kind, of which no details are kept."""
        if count > 0:
            self.counts[kind] += count

    def add_all(self, found: Violations, *order: int) -> None:
        """Take over what a check has found; their positions come first in the order."""
        self.counts.update(found.counts)
        self.kept += [((one.position, *order, row), one) for row, one in enumerate(found.kept)]
        self._trim()

    def merge(self, others: Iterable[Findings]) -> None:
        """Take over what was found elsewhere."""
        for other in others:
            self.counts.update(other.counts)
            self.kept += other.kept
            self._trim()

    def violations(self) -> Violations:
        """As a load collects them."""
        self._trim()
        found = Violations(self.kept_max)
        found.counts.update(self.counts)
        found.kept += [violation for _, violation in self.kept]
        return found

    def _trim(self) -> None:
        self.kept.sort(key=lambda one: one[0])
        del self.kept[self.kept_max :]

    def to_json(self) -> Any:
        """As plain data."""
        self._trim()
        return {
            "counts": {kind.value: count for kind, count in self.counts.items()},
            "kept": [[order, asdict(one)] for order, one in self.kept],
        }

    @classmethod
    def from_json(cls, found: Any, kept_max: int) -> Findings:
        """From plain data."""
        counts = Counter({ViolationKind(kind): count for kind, count in found["counts"].items()})
        kept = [(tuple(order), _violation(one)) for order, one in found["kept"]]
        return cls(kept_max, counts, kept)


def _violation(found: dict[str, Any]) -> Violation:
    edge = found["edge"]
    return replace(
        Violation(**found), kind=ViolationKind(found["kind"]), edge=tuple(edge) if edge is not None else None
    )


@dataclass
class UnitReport:
    """What became of a unit. Files are named, so that what two attempts write counts once."""

    unit: int
    dupes: Findings
    """Ids that come twice."""
    taken: Findings
    """Ids that the graph has already."""
    found: Findings
    files: dict[str, str] = field(default_factory=dict[str, str])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def to_bytes(self) -> bytes:
        """Small enough to travel through Spark as a value."""
        plain = {"unit": self.unit, "files": self.files, "counts": self.counts}
        found = {name: getattr(self, name).to_json() for name in ("dupes", "taken", "found")}
        return orjson.dumps({**plain, **found})

    @classmethod
    def from_bytes(cls, data: bytes, kept_max: int) -> UnitReport:
        """The report a task has sent."""
        found: dict[str, Any] = orjson.loads(data)
        dupes, taken, rest = (Findings.from_json(found[name], kept_max) for name in ("dupes", "taken", "found"))
        return cls(found["unit"], dupes, taken, rest, found["files"], found["counts"])
