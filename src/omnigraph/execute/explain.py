"""How a query runs, for people: its steps with the rows expected, and after a profile with what really happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.execute.compiled import planned
from omnigraph.execute.profile import RESULT, Profile
from omnigraph.execute.query import NO_LIMITS, SnapshotSizes, checked_read, prepare, run_prepared
from omnigraph.execute.watch import Watch
from omnigraph.plan.describe import Line, describe_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnigraph.execute.engines import ReadRequest
    from omnigraph.execute.profile import StepRun
    from omnigraph.execute.query import Limits, QueryText, Target
    from omnigraph.execute.result import Result
    from omnigraph.manifest import Repository

_HEADS = ("step", "expected", "rows", "ms", "requests")


@dataclass(frozen=True)
class ExplainedStep:
    """A step, how deep it stands in blocks, and what it did if it was run."""

    text: str
    depth: int
    estimate: float | None
    run: StepRun | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON."""
        document: dict[str, Any] = {"step": self.text, "depth": self.depth}
        if self.estimate is not None:
            document["estimated_rows"] = round(self.estimate)
        if self.run is not None:
            milliseconds = round(self.run.seconds * 1000, 3)
            document |= {"rows": self.run.rows, "milliseconds": milliseconds, "requests": self.run.requests}
        return document


@dataclass(frozen=True)
class Explanation:
    """The plan of a query; after a profile with figures and the result."""

    query_name: str
    graph_commit_id: str
    steps: tuple[ExplainedStep, ...]
    result: Result | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON."""
        steps = [step.to_json() for step in self.steps]
        return {"query_name": self.query_name, "graph_commit_id": self.graph_commit_id, "steps": steps}

    def __str__(self) -> str:
        """A line for each step."""
        heads = _HEADS if self.result is not None else _HEADS[:2]
        table = [heads, *(self._cells(step)[: len(heads)] for step in self.steps)]
        widths = [max(len(row[n]) for row in table) for n in range(len(heads))]
        return "\n".join(self._line(row, widths) for row in table)

    __repr__ = __str__

    def _cells(self, step: ExplainedStep) -> tuple[str, ...]:
        expected = "" if step.estimate is None else f"{step.estimate:,.0f}"
        name = "  " * step.depth + step.text
        if step.run is None:
            return name, expected, "", "", ""
        return name, expected, f"{step.run.rows:,}", f"{step.run.seconds * 1000:.1f}", f"{step.run.requests:,}"

    def _line(self, row: tuple[str, ...], widths: list[int]) -> str:
        first, *rest = (
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join((first, *rest)).rstrip()


def explain(repository: Repository, text: QueryText, target: Target) -> Explanation:
    """Plan a query and do not run it."""
    snapshot, read = checked_read(repository, text, target)
    catalog = repository.catalogs.get(snapshot.schema_hash).catalog
    plan = planned(read, catalog, SnapshotSizes(snapshot))
    steps = (ExplainedStep(line.text, line.depth, line.estimate) for line in describe_plan(plan))
    return Explanation(read.name, snapshot.commit_id, tuple(steps))


def profile(
    repository: Repository, text: QueryText, params: object, target: Target, limits: Limits = NO_LIMITS
) -> Explanation:
    """Run a query and say what each step did."""
    measured = Profile()
    request = prepare(repository, text, params, target, Watch(limits.timeout_s), limits.rows_max, measured)
    result = run_prepared(request, target)
    return Explanation(result.query_name, result.graph_commit_id, tuple(_measured(request, measured)), result)


def _measured(request: ReadRequest, measured: Profile) -> Iterator[ExplainedStep]:
    for line in describe_plan(request.plan):
        yield ExplainedStep(line.text, line.depth, line.estimate, measured.run(_key(line)))


def _key(line: Line) -> object:
    return RESULT if line.step is None else line.step
