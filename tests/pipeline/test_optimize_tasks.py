"""`optimize` in tasks does what it does in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import omnigraph as og

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

SCHEMA = """
node Note { name: String @key  text: String @index  n: I32 @index }
edge Next: Note -> Note
"""


def test_tables_are_compacted_and_indexed(spark: SparkSession, tmp_path: Path) -> None:
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA)
    for start in range(0, 30, 10):
        rows = [{"name": f"n{n}", "text": f"word{n} common", "n": n} for n in range(start, start + 10)]
        graph.load([*({"type": "Note", "data": row} for row in rows), {"edge": "Next", "from": "n0", "to": "n1"}])
    commit, before = graph.snapshot().commit_id, graph.snapshot().table("node:Note").scan()
    done = {table.key: table for table in graph.optimize(spark=spark)}
    assert done["node:Note"].is_committed
    assert graph.snapshot().commit_id == commit
    assert graph.snapshot().table("node:Note").scan().sort_by("id").equals(before.sort_by("id"))
    states = {(status.table, status.column): status.state for status in graph.indexes.status()}
    assert {state for (table, _), state in states.items() if table == "node:Note"} == {"ready"}
    assert not any(table.is_committed for table in graph.optimize(spark=spark))
