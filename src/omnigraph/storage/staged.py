"""What a staged change is, and when it may be moved onto another base. Plain data; no Lance here."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from omnigraph.model.errors import OmniGraphError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    Offsets = np.ndarray[tuple[int], np.dtype[np.integer]]

Aspect = Literal["added", "removed", "changed"]
"""What a write can do to a table's content. Folds and index builds do none of these."""

StageKind = Literal["create", "append", "change", "overwrite", "schema", "fold", "index", "adopt"]

IndexForm = Literal["BTREE", "INVERTED", "IVF_FLAT"]

ADDED: frozenset[Aspect] = frozenset({"added"})
REMOVED: frozenset[Aspect] = frozenset({"removed"})
CHANGED: frozenset[Aspect] = frozenset({"changed"})
ALL_ASPECTS: frozenset[Aspect] = frozenset({"added", "removed", "changed"})
NEUTRAL: frozenset[Aspect] = frozenset()
NO_OFFSETS: Mapping[int, Offsets] = MappingProxyType({})
NO_RENAMES: Mapping[str, str] = MappingProxyType({})
NO_FILLS: Mapping[str, pa.Scalar] = MappingProxyType({})


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


@dataclass(frozen=True, slots=True)
class IndexSegment:
    """A part of an index: what it covers of those fragments that the version still has."""

    id: str
    index: str
    column: str
    form: str
    fragments: frozenset[int]


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """A segment to be made over some fragments; without fragments only those it replaces go."""

    column: str
    form: IndexForm
    fragments: tuple[int, ...]
    replaces: tuple[str, ...] = ()
    """Segments, by their ids."""
    rows: int = 0
    """How many rows it will have."""


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
    is_loose: bool = False
    """Rows are uploaded, and no version has them yet: `ref` is the base. Whoever publishes makes one."""


@dataclass(frozen=True)
class Uploaded:
    """What rows that were uploaded do to those that are there."""

    keys: pa.StringArray | None = field(default=None, repr=False)
    """They replace rows that have these ids."""
    replaced: Mapping[int, Offsets] = field(default_factory=lambda: NO_OFFSETS)
    """Or they replace these rows, which somebody has found: offsets by fragment."""
    replaces_all: bool = False
    left_out: Sequence[int] | Offsets = ()
    """Numbers of rows, counted over all fragments in order, that were uploaded and are not wanted."""


class RebaseRefused(OmniGraphError):
    """Moving a staged change onto another base cannot be proven safe; prepare it again."""


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
