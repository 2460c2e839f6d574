"""Indexes of a graph: derived state, which makes queries faster and never changes an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnigraph.graph.holder import Holder
    from omnigraph.search.optimize import IndexStatus


@dataclass(frozen=True)
class Indexes:
    """Indexes of a graph."""

    _holder: Holder

    def status(self, branch: str | None = None) -> list[IndexStatus]:
        """How far every index has come: how many rows it covers, and why one cannot be built yet."""
        from omnigraph.search.optimize import index_status

        repository = self._holder.repository
        return list(index_status(repository, repository.snapshot(branch or self._holder.branch)))
