"""Access to tables in memory, for what only reads rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
import pyarrow as pa

from omnigraph.execute.bindings import Bindings, Entities
from omnigraph.execute.execution import Execution
from omnigraph.execute.watch import NEVER
from omnigraph.schema import compile_schema


class MemoryAccess:
    """Rows of tables by their position."""

    def __init__(self, tables: dict[str, pa.Table]) -> None:
        self.tables = tables

    def count(self, key: str) -> int:
        return self.tables[key].num_rows

    def scan(self, key: str, condition: object) -> Any:
        assert condition is None
        return np.arange(self.count(key))

    def gather(self, key: str, names: list[str], ordinals: Any) -> pa.Table:
        return self.tables[key].select(names).take(pa.array(ordinals, mask=ordinals < 0))


def execution(schema: str, tables: dict[str, pa.Table], params: dict[str, Any] | None = None, **how: Any) -> Execution:
    """An execution over tables in memory."""
    now = datetime(2024, 5, 1, tzinfo=UTC)
    access = cast("Any", MemoryAccess(tables))
    return Execution(compile_schema(schema), params or {}, now, access, NEVER, **how)


def all_rows(running: Execution, variable: str, key: str) -> Bindings:
    """Every row of a table."""
    count = running.access.count(key)
    return Bindings(count, {variable: Entities((key,), np.arange(count))})


__all__ = ["MemoryAccess", "all_rows", "execution"]
