"""Notes violations of one input: every one gets its place, hints are looked up once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.write.places import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Report:
    """Collects violations. `word` is what the input is counted in: lines, rows, records."""

    word: str = "line"
    violations: Violations = field(default_factory=Violations)
    _hints: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def add(
        self,
        kind: ViolationKind,
        message: str,
        position: int | None,
        *,
        type_name: str | None = None,
        property: str | None = None,  # noqa: A002 - the violation's own word
        entity_id: str | None = None,
        count: int = 1,
    ) -> None:
        """Note one; without a position it is the fault of no single row."""
        place = None if position is None else f"{self.word} {number_of(position)}"
        found = Violation(kind, message, type_name, property, entity_id, place, position or 0)
        self.violations.add(found, count)

    def hint(self, scope: str, name: str, known: Iterable[str]) -> str:
        """Say what was probably meant, ready to be appended. The same name may be wrong a million times."""
        if (scope, name) not in self._hints:
            found = suggest(name, known)
            self._hints[scope, name] = f"; {found}" if found else ""
        return self._hints[scope, name]
