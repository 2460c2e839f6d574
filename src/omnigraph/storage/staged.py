"""What a staged change is, and when it may be moved onto another base. Plain data; no Lance here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from omnigraph.model.errors import OmniGraphError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

Aspect = Literal["added", "removed", "changed"]
"""What a write can do to a table's content. Folds and index builds do none of these."""

StageKind = Literal["create", "append", "change", "overwrite", "schema", "fold", "index"]

ADDED: frozenset[Aspect] = frozenset({"added"})
REMOVED: frozenset[Aspect] = frozenset({"removed"})
ALL_ASPECTS: frozenset[Aspect] = frozenset({"added", "removed", "changed"})
NEUTRAL: frozenset[Aspect] = frozenset()


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table at one exact version. There is no way to say "latest"."""

    location: str
    version: int


@dataclass(frozen=True, slots=True)
class FragmentIdentity:
    """What makes a fragment this fragment: its id alone does not, because branches reuse ids."""

    id: int
    files: tuple[str, ...]
    deletion: str | None
    rows: int
    """Rows that are not deleted."""
    bytes: int = 0


@dataclass(frozen=True)
class Staged:
    """A detached version of a table: complete, durable, and visible to nobody until it is published."""

    base: TableRef
    ref: TableRef
    kind: StageKind
    aspects: frozenset[Aspect]
    row_count: int
    touched: tuple[FragmentIdentity, ...] = ()
    """Fragments of the base that this change rewrites or deletes from."""
    base_files: frozenset[str] = frozenset()
    """Data files of the base, for a change that inserts by key: what is not among them was added since."""
    keys: pa.StringArray | None = field(default=None, repr=False)
    """Keys a change inserted because they were not there."""
    operation: object = field(default=None, repr=False)
    """What the adapter needs to stage it again on another base without uploading data again."""
    files: tuple[str, ...] = ()
    """Paths this staging wrote, below the graph's root: what a power cut must not lose."""


class RebaseRefused(OmniGraphError):
    """Moving a staged change onto another base cannot be proven safe; prepare it again."""


class TableHandle(Protocol):
    """A table opened at one exact version."""

    @property
    def ref(self) -> TableRef:
        """Which table, at which version."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        ...

    @property
    def row_count(self) -> int:
        """Rows that are not deleted."""
        ...

    def fragments(self) -> Sequence[FragmentIdentity]:
        """Its fragments, in scan order."""
        ...

    def scan(self, columns: Sequence[str] | None = None, where: str | None = None) -> pa.Table:
        """Read rows."""
        ...


class Tables(Protocol):
    """All that may be done to tables: create, open by version, stage in the dark."""

    def create(self, location: str, schema: pa.Schema) -> Staged:
        """Make an empty table at a location nobody else uses."""
        ...

    def open(self, ref: TableRef) -> TableHandle:
        """Open a table at an exact version."""
        ...

    def stage_append(self, handle: TableHandle, rows: pa.Table) -> Staged:
        """Add rows."""
        ...

    def stage_fragments(self, handle: TableHandle, fragments: Sequence[str], files: Sequence[str] = ()) -> Staged:
        """Add rows that other processes have uploaded, given the fragments they reported."""
        ...

    def stage_change(
        self, handle: TableHandle, upsert: pa.Table | None = None, delete: Iterable[str] = ()
    ) -> Staged | None:
        """Insert or replace whole rows by `id`, and delete rows by `id`. None if that changes nothing."""
        ...

    def stage_overwrite(self, handle: TableHandle, rows: pa.Table) -> Staged:
        """Replace all rows, and the schema if it differs."""
        ...

    def stage_schema(self, handle: TableHandle, schema: pa.Schema) -> Staged:
        """Add nullable columns or drop columns without rewriting the rest."""
        ...

    def stage_fold(self, handle: TableHandle) -> Staged | None:
        """Fold the tail of small fragments if it has grown past its bound."""
        ...

    def rebase(self, staged: Staged, onto: TableRef) -> Staged:
        """Stage the same change on another base, or refuse."""
        ...

    def files(self, ref: TableRef) -> frozenset[str]:
        """Every file this version needs, below the graph's root. A name ending in '/' stands for a folder."""
        ...


def check_rebase(staged: Staged, onto: Sequence[FragmentIdentity]) -> None:
    """Refuse unless every fragment the change touches is in the new base, with the same data and deletions.

    Lance does not check: re-committing a deletion or a rewrite on a base where those fragments changed brings deleted
    rows back or doubles rows, without an error.
    """
    if staged.kind == "append":
        return
    if staged.kind not in {"change", "fold"}:
        raise RebaseRefused(f"a staged {staged.kind} holds for its own base only")
    present = {(fragment.id, fragment.files, fragment.deletion) for fragment in onto}
    for fragment in staged.touched:
        if (fragment.id, fragment.files, fragment.deletion) not in present:
            raise RebaseRefused(f"fragment {fragment.id} has changed since")


def added_since(staged: Staged, onto: Sequence[FragmentIdentity]) -> list[FragmentIdentity]:
    """Fragments of the new base that may hold keys the change believed to be free."""
    return [fragment for fragment in onto if not staged.base_files.issuperset(fragment.files)]
