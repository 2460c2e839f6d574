"""A remark about a text that may well be right: what linting schemas and queries gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from omnigraph.model.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEVERITIES = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark."""

    severity: Severity
    code: str
    message: str
    type_name: str | None = None
    property_name: str | None = None
    query_names: tuple[str, ...] = ()

    @property
    def sort_key(self) -> tuple[int, str, str, str]:
        """The order of findings: severity, type, property, message."""
        return _SEVERITIES.index(self.severity), self.type_name or "", self.property_name or "", self.message

    def to_json(self) -> dict[str, object]:
        """The form that clients read; what is not known is left out."""
        data: dict[str, object] = {"severity": self.severity, "code": self.code, "message": self.message}
        more = {"type_name": self.type_name, "property": self.property_name, "query_names": list(self.query_names)}
        return data | {key: value for key, value in more.items() if value}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings as they are shown."""
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))
