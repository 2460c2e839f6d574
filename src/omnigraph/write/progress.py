"""How far a long write has come."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable


class Stage(str):
    """The name of a stage of which something else than rows is counted."""

    __slots__ = ("unit",)

    def __new__(cls, name: str, unit: str = "rows") -> Self:
        """A name, and what is counted."""
        stage = super().__new__(cls, name)
        stage.unit = unit
        return stage


def unit_of(stage: str) -> str:
    """What is counted in a stage."""
    return stage.unit if isinstance(stage, Stage) else "rows"


class Progress(Protocol):
    """Called now and then. The total is None where it is not known. What it raises calls the work off."""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Take note: so much is done of so much."""
        ...


@runtime_checkable
class Resumable(Progress, Protocol):
    """Wants to know by which id a load can be taken up if its process dies."""

    def started(self, load_id: str) -> None:
        """A load has begun to stage."""
        ...


def announce(progress: Progress | None, load_id: str) -> None:
    """Tell who wants to know."""
    if isinstance(progress, Resumable):
        progress.started(load_id)
