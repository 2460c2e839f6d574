"""The texts of whole tables, cut into words once and kept in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.execute.columns import Fragments, common_start, rows_of
from omnigraph.search.texts import Texts, read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.execute.memory import SnapshotMemory


@dataclass(frozen=True)
class TextColumn:
    """One text column of a table as words, and of which fragments it was read."""

    fragments: Fragments
    texts: Texts

    @property
    def nbytes(self) -> int:
        """Bytes it takes in memory."""
        return self.texts.nbytes


def has_texts(memory: SnapshotMemory, key: str, name: str) -> bool:
    """Whether the texts of a table are in memory already."""
    return memory.has_derived(key, name, "words")


def texts_of(memory: SnapshotMemory, key: str, name: str) -> Texts:
    """The texts of a table in scan order; what a version has in common with an earlier one is not cut again."""

    def build(earlier: Sequence[TextColumn]) -> TextColumn:
        table = memory.table(key)
        fragments = tuple(table.fragments())
        base = max(earlier, key=lambda known: common_start(known.fragments, fragments), default=None)
        count = common_start(base.fragments, fragments) if base is not None else 0
        kept = rows_of(fragments[:count])
        column = memory.columns(key, [name])[name].data.slice(kept)
        before = base.texts if base is not None and count else None
        return TextColumn(fragments, read_texts(column.to_pylist(), before, kept))

    return memory.derived(key, name, "words", build).texts
