"""The complete state of a branch at one number of its chain. Immutable; a change makes a new state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from omnigraph.model.errors import TableNotFound
from omnigraph.storage.staged import Aspect, TableRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EntryKind = Literal["init", "fork", "commit", "neutral", "collect", "epoch", "closed"]


@dataclass(frozen=True, slots=True)
class TableState:
    """One table as a branch sees it. The counters say at which number its content last did that."""

    key: str
    location: str
    version: int
    row_count: int
    added: int
    removed: int
    changed: int

    @property
    def ref(self) -> TableRef:
        """The table at its pinned version."""
        return TableRef(self.location, self.version)

    def counter(self, aspect: Aspect) -> int:
        """The number at which the content last did this."""
        match aspect:
            case "added":
                return self.added
            case "removed":
                return self.removed
            case "changed":
                return self.changed

    def moved_to(self, version: int, row_count: int, aspects: Iterable[Aspect], number: int) -> TableState:
        """The table after a change published at `number`."""
        marks: dict[str, int] = dict.fromkeys(aspects, number)
        return replace(self, version=version, row_count=row_count, **marks)

    def same_content(self, other: TableState) -> bool:
        """Whether nothing happened to the rows in between: folds and index builds do not count."""
        mine = (self.location, self.added, self.removed, self.changed)
        return mine == (other.location, other.added, other.removed, other.changed)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: who did what, when, on top of what."""

    id: str
    branch: str
    """Name of the branch it was made on."""
    chain: str
    """Id of that branch."""
    number: int
    """The chain number it became visible at: the manifest version."""
    parents: tuple[str, ...]
    actor: str | None
    created_us: int
    operation: str
    tables: tuple[str, ...] = ()
    """Keys of the tables it changed."""
    before: tuple[TableState, ...] | None = None
    """Those tables as they were before it, when later commits share its chain entry; else None."""
    merged_at: tuple[str, int] | None = None
    """The chain and number of the other side of a merge, so that it is found when its branch is gone."""

    @property
    def parent(self) -> str | None:
        """The commit it was made on top of."""
        return self.parents[0] if self.parents else None

    @property
    def merged_parent(self) -> str | None:
        """The other side of a merge."""
        return self.parents[1] if len(self.parents) > 1 else None


@dataclass(frozen=True, slots=True)
class Segment:
    """An object that holds a run of commits, with the range of their ids."""

    name: str
    first_id: str
    last_id: str
    commits: int


@dataclass(frozen=True, slots=True)
class CollectMark:
    """A collection of garbage passed here. Who staged before it and is not listed must stage again."""

    id: str
    cutoff_us: int
    intents: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """Everything a branch says at one number of its chain."""

    branch: str
    chain: str
    number: int
    entry: str
    """Unique to this chain object: how its writer recognises it after a lost answer."""
    kind: EntryKind
    head: str
    """The newest commit."""
    schema_hash: str
    tables: Mapping[str, TableState]
    commits: tuple[Commit, ...] = ()
    """Commits that became visible with this entry, oldest first."""
    recent: tuple[Commit, ...] = ()
    """The newest commits of the lineage, older chains included, without their tables; older ones are in segments."""
    segments: tuple[Segment, ...] = ()
    epoch: int = 0
    collect: CollectMark | None = None

    @property
    def is_closed(self) -> bool:
        """Whether the branch was deleted: nothing may be appended."""
        return self.kind == "closed"

    def table(self, key: str) -> TableState:
        """A table by its key."""
        found = self.tables.get(key)
        if found is None:
            raise TableNotFound(key)
        return found

    def next(self, kind: EntryKind, entry: str) -> State:
        """The same content at the next number: a content-neutral entry, until something is changed in it."""
        return replace(self, number=self.number + 1, kind=kind, entry=entry, commits=())

    def with_tables(self, changed: Mapping[str, TableState | None]) -> State:
        """The state with tables replaced, added or (None) dropped."""
        merged: dict[str, TableState] = dict(self.tables)
        for key, table in changed.items():
            if table is None:
                merged.pop(key, None)
            else:
                merged[key] = table
        return replace(self, tables=merged)

    def with_commit(self, commit: Commit) -> State:
        """The state with one more commit on top."""
        slim = replace(commit, tables=(), before=None)
        return replace(self, head=commit.id, commits=(*self.commits, commit), recent=(*self.recent, slim))

    def at(self, commit_id: str) -> State:
        """This entry as it was right after one of its own commits: later ones of the same group undone."""
        state = self
        for commit in reversed(self.commits):
            if commit.id == commit_id:
                return state.rewound_to(commit_id)
            before = {table.key: table for table in commit.before or ()}
            state = state.with_tables({key: before.get(key) for key in commit.tables})
        return state.rewound_to(commit_id)

    def rewound_to(self, commit_id: str) -> State:
        """The same tables with an earlier commit of this entry as the head."""
        ids = [commit.id for commit in self.recent]
        recent = self.recent[: ids.index(commit_id) + 1] if commit_id in ids else self.recent
        return replace(self, head=commit_id, recent=recent)


@dataclass(frozen=True)
class Stripped:
    """What is left of a number after cleanup: its lineage. The number stays taken for ever."""

    chain: str
    number: int
    entry: str
    commits: tuple[Commit, ...] = field(default=())
