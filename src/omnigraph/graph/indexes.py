"""Indexes of a graph: derived state, which makes queries faster and never changes an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnigraph.manifest import Repository
    from omnigraph.search.optimize import IndexStatus


@dataclass(frozen=True)
class Indexes:
    """Indexes of a graph."""

    _repository: Repository
    _branch: str

    def status(self, branch: str | None = None) -> list[IndexStatus]:
        """How far every index has come: how many rows it covers, and why one cannot be built yet."""
        from omnigraph.search.optimize import index_status

        return list(index_status(self._repository, self._repository.snapshot(branch or self._branch)))
