"""Running a read on the embedded engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.execute.bindings import ONE_ROW
from omnigraph.execute.choose import with_access
from omnigraph.execute.execution import Execution
from omnigraph.execute.patterns import run_pattern
from omnigraph.execute.profile import RESULT
from omnigraph.execute.project import project

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.execute.access import Access
    from omnigraph.execute.engines import ReadRequest


def run_locally(request: ReadRequest) -> pa.Table:
    """Find the rows of the pattern, and make the result of them."""
    return with_access(request, lambda access: run_with(request, access))


def run_with(request: ReadRequest, access: Access) -> pa.Table:
    """Run a read, reaching rows this way."""
    execution = Execution(request.catalog, request.params, request.now, access, request.watch, request.profile)
    found = run_pattern(execution, request.plan.pattern, ONE_ROW)
    with request.profile.measured(RESULT) as run:
        table = project(execution, request.plan.read, found, request.rows_max)
        run.rows += table.num_rows
    request.watch.check()
    return table
