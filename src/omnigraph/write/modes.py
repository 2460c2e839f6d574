"""What a load does to what is there."""

from __future__ import annotations

from enum import StrEnum

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest


class LoadMode(StrEnum):
    """What a load does to what is there."""

    APPEND = "append"
    """Add rows; an id that is there already is a conflict."""
    MERGE = "merge"
    """Add rows, or replace whole rows of the same id."""
    OVERWRITE = "overwrite"
    """Replace everything of the types that occur."""


def load_mode(word: str) -> LoadMode:
    """The mode a word names."""
    try:
        return LoadMode(word)
    except ValueError:
        hint = suggest(word, [mode.value for mode in LoadMode])
        what = f"unknown load mode {word!r}: use append, merge or overwrite"
        raise BadRequest(f"{what}; {hint}" if hint else what) from None
