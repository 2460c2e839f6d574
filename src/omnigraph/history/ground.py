"""What a merge is validated against: our side, in the shape the outcome's schema gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from omnigraph.manifest import WriteTxn
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import Aspect


class MergeGround:
    """The tables of a write as it has staged them so far. Its read set speaks of the tables it began with."""

    def __init__(self, txn: WriteTxn, tables: Tables, base_keys: dict[str, str]) -> None:
        self._txn = txn
        self._tables = tables
        self._base_keys = base_keys
        """What tables were called before, by what they are called now."""

    @property
    def snapshot(self) -> MergeGround:
        """The tables without the delta."""
        return self

    def table(self, key: str) -> TableHandle:
        """Open a table."""
        return self._txn.table(key)

    def find(self, key: str, column: str, values: pa.Array, columns: Sequence[str]) -> pa.Table:
        """The rows whose `column` has one of these values."""
        return self._tables.find(self._txn.table(key), column, values, columns)

    def depends_on(self, key: str, *aspects: Aspect) -> None:
        """A table that this write makes cannot be changed by others before it is there."""
        before = self._base_keys.get(key)
        if before is not None:
            self._txn.depends_on(before, *aspects)
