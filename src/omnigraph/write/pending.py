"""What a mutation has changed in one table so far. Later statements see it; the graph does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.schema import table_key, table_schema
from omnigraph.write.compute import pc
from omnigraph.write.delta import NO_IDS, RowMode, TableDelta, among, column, distinct, joined
from omnigraph.write.places import Places

if TYPE_CHECKING:
    from omnigraph.schema import EdgeType, NodeType

WORD = "statement"


@dataclass
class Pending:
    """The rows a mutation has written to a table, newest last, and the ids it has removed."""

    table: NodeType | EdgeType
    rows: pa.Table = field(init=False)
    statements: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False)
    """The statement that wrote each row."""
    removed: pa.StringArray = field(default_factory=lambda: NO_IDS)
    all_fresh: bool = True
    bad_cells: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Cells that were reported already: ids by property."""

    def __post_init__(self) -> None:
        self.rows = table_schema(self.table).empty_table()
        self.statements = np.empty(0, np.int64)

    @property
    def key(self) -> str:
        """The table, as `node:Person`."""
        return table_key(self.table)

    @property
    def written(self) -> pa.StringArray:
        """Ids of the rows."""
        return column(self.rows, "id")

    @property
    def hidden(self) -> pa.StringArray:
        """Ids whose stored rows no longer count."""
        return joined([self.written, self.removed])

    def write(self, rows: pa.Table, statement: int, *, fresh: bool) -> None:
        """Add rows; of rows with the same id the last one stays."""
        if self.rows.num_rows:
            keep = pc.invert(among(self.written, column(rows, "id")))
            self.rows = self.rows.filter(keep)
            self.statements = self.statements[np.asarray(keep)]
        self.rows = pa.concat_tables([self.rows, rows]) if self.rows.num_rows else rows
        self.statements = np.append(self.statements, np.full(rows.num_rows, statement, np.int64))
        self.all_fresh = self.all_fresh and fresh

    def remove(self, ids: pa.Array) -> None:
        """Take ids away."""
        self.removed = distinct(joined([self.removed, ids]))

    def delta(self) -> TableDelta:
        """All of it as data."""
        mode = RowMode.FRESH if self.all_fresh else RowMode.UPSERT
        return TableDelta(self.table, self.rows, mode, self.removed, Places({0: WORD}, self.statements))

    def known_bad(self) -> dict[str, set[int]]:
        """The cells that were reported already: rows by property."""
        rows = {entity_id: row for row, entity_id in enumerate(self.written.to_pylist())} if self.bad_cells else {}
        return {name: {rows[one] for one in ids if one in rows} for name, ids in self.bad_cells.items()}
