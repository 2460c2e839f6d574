"""Who holds a graph: on which branch, by which name, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.errors import BadRequest
from omnigraph.model.names import MAIN
from omnigraph.policy.action import Action
from omnigraph.policy.gate import OPEN, Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from omnigraph.manifest import Repository
    from omnigraph.write.blob_policy import BlobPolicy


@dataclass(frozen=True)
class Holder:
    """What every part of a graph is made with."""

    repository: Repository
    branch: str = MAIN
    """The one that is meant where no other is named."""
    actor: str | None = None
    gate: Gate = OPEN
    external_blobs: tuple[str, ...] = ()
    """Addresses below which blobs may be referred to."""

    def branch_or(self, branch: str | None, snapshot: str | None) -> str:
        """The branch to look at, where no snapshot is named."""
        if branch is not None and snapshot is not None:
            raise BadRequest("give a branch or a snapshot, not both: a snapshot is on no branch")
        return branch or self.branch

    def permit_change(self, branch: str) -> Callable[[Iterable[str]], None]:
        """What a write asks, once it knows its tables."""
        return lambda tables: self.gate.require(Action.CHANGE, branch=branch, types=tables)

    def blob_policy(self) -> BlobPolicy:
        """Which references to bytes elsewhere a write may store."""
        from omnigraph.write.blob_policy import BlobPolicy
        from omnigraph.write.streams import read_reference

        return BlobPolicy(self.external_blobs, read_reference)
