"""What is wrong with rows that were to be written: each violation with its place, all of them counted."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

KEPT_MAX = 100
"""Violations that are kept with all their details; the rest is only counted."""

REJECTS_MAX = 1_000_000
"""How many are kept where every row with one is to be left out."""

_kept_max: ContextVar[int] = ContextVar("kept_max", default=KEPT_MAX)


@contextmanager
def keeping_all(wanted: bool = True) -> Generator[None]:
    """Keep the details of all violations that are collected within, because each names a row to leave out."""
    token = _kept_max.set(REJECTS_MAX if wanted else KEPT_MAX)
    try:
        yield
    finally:
        _kept_max.reset(token)


_SHOWN_MAX = 20


class ViolationKind(StrEnum):
    """What kind of rule a row breaks."""

    SYNTAX = "syntax"
    """The record is no JSON, or not of the shape of a record."""
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_PROPERTY = "unknown_property"
    TYPE = "type"
    REQUIRED = "required"
    ENUM = "enum"
    RANGE = "range"
    CHECK = "check"
    KEY = "key"
    """The id does not follow from the key, or one key appears twice."""
    UNIQUE = "unique"
    ENDPOINT = "endpoint"
    """An edge ends at a node that is not there."""
    REFERENCE = "reference"
    """A node that goes away is still the end of an edge."""
    CARDINALITY = "cardinality"
    BLOB = "blob"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule. `place` says where in the input: `line 3`, `row 7`; None if it is no single row's fault."""

    kind: ViolationKind
    message: str
    type_name: str | None = None
    property: str | None = None
    entity_id: str | None = None
    place: str | None = None
    position: int = 0
    """The number in `place`: what violations are sorted by."""
    edge: tuple[str, str] | None = None
    """Type and id of the edge that still ends at what goes away."""

    def __str__(self) -> str:
        """Write it in one line."""
        return self.message if self.place is None else f"{self.place}: {self.message}"

    def to_json(self) -> dict[str, object]:
        """Give the form that clients read; what is not known is left out."""
        facts = {
            "kind": self.kind.value,
            "message": self.message,
            "type_name": self.type_name,
            "property": self.property,
            "entity_id": self.entity_id,
            "place": self.place,
        }
        return {name: value for name, value in facts.items() if value is not None}

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Violation:
        """Read that form back."""
        place = facts.get("place")
        number = (place or "").rpartition(" ")[2]
        known = {name: facts.get(name) for name in ("type_name", "property", "entity_id")}
        position = int(number) if number.isdecimal() else 0
        return cls(ViolationKind(facts["kind"]), facts["message"], **known, place=place, position=position)


@dataclass
class Violations:
    """Collects violations: counts all of them, keeps the first ones by position."""

    kept_max: int = field(default_factory=_kept_max.get)
    counts: Counter[ViolationKind] = field(default_factory=Counter[ViolationKind])
    kept: list[Violation] = field(default_factory=list[Violation])

    def add(self, violation: Violation, count: int = 1) -> None:
        """Note one; `count` says how many it stands for."""
        self.counts[violation.kind] += count
        self.kept.append(violation)
        if len(self.kept) > 4 * self.kept_max:
            self._trim()

    def add_more(self, kind: ViolationKind, count: int) -> None:
        """Note more of a kind, of which no details are kept."""
        if count > 0:
            self.counts[kind] += count

    def add_all(self, violations: Iterable[Violation]) -> None:
        """Note several."""
        for violation in violations:
            self.add(violation)

    def merge(self, other: Violations) -> None:
        """Take over what was collected elsewhere."""
        self.counts.update(other.counts)
        self.kept.extend(other.kept)
        self._trim()

    @property
    def total(self) -> int:
        """How many there are."""
        return self.counts.total()

    def raise_if_any(self) -> None:
        """Refuse the write if anything is wrong with it."""
        if self.total:
            self._trim()
            raise ValidationFailed(tuple(self.kept), dict(self.counts))

    def _trim(self) -> None:
        self.kept.sort(key=lambda violation: violation.position)
        del self.kept[self.kept_max :]


class ValidationFailed(BadRequest):
    """Rows break rules of the schema. Nothing was written. Carries the first violations and a count of each kind."""

    def __init__(self, violations: tuple[Violation, ...], counts: dict[ViolationKind, int]) -> None:
        self.violations = violations
        self.counts = counts
        self.total = sum(counts.values())
        super().__init__(_text(violations, counts, self.total), total=self.total, counts=_named(counts))

    def to_json(self) -> dict[str, object]:
        """Give the form that clients read."""
        found = [violation.to_json() for violation in self.violations]
        return {"total": self.total, "counts": _named(self.counts), "violations": found}


def _named(counts: dict[ViolationKind, int]) -> dict[str, int]:
    return {kind.value: counts[kind] for kind in sorted(counts) if counts[kind]}


def _text(violations: tuple[Violation, ...], counts: dict[ViolationKind, int], total: int) -> str:
    if total == 1:
        return str(violations[0])
    summary = ", ".join(f"{count} {kind}" for kind, count in _named(counts).items())
    lines = [f"{total} problems, nothing was written ({summary})"]
    lines += [f"  {violation}" for violation in violations[:_SHOWN_MAX]]
    if total > _SHOWN_MAX:
        lines.append(f"  … and {total - _SHOWN_MAX} more")
    return "\n".join(lines)
