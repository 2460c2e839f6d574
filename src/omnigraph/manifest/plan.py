"""A write as data: what it changes, what it depends on, and the checks it must pass on the state it lands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.errors import (
    BranchNotFound,
    Fenced,
    HeadMoved,
    OmniGraphError,
    ReadSetConflict,
    TableConflict,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.manifest.state import State
    from omnigraph.storage.staged import Aspect, Staged


class MustRestage(OmniGraphError):
    """Nothing this write depends on has changed, but its staged files no longer fit: prepare it again."""


@dataclass(frozen=True, slots=True)
class Read:
    """A dependency on content: "this endpoint exists" on `removed`, "this key is free" on `added` and `changed`."""

    table_key: str
    aspect: Aspect


@dataclass(frozen=True)
class TableChange:
    """A table's new version; without one its removal from the graph or, with a source, only its new name."""

    key: str
    staged: Staged | None
    source: str | None = None
    """The key it had in the base, when that is another."""

    @property
    def is_drop(self) -> bool:
        """Whether the table leaves the graph."""
        return self.staged is None and self.source is None

    @property
    def vacates(self) -> str | None:
        """The key that no longer means this table."""
        return self.key if self.is_drop else self.source

    @property
    def keys(self) -> tuple[str, ...]:
        """The key it has from now on, then the one it had."""
        return (self.key,) if self.source is None else (self.key, self.source)


@dataclass(frozen=True)
class PublishPlan:
    """Everything a publish needs, built before anything becomes visible. One commit id, however many attempts."""

    base: State
    commit_id: str
    created_us: int
    operation: str
    changes: tuple[TableChange, ...] = ()
    reads: frozenset[Read] = frozenset()
    actor: str | None = None
    merged: State | None = None
    """The other side of a merge."""
    schema_hash: str | None = None
    """The new schema, if the write changes it."""
    if_commit: str | None = None
    epoch: int = 0
    intent: str | None = None

    @property
    def is_exclusive(self) -> bool:
        """Whether it must have a chain entry of its own."""
        return self.schema_hash is not None


def expect_head(state: State, commit: str | None) -> None:
    """Refuse a state whose head is not the commit that is asked for. Writes ask before they do any work, too."""
    if commit is not None and commit != state.head:
        raise HeadMoved(state.branch, expected=commit, found=state.head)


def check_open(state: State, plan: PublishPlan) -> None:
    """A deleted branch takes nothing."""
    del plan
    if state.is_closed:
        raise BranchNotFound(state.branch)


def check_epoch(state: State, plan: PublishPlan) -> None:
    """A writer that opened before an operator's fence is shut out."""
    if state.epoch > plan.epoch:
        raise Fenced(state.branch, opened_at=plan.epoch, current=state.epoch)


def check_if_commit(state: State, plan: PublishPlan) -> None:
    """The caller's own precondition on the head."""
    expect_head(state, plan.if_commit)


def check_collected(state: State, plan: PublishPlan) -> None:
    """Files staged before a collection may be gone by now, even on a branch where nothing else moved."""
    if state.collect is None or state.collect == plan.base.collect or plan.intent in state.collect.intents:
        return
    if plan.schema_hash is not None or any(change.staged is not None for change in plan.changes):
        raise MustRestage(f"collection {state.collect.id} passed while this write was staged")


def check_schema(state: State, plan: PublishPlan) -> None:
    """Every write depends on the schema it was checked against."""
    if state.schema_hash != plan.base.schema_hash:
        raise ReadSetConflict("schema", expected=plan.base.schema_hash, actual=state.schema_hash)


def check_reads(state: State, plan: PublishPlan) -> None:
    """What the write has seen must still be so. Compares content, so maintenance never matters."""
    for read in sorted(plan.reads, key=lambda read: (read.table_key, read.aspect)):
        expected = plan.base.table(read.table_key)
        actual = state.tables.get(read.table_key)
        if actual is None:
            raise TableConflict(read.table_key, expected=expected.version, actual=0, reason="it was dropped")
        if actual.counter(read.aspect) != expected.counter(read.aspect):
            raise ReadSetConflict(
                f"{read.table_key}.{read.aspect}",
                expected=expected.counter(read.aspect),
                actual=actual.counter(read.aspect),
            )


CHECKS: tuple[Callable[[State, PublishPlan], None], ...] = (
    check_open,
    check_epoch,
    check_if_commit,
    check_collected,
    check_schema,
    check_reads,
)
