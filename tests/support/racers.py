"""Processes that wait together and write to one graph at the same moment."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import omnigraph as og
from tests.support.forks import forking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from omnigraph.manifest import Published, PublishPlan

TIMEOUT_S = 300
LEAD_S = 0.02
"""Time for the word to reach everybody before the start."""


@dataclass(frozen=True)
class Act:
    """A call of a graph's method, as data: `load`, `branches.merge`."""

    verb: str
    args: tuple[Any, ...]
    how: dict[str, Any] = field(default_factory=dict)
    looks: bool = True
    """Whether the process looks at the graph before the start; otherwise it goes by what it knew."""
    late_s: float = 0.0
    """How long it holds back after the start."""


def mutation(body: str, **how: Any) -> Act:
    return Act("mutate", (f"query q() {{ {body} }}",), how)


def loading(*records: dict[str, Any], **how: Any) -> Act:
    return Act("load", (list(records),), how)


@dataclass(frozen=True)
class Told:
    """What a process was told."""

    commit: str | None
    error: Exception | None
    seconds: float
    lost: int
    """Races lost on the way, those after which the write was prepared again among them."""

    @property
    def won(self) -> bool:
        return self.error is None


class Racers:
    """Started once and used by many tests, because their imports take longer than their races."""

    def __init__(self) -> None:
        self._context = forking()
        self._known: list[tuple[Any, Connection]] = []

    def race(self, uri: object, *acts: Act, options: dict[str, str] | None = None) -> list[Told]:
        """Let as many processes as there are acts do one each, at the same moment."""
        lines = self._lines(len(acts))
        for line, act in zip(lines, acts, strict=True):
            line.send((str(uri), options, act))
        for line in lines:
            assert _hear(line) == "ready"
        start_s = time.monotonic() + LEAD_S
        for line in lines:
            line.send(start_s)
        return [_hear(line) for line in lines]

    def close(self) -> None:
        for process, line in self._known:
            line.close()
            process.kill()
            process.join()

    def _lines(self, count: int) -> Sequence[Connection]:
        while len(self._known) < count:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self._known.append((process, ours))
        return [line for _, line in self._known[:count]]


def _hear(line: Connection) -> Any:
    assert line.poll(TIMEOUT_S), "a racer did not answer"
    return line.recv()


def _serve(line: Connection) -> None:
    for name in ("write.load", "write.mutate", "history.merge"):  # a first call waits for these, and would come late
        importlib.import_module(f"omnigraph.{name}")
    graphs: dict[str, og.Graph] = {}
    while True:
        try:
            uri, options, act = line.recv()
        except EOFError:
            return
        if uri not in graphs:
            graphs = {uri: og.open(uri, storage_options=options)}
        if act.looks:
            graphs[uri].snapshot()
        line.send("ready")
        _wait_until(line.recv() + act.late_s)
        line.send(_do(graphs[uri], act))


def _wait_until(start_s: float) -> None:
    while time.monotonic() < start_s:
        time.sleep(0.0005)


def _do(graph: og.Graph, act: Act) -> Told:
    lost = _count_losses(graph)
    commit, error = None, None
    started_s = time.perf_counter()
    try:
        done = attrgetter(act.verb)(graph)(*act.args, **act.how)
        commit = done.commit.id if done.commit is not None else None
    except Exception as problem:
        error = problem
    return Told(commit, error, time.perf_counter() - started_s, sum(lost))


def _count_losses(graph: og.Graph) -> list[int]:
    """A list that fills with the races lost: in one publish, or with the publish as a whole."""
    lost: list[int] = []
    publish = type(graph.repository).publish

    def counted(plan: PublishPlan) -> Published:
        lost.append(1)
        published = publish(graph.repository, plan)
        lost[-1] = published.losses
        return published

    graph.repository.publish = counted  # pyright: ignore[reportAttributeAccessIssue]
    return lost
