"""The embedded engine: one DuckDB in memory per process, one cursor per thread."""

from __future__ import annotations

import os
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from omnigraph.execute.apart import interruptibly
from omnigraph.execute.watch import NEVER, Watch
from omnigraph.model.errors import BadRequest, OmniGraphError, ResourceLimit

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "python_enable_replacements": "false",  # a name in SQL is never a variable of ours
}

_INTERNAL = re.compile(r" when casting from source column \w+")  # our own names say nothing to a user

_lock = threading.Lock()
_local = threading.local()
_root: tuple[int, DuckDBPyConnection] | None = None


def cursor() -> DuckDBPyConnection:
    """Give this thread's cursor. A forked child starts its own engine: DuckDB's threads do not survive a fork."""
    found: tuple[int, DuckDBPyConnection] | None = getattr(_local, "cursor", None)
    if found is None or found[0] != os.getpid():
        found = os.getpid(), _connection().cursor()
        found[1].execute("SET TimeZone = 'UTC'")
        _local.cursor = found
    return found[1]


def _connection() -> DuckDBPyConnection:
    global _root
    with _lock:
        if _root is None or _root[0] != os.getpid():
            import duckdb

            _root = os.getpid(), duckdb.connect(":memory:", config=_CONFIG)
        return _root[1]


def run(statement: str, values: Mapping[str, object], tables: Mapping[str, pa.Table], watch: Watch = NEVER) -> pa.Table:
    """Run one statement over Arrow tables, in the order of their rows.

    The statement must not have a WHERE of its own: DuckDB would push it into Arrow, which refuses many types.
    """
    running: list[DuckDBPyConnection] = []

    def result() -> pa.Table:
        at = cursor()
        running.append(at)
        with watch.over(at):
            for name, table in tables.items():
                at.register(name, table)
            try:
                return at.sql(statement, params=dict(values) or None).to_arrow_table()
            finally:
                for name in tables:
                    at.unregister(name)

    def interrupt() -> None:
        for at in running:
            at.interrupt()

    with duckdb_errors(watch):
        return interruptibly(result, interrupt)


class EvaluationFailed(BadRequest):
    """A value of the query cannot be computed: an integer overflows, or a value does not fit its type."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the query cannot be evaluated: {reason}", reason=reason)


@contextmanager
def duckdb_errors(watch: Watch = NEVER) -> Generator[None]:
    """Turn DuckDB's exceptions into ours. Wrong values are the caller's; anything else is a defect of ours."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        watch.check()
        raise
    except (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException) as error:
        raise EvaluationFailed(_gist(error)) from error
    except duckdb.OutOfMemoryException as error:
        raise _OutOfMemory(_gist(error)) from error
    except duckdb.Error as error:
        raise OmniGraphError(f"the engine refused a plan of ours: {_gist(error)}") from error


class _OutOfMemory(ResourceLimit):
    """The engine's memory did not suffice."""

    def __init__(self, reason: str) -> None:
        OmniGraphError.__init__(self, f"the query needs more memory than there is: {reason}", reason=reason)


def _gist(error: Any) -> str:
    first = _INTERNAL.sub("", str(error).strip().split("\n", 1)[0])
    _, _, rest = first.partition(" Error: ")
    return (rest or first)[:300]
