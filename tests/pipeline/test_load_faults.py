"""Tasks that fail, workers that are killed, drivers that die: the rows are there once, or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import omnigraph as og
from omnigraph.manifest import Retention, collect
from omnigraph.pipeline import load as loading
from omnigraph.pipeline import tasks
from tests.pipeline.conftest import expected
from tests.pipeline.inputs import SCHEMA, as_lines
from tests.support.social import contents, orphans

pytestmark = pytest.mark.usefixtures("small_splits")


def attempts(folder: str, index: int) -> int:
    """Which attempt at a split this is, told by files that attempts leave."""
    number = 0
    while True:
        try:
            os.close(os.open(f"{folder}/{index}-{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            number += 1
        else:
            return number


def fails_twice(folder: str, how: str) -> Any:
    """`run_split`, with every first and second attempt failing after its files were written."""
    real = tasks.run_split

    def run_split(plan: Any, index: int) -> Any:
        report = real(plan, index)
        if attempts(folder, index) < 2:
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError("the disk is on fire")
        return report

    return run_split


@pytest.mark.parametrize("how", ["fail", "kill"])
def test_what_fails_twice_counts_once(tmp_path, spark, data, monkeypatch, how):
    marks = tmp_path / "marks"
    marks.mkdir()
    graph = og.init(tmp_path / "g", SCHEMA)
    monkeypatch.setattr(loading, "run_split", fails_twice(str(marks), how))
    graph.load(data, mode="append", engine="spark", spark=spark)
    assert contents(graph) == expected(tmp_path, data)
    before = contents(graph)
    taken = collect(graph.repository, Retention(keep=1, grace_s=0.0), dry_run=False)
    assert any("/data/" in name for name in taken.files)  # what the failed attempts wrote
    assert contents(og.open(graph.uri)) == before


def test_what_always_fails_leaves_the_graph_as_it_was(tmp_path, spark, data, monkeypatch):
    graph = og.init(tmp_path / "g", SCHEMA)
    before = contents(graph), len(graph.commits.list())

    def always(plan: Any, index: int) -> Any:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(loading, "run_split", always)
    with pytest.raises(og.OmniGraphError, match=r"Spark could not finish the job, nothing was written: .*on fire"):
        graph.load(data, mode="append", engine="spark", spark=spark)
    assert (contents(graph), len(graph.commits.list())) == before
    store = graph.repository.parts.store
    assert not [*store.list("__staging"), *store.list("__intents")]


def test_an_error_that_trying_again_does_not_mend_is_the_callers(tmp_path, spark):
    graph = og.init(tmp_path / "g", SCHEMA)
    torn = tmp_path / "data.jsonl.gz"
    torn.write_bytes(b"\x1f\x8b\x08 this is no gzip")
    with pytest.raises(og.OmniGraphError, match=r"data\.jsonl\.gz is damaged") as wrong:
        graph.load(torn, engine="spark", spark=spark)
    assert wrong.value.code == "bad_request"


def test_two_attempts_at_once_count_once(tmp_path, spark, data):
    """Speculation: both attempts write; Spark takes one report, and only what it names is in the graph."""
    graph = og.init(tmp_path / "g", SCHEMA)
    real = tasks.run_split

    def twice(plan: Any, index: int) -> Any:
        real(plan, index)
        return real(plan, index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "run_split", twice)
        graph.load(data, mode="append", engine="spark", spark=spark)
    assert contents(graph) == expected(tmp_path, data)


def test_an_interrupt_cancels_the_job_and_leaves_nothing(tmp_path, spark, data, monkeypatch):
    graph = og.init(tmp_path / "g", SCHEMA)
    before = contents(graph), len(graph.commits.list())

    def never_done(plan: Any, index: int) -> Any:
        time.sleep(300)

    def press(stage: str, done: int, total: int | None) -> None:
        if not pressed:
            pressed.append(stage)
            os.kill(os.getpid(), signal.SIGINT)

    pressed: list[str] = []
    monkeypatch.setattr(loading, "run_split", never_done)
    with pytest.raises(KeyboardInterrupt):
        graph.load(data, mode="append", engine="spark", spark=spark, progress=press)
    assert pressed == ["loading"]
    assert (contents(graph), len(graph.commits.list())) == before
    store = graph.repository.parts.store
    assert not [*store.list("__staging"), *store.list("__intents")]
    assert spark.range(10).count() == 10


def killed(graph: og.Graph, data: Path, point: str) -> str:
    """A load whose driver dies; gives its id."""
    program = [sys.executable, "-m", "tests.pipeline.victim", graph.uri, str(data), point]
    done = subprocess.run(program, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 9, done.stderr
    (name,) = [info.path.rpartition("/")[2] for info in graph.repository.parts.store.list("__intents")]
    return name


def test_a_load_whose_driver_died_is_published_once_or_dropped(tmp_path, data):
    graph = og.init(tmp_path / "g", SCHEMA)
    empty = contents(graph)
    first = killed(graph, data, "staged")
    assert contents(graph) == empty
    collect(graph.repository, Retention(keep=1, grace_s=0.0), dry_run=False)  # it honours the intent
    with pytest.raises(og.OmniGraphError, match=f"there is no staged load 'x'; staged loads: {first}"):
        graph.resume_load("x")
    done = graph.resume_load(first)
    assert done is not None
    assert done.commit is not None
    assert done.commit.id == first
    assert contents(graph) == expected(tmp_path, data)
    with pytest.raises(og.OmniGraphError, match="there is no staged load"):
        graph.resume_load(first)

    other = og.init(tmp_path / "other", SCHEMA)
    second = killed(other, data, "published")
    before = contents(other), len(other.commits.list())
    again = og.open(other.uri).resume_load(second)
    assert again is not None
    assert again.commit is not None
    assert again.commit.id == second
    assert (contents(other), len(other.commits.list())) == before
    assert not orphans(other)


def test_a_staged_load_is_dropped(tmp_path, data):
    graph = og.init(tmp_path / "g", SCHEMA)
    staged = killed(graph, data, "staged")
    assert graph.resume_load(staged, drop=True) is None
    store = graph.repository.parts.store
    assert not [*store.list("__staging"), *store.list("__intents")]
    collect(graph.repository, Retention(keep=1, grace_s=0.0), dry_run=False)
    assert not [info.path for info in store.list("nodes") if "/data/" in info.path]


def test_another_writer_meanwhile(tmp_path, spark, data, monkeypatch):
    """Somebody commits while tasks run: what was staged is checked again against the graph as it is then."""
    graph = og.init(tmp_path / "g", SCHEMA)
    real = loading.publish_staged

    def later(*asked: Any) -> Any:
        og.open(graph.uri).load([{"type": "Person", "data": {"name": "p1", "age": 5}}], mode="append")
        return real(*asked)

    monkeypatch.setattr(loading, "publish_staged", later)
    with pytest.raises(og.OmniGraphError, match="'p1' exists already"):
        graph.load(data, mode="append", engine="spark", spark=spark)
    monkeypatch.setattr(loading, "publish_staged", real)
    graph.load(data, mode="merge", engine="spark", spark=spark)
    assert contents(graph) == expected(tmp_path, data)


def test_merging_a_few_rows_writes_little(tmp_path, spark):
    few = tmp_path / "few.jsonl"
    rows = spark.range(0, 300_000, 1, 2).selectExpr("concat('p', id) AS name", "cast(id % 90 AS int) AS age")
    graph = og.init(tmp_path / "g", SCHEMA)
    graph.load(rows, type="Person", mode="append")
    few.write_bytes(as_lines([{"type": "Person", "data": {"name": f"p{n * 7}", "age": 99}} for n in range(10)]))
    store = graph.repository.parts.store
    table = graph.snapshot().table("node:Person").ref.location
    before = {info.path for info in store.list(table)}
    graph.load(few, mode="merge", engine="spark", spark=spark)
    written = sum(info.size for info in store.list(table) if info.path not in before)
    assert written < 40_000
    assert graph.snapshot().table("node:Person").row_count == 300_000


def test_what_was_merged_is_found_by_an_index(tmp_path, spark):
    """Lance must not take rows that came with an upsert for rows its index knows."""
    schema = "node Note { slug: String @key  text: String @index }"
    graph = og.init(tmp_path / "g", schema)
    graph.load([{"type": "Note", "data": {"slug": f"n{n}", "text": f"old words {n}"}} for n in range(300)])
    graph.optimize()
    more = tmp_path / "more.jsonl"
    more.write_bytes(as_lines([{"type": "Note", "data": {"slug": f"n{n}", "text": "fresh"}} for n in range(290, 310)]))
    graph.load(more, mode="merge", engine="spark", spark=spark)
    query = 'query fresh() { match { $n: Note  search($n.text, "fresh") } return { $n.slug as slug } }'
    assert sorted(row["slug"] for row in graph.query(query)) == [f"n{n}" for n in range(290, 310)]
