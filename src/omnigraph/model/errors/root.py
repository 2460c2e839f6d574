"""The root of every error, and how it travels."""

from __future__ import annotations

from typing import ClassVar


class OmniGraphError(Exception):
    """Root of every error this package raises on purpose."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.facts: dict[str, object] = facts

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes (Spark tasks, pools) without losing their facts."""
        return _revive, (type(self), self.message, self.facts, self.__dict__)


def _revive(
    kind: type[OmniGraphError], message: str, facts: dict[str, object], state: dict[str, object]
) -> OmniGraphError:
    error = kind.__new__(kind)
    OmniGraphError.__init__(error, message, **facts)
    error.__dict__.update(state)
    return error
