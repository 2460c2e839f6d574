"""A snapshot: one immutable state, and its tables opened at exactly the versions it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from omnigraph.manifest.state import State
    from omnigraph.storage.interface import Numbers, TableHandle, Tables


class Snapshot:
    """A branch at one number of its chain."""

    def __init__(self, state: State, tables: Tables) -> None:
        self.state = state
        self._tables = tables

    @property
    def branch(self) -> str:
        """The branch's name."""
        return self.state.branch

    @property
    def manifest_version(self) -> int:
        """The number of the chain."""
        return self.state.number

    @property
    def commit_id(self) -> str:
        """The newest commit it contains."""
        return self.state.head

    @property
    def schema_hash(self) -> str:
        """The schema its tables follow."""
        return self.state.schema_hash

    def table(self, key: str) -> TableHandle:
        """Open a table at its pinned version."""
        return self._tables.open(self.state.table(key).ref)

    def find(self, key: str, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows of a table whose `column` has one of these values, in scan order; null is no value."""
        return self._tables.find(self.table(key), column, values, columns)

    def text_rows(self, key: str, column: str, words: str, *, every: bool) -> Numbers | None:
        """Rows of a table in scan order whose text has these words, by an index; None if that cannot tell."""
        return self._tables.text_rows(self.table(key), column, words, every=every)
