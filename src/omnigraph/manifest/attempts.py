"""A write, prepared and published; prepared again where that is safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.manifest.plan import MustRestage, PublishPlan
from omnigraph.model.errors import (
    Contention,
    OmniGraphError,
    ReadSetConflict,
    SnapshotReclaimed,
    TableConflict,
)
from omnigraph.model.names import MAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.manifest.publish import Published
    from omnigraph.manifest.repository import Repository
    from omnigraph.manifest.state import State
    from omnigraph.manifest.txn import WriteTxn

PREPARES_MAX = 32


def write(
    repository: Repository,
    prepare: Callable[[WriteTxn], PublishPlan | None],
    name: str = MAIN,
    *,
    strict: bool = False,
    fresh: bool = False,
    intent: str | None = None,
) -> Published | None:
    """Prepare a write and publish it; prepare it again where that is safe. `strict`: a conflict is the caller's.

    With `fresh` it looks first whether somebody else has written. Without, what is cached will do for a plan,
    because the publisher compares; a refusal, or that nothing is to be done, is an answer about the graph now.
    """
    fresh = fresh or strict
    last: Exception | None = None
    for _ in range(PREPARES_MAX):
        plan: PublishPlan | None = None
        txn = repository.begin(name, fresh=fresh, intent=intent)
        try:
            plan = prepare(txn)
            if plan is not None:
                return repository.publish(plan)
            if fresh or not _has_moved(repository, txn.base):
                return None
        except MustRestage as error:
            last = error
        except SnapshotReclaimed as error:
            if fresh and not _has_moved(repository, txn.base):  # what it reads has been gone for long
                raise
            last = error  # slept over a cleanup: look again
        except (ReadSetConflict, TableConflict) as error:
            if strict or plan is None or plan.if_commit is not None:
                raise
            last = error
        except OmniGraphError as error:
            if fresh or plan is not None or not _has_moved(repository, txn.base):
                raise
            last = error
        fresh = True
    raise Contention(name, PREPARES_MAX) from last


def _has_moved(repository: Repository, base: State) -> bool:
    """Whether somebody has written since a state that was cached."""
    newest = repository.branch_of(repository.ref_of(base)).head()
    return newest.entry != base.entry
