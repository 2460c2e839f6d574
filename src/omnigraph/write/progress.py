"""How far a long write has come."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then. The total is None where it is not known."""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Take note: so much is done of so much."""
        ...
