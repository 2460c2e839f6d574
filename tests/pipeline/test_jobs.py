"""Jobs of Spark: whoever watches one can call it off, and then nothing of it goes on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import omnigraph as og
from omnigraph.graph import spark as choice
from omnigraph.model.errors import BadRequest, Cancelled
from omnigraph.pipeline import load as loading
from omnigraph.pipeline.jobs import each, run
from omnigraph.server.jobs import Job, Jobs
from tests.pipeline.inputs import SCHEMA, as_lines, clean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE_S = 120


def until(is_so: Any) -> None:
    """Wait for what happens in other processes."""
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process is there and alive; one that is over may wait for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def busy(folder: str) -> Any:
    """A task that never ends, and says which process it is in."""

    def work(*_: object) -> bytes:
        os.close(os.open(f"{folder}/{os.getpid()}", os.O_CREAT | os.O_WRONLY))
        while True:
            time.sleep(0.05)

    return work


def workers(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir()]


def test_each_number_has_its_answer(spark: SparkSession) -> None:
    seen: list[tuple[int, int]] = []
    found = each(spark, 5, lambda number: str(number).encode(), "numbers", lambda done, of: seen.append((done, of)))
    assert found == [b"0", b"1", b"2", b"3", b"4"]
    assert seen
    assert each(spark, 0, lambda _: b"", "none") == []

    def refuse(number: int) -> bytes:
        raise BadRequest(f"not {number}")

    with pytest.raises(BadRequest, match="not 0"):
        each(spark, 1, refuse, "refused")


def test_who_watches_can_call_a_job_off(spark: SparkSession, tmp_path: Path) -> None:
    def report(done: int, total: int) -> None:
        if workers(tmp_path):
            raise Cancelled

    with pytest.raises(Cancelled):
        each(spark, 1, busy(str(tmp_path)), "called-off", report)
    (pid,) = workers(tmp_path)
    until(lambda: not is_running(pid))
    assert len(run(spark, spark.range(3), "after")) == 3


def test_a_job_of_a_server_that_is_called_off_frees_its_workers(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = og.init(tmp_path / "g", SCHEMA)
    commits = len(graph.commits.list())
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setattr(choice, "LOCAL_BYTES_MAX", 1)
    monkeypatch.setattr(loading, "run_split", busy(str(marks)))
    jobs, job = Jobs(), Job("job", "g", None, 0)
    try:
        records = jobs.new_file(job.id)
        records.write_bytes(as_lines(clean(20)))
        jobs.start(job, graph, records, mode="append")
        until(lambda: workers(marks) and job.progress is not None)
        assert job.status == "running"
        job.called_off.set()
        until(lambda: job.is_over)
        until(lambda: not any(map(is_running, workers(marks))))
    finally:
        jobs.close()
    assert job.status == "cancelled"
    assert len(graph.commits.list()) == commits
    store = graph.repository.parts.store
    assert not [*store.list("__staging"), *store.list("__intents")]
