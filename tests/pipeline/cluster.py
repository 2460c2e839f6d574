"""A load on executors of their own: `python -m tests.pipeline.cluster FOLDER`.

The executor that has just done a split is killed before it can say so.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyspark

import omnigraph as og
from omnigraph.pipeline import load as loading
from omnigraph.pipeline import splits, tasks
from omnigraph.pipeline.config import SparkConfig
from omnigraph.pipeline.session import spark_session
from tests.pipeline.inputs import SCHEMA
from tests.support.spark import spark_conf

WAIT_S = 60.0


def parent(pid: int) -> int:
    """The process that has started a process."""
    return int(subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=True).stdout)


def main(folder: Path) -> None:
    """Load, while an executor dies; print how often each split was done."""
    splits.SPLIT_BYTES_MIN = 30_000
    marks = folder / "marks"
    marks.mkdir()
    conf = spark_conf() | {"spark.executor.memory": "512m"}
    session = spark_session(config=SparkConfig("local-cluster[2,1,512]", conf=conf))
    assert session.range(10).count() == 10
    real = tasks.run_split

    def watched(plan: Any, index: int) -> Any:
        report = real(plan, index)
        mark = marks / f"{index}-{time.time_ns()}"
        mark.with_suffix(".new").write_text(str(os.getppid()))
        mark.with_suffix(".new").rename(mark)
        if index == 0 and len([*marks.glob("0-*")]) == 1:
            time.sleep(WAIT_S)  # this is where it ends
        return report

    def kill() -> None:
        until = time.monotonic() + WAIT_S
        while not (done := [*marks.glob("0-*[0-9]")]) and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(parent(int(done[0].read_text())), signal.SIGKILL)

    loading.run_split = watched
    killer = threading.Thread(target=kill)
    killer.start()
    graph = og.init(folder / "g", SCHEMA)
    graph.load(folder / "data.jsonl", mode="append", engine="spark", spark=session)
    killer.join()
    print(sorted(int(mark.name.partition("-")[0]) for mark in marks.iterdir()))
    work = Path(pyspark.__file__).with_name("work") / session.sparkContext.applicationId
    session.stop()
    shutil.rmtree(work, ignore_errors=True)  # what the executors said


if __name__ == "__main__":
    main(Path(sys.argv[1]))
