"""Running a Spark job: progress while it goes on, cancelled with the caller, its failures as our errors."""

from __future__ import annotations

import base64
import contextlib
import pickle
import re
import threading
from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import OmniGraphError, SparkFailed, Unavailable
from omnigraph.pipeline.session import is_classic

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    Report = Callable[[int, int], None]
    """Called with the tasks that are done, and how many there are; 0 of 0 as long as nobody knows."""

POLL_S = 0.3
CANCEL_S = 30.0
"""How long a cancelled job may take to end."""
_RAISED = re.compile(r"(?:[a-z_][\w.]*\.)?[A-Z]\w*: (.+)")


def run(session: SparkSession, frame: DataFrame, name: str, report: Report | None = None) -> list[Any]:
    """The rows of a small frame. `name` is the job's tag: if the caller is interrupted, the job is cancelled.

    So it is if `report` raises: that is how whoever watches calls a job off. A thread of its own asks Spark: a call
    that is interrupted would leave the caller's own line to Java out of step.
    """
    job = _Job(session, frame, name)
    with _tasks_of(session, name) as tasks:
        job.start()
        try:
            while job.is_alive():
                job.join(POLL_S)
                if report is not None:
                    report(*tasks())
        except BaseException:
            with contextlib.suppress(Exception):
                _cancel(session, name)
            job.join(CANCEL_S)
            raise
    with _spark_errors():
        return job.rows()


def _cancel(session: SparkSession, name: str) -> None:
    """Stop a job and its tasks: a classic session finds it by its group, Spark Connect by its tag."""
    if is_classic(session):
        session.sparkContext.cancelJobGroup(name)
    else:
        session.interruptTag(name)


def each(
    session: SparkSession, count: int, work: Callable[[int], bytes], name: str, report: Report | None = None
) -> list[bytes]:
    """What `work` gives for each number below `count`, in order: a task for each, wherever there is room."""
    if not count:
        return []

    def tasks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                done = answered(lambda number=number: work(number))
                yield pa.record_batch({"number": pa.array([number], pa.int64()), "done": pa.array([done], pa.binary())})

    numbers = session.range(0, count, 1, numPartitions=count)
    rows = run(session, numbers.mapInArrow(tasks, "number bigint, done binary"), name, report)
    return [result_of(bytes(row.done)) for row in sorted(rows, key=lambda row: row.number)]


class _Job(threading.Thread):
    """Collects a frame."""

    def __init__(self, session: SparkSession, frame: DataFrame, name: str) -> None:
        super().__init__(name=f"omnigraph-{name}", daemon=True)
        self._session, self._frame, self._tag = session, frame, name
        self._rows: list[Any] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Ask, under the tag by which the job can be cancelled."""
        try:
            if is_classic(self._session):
                self._session.sparkContext.setJobGroup(self._tag, "omnigraph", interruptOnCancel=True)
            else:
                self._session.addTag(self._tag)
            self._rows = self._frame.collect()
        except BaseException as error:  # noqa: BLE001 - raised where the rows are asked for
            self._error = error

    def rows(self) -> list[Any]:
        """What came back, or what went wrong."""
        if self._error is not None:
            raise self._error
        return self._rows


# -- errors of tasks ---------------------------------------------------------------------------------------


def answered(work: Callable[[], bytes]) -> bytes:
    """The result of a task, or the error that trying again would not mend, to be raised by the driver."""
    try:
        return b"+" + work()
    except Unavailable:
        raise
    except OmniGraphError as error:
        return b"-" + base64.b64encode(pickle.dumps(error))


def result_of(answer: bytes) -> bytes:
    """What a task answered; raises its error."""
    if answer[:1] == b"-":
        raise pickle.loads(base64.b64decode(answer[1:]))  # noqa: S301 - our own task has written it
    return answer[1:]


@contextlib.contextmanager
def _spark_errors() -> Generator[None]:
    """Turn Spark's exceptions into ours."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise SparkFailed(_gist(str(error)) or type(error).__name__) from error


def _gist(text: str) -> str:
    """What a Python worker died of, if it was one: the end of its traceback; else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [found for line in lines if (found := _RAISED.match(line))]
    return (raised[-1].group(1) if raised else lines[0] if lines else "")[:500]


# -- progress ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _tasks_of(session: SparkSession, name: str) -> Generator[Callable[[], tuple[int, int]]]:
    """Tells how many tasks of a job are done, of how many: a classic session is asked, Spark Connect tells."""
    if is_classic(session):
        yield lambda: _asked(session, name)
        return
    remote: Any = session
    newest = [(0, 0)]

    def handler(stages: Any, **_: object) -> None:
        if stages:
            newest[0] = sum(one.num_completed_tasks for one in stages), sum(one.num_tasks for one in stages)

    remote.registerProgressHandler(handler)
    try:
        yield lambda: newest[0]
    finally:
        remote.removeProgressHandler(handler)


def _asked(session: SparkSession, name: str) -> tuple[int, int]:
    done = total = 0
    with contextlib.suppress(Exception):  # a job that ends meanwhile
        tracker: Any = session.sparkContext.statusTracker()
        for job in tracker.getJobIdsForGroup(name):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info is not None else ():
                found = tracker.getStageInfo(stage)
                if found is not None:
                    done, total = done + found.numCompletedTasks, total + found.numTasks
    return done, total
