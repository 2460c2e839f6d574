"""What a staged change is, and when it may be moved onto another base. Plain data; no Lance here."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

from omnigraph.model.errors import OmniGraphError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from omnigraph.storage.addresses import Addresses
    from omnigraph.storage.blobs import BlobInfo
    from omnigraph.storage.differing import RowPart
    from omnigraph.storage.remember import ColumnId
    from omnigraph.storage.tiers import Fold

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
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

    def column_id(self, name: str) -> ColumnId:
        """What makes this column this column, whatever it is called."""
        ...

    def unindexed_rows(self, column: str) -> int:
        """How many rows have to be read to find those with a value, because no index of such values covers them."""
        ...

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> pa.Table:
        """Read the rows at these positions of the scan order."""
        ...

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        fragments: Sequence[FragmentIdentity] | None = None,
    ) -> pa.Table:
        """Read rows, of all fragments or of some."""
        ...

    def batches(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        fragments: Sequence[FragmentIdentity] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read rows a batch at a time: memory stays bounded."""
        ...


class Tables(Protocol):
    """All that may be done to tables: create, open by version, stage in the dark."""

    def create(self, location: str, schema: pa.Schema) -> Staged:
        """Make an empty table at a location nobody else uses."""
        ...

    def open(self, ref: TableRef) -> TableHandle:
        """Open a table at an exact version."""
        ...

    def find(self, handle: TableHandle, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows whose `column` has one of these values, in scan order; null is no value."""
        ...

    def blob_info(self, handle: TableHandle, id: str, column: str) -> BlobInfo:  # noqa: A002 - the column's name
        """Size or address of a blob, or that there is none; its bytes are not read."""
        ...

    def read_blob(
        self,
        handle: TableHandle,
        id: str,  # noqa: A002 - the column's name
        column: str,
        offset: int = 0,
        length: int | None = None,
    ) -> bytes:
        """A part of a blob that the graph holds; only that part is read."""
        ...

    def read_rows(
        self,
        handle: TableHandle,
        columns: Sequence[str],
        fragments: Sequence[int] | None = None,
        where: str | None = None,
    ) -> Iterator[pa.Table]:
        """Rows with their addresses, of some fragments if these are named; sizes stand in place of blobs."""
        ...

    def read_blobs(self, handle: TableHandle, column: str, addresses: Sequence[int]) -> list[bytes]:
        """The bytes of blobs that are there, by the addresses of their rows."""
        ...

    def differing(self, old: TableHandle, new: TableHandle) -> tuple[RowPart, RowPart]:
        """The rows of either version that the other need not have just so: all others are the same in both."""
        ...

    def whole(self, handle: TableHandle) -> RowPart:
        """All rows."""
        ...

    def scan_part(self, handle: TableHandle, part: RowPart, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read some rows a batch at a time, each with its address."""
        ...

    def take_rows(self, handle: TableHandle, addresses: Addresses, columns: Sequence[str]) -> pa.Table:
        """The rows at these addresses, in their order, each with its address."""
        ...

    def stage_append(self, handle: TableHandle, rows: pa.Table) -> Staged:
        """Add rows."""
        ...

    def stage_uploaded(self, handle: TableHandle, fragments: Sequence[str], how: Uploaded) -> Staged:
        """Add, upsert or put in place of all others the rows that other processes have uploaded."""
        ...

    def stage_change(
        self, handle: TableHandle, upsert: pa.Table | None = None, delete: Iterable[str] = ()
    ) -> Staged | None:
        """Insert or replace whole rows by `id`, and delete rows by `id`. None if that changes nothing."""
        ...

    def stage_overwrite(self, handle: TableHandle, rows: pa.Table | pa.RecordBatchReader) -> Staged:
        """Replace all rows, and the schema if it differs."""
        ...

    def stage_schema(
        self,
        handle: TableHandle,
        target: pa.Schema,
        *,
        renames: Mapping[str, str] = NO_RENAMES,
        fills: Mapping[str, pa.Scalar] = NO_FILLS,
    ) -> Staged:
        """Give a table another schema: add, drop, rename, widen, require. Only new values are written."""
        ...

    def stage_rewrite(self, staged: Staged) -> Staged:
        """Write all rows of a staged version into new files, so that nothing of its base is needed any more."""
        ...

    def stage_fold(self, handle: TableHandle) -> Staged | None:
        """Fold the tail of small fragments if it has grown past its bound."""
        ...

    def stage_compaction(self, handle: TableHandle) -> Staged | None:
        """Write small fragments, and those that lost many rows, as few large ones."""
        ...

    def compaction(self, handle: TableHandle) -> Sequence[Fold]:
        """Which fragments are worth to be written as one. Each fold may be written anywhere."""
        ...

    def write_fold(self, handle: TableHandle, fold: Fold) -> list[str]:
        """Write the rows of a fold as a fragment that belongs to no version yet."""
        ...

    def stage_folds(self, handle: TableHandle, chosen: Sequence[Fold], written: Sequence[str]) -> Staged:
        """One version for all folds, given the fragments that were written for them."""
        ...

    def write_segment(self, handle: TableHandle, build: IndexBuild) -> bytes:
        """Write an index segment that belongs to no version yet."""
        ...

    def stage_segments(self, handle: TableHandle, builds: Sequence[IndexBuild], written: Sequence[bytes]) -> Staged:
        """Add index segments that were written, and leave out those they replace."""
        ...

    def indexes(self, handle: TableHandle) -> tuple[IndexSegment, ...]:
        """The index segments of a version."""
        ...

    def text_rows(self, handle: TableHandle, column: str, words: str, *, every: bool) -> Numbers | None:
        """Rows in scan order whose text has these words, by an index; None if that cannot tell."""
        ...

    def stage_indexes(self, handle: TableHandle, builds: Sequence[IndexBuild]) -> Staged:
        """Add index segments, and leave out those they replace."""
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
