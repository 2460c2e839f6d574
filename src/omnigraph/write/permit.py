"""Whether a write may go on: asked once it is known which tables it is about, before anything is staged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Permit = Callable[[Iterable[str]], None]
    """Raises unless these tables (as in `node:Person`) may be changed."""

    PermitBranch = Callable[[str], None]
    """Raises unless a branch may be made from this source."""


def permit_all(what: Iterable[str] | str) -> None:
    """Let everything through."""
    del what
