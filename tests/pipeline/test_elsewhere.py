"""The same pipeline where it will be used: objects in a store, files of a web server, a session of Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import omnigraph as og
from omnigraph.manifest import Retention, collect
from tests.pipeline.conftest import PEOPLE, expected
from tests.pipeline.inputs import SCHEMA
from tests.support.social import contents, orphans

pytestmark = pytest.mark.usefixtures("small_splits")


@pytest.mark.s3
def test_in_an_object_store(tmp_path, spark, data, seaweed, monkeypatch):
    import obstore
    from obstore.store import S3Store

    from omnigraph.storage.address import parse_address

    for name, value in seaweed.env.items():
        monkeypatch.setenv(name, value)
    bucket = seaweed.bucket()
    graph = og.init(f"s3://{bucket}/graph", SCHEMA)
    graph.load(data, mode="append", engine="spark", spark=spark)
    assert contents(graph) == expected(tmp_path, data)
    options = dict(parse_address(graph.uri).options)
    store = S3Store(bucket, config={**options, "allow_http": "true"})
    lines = data.read_bytes().splitlines(keepends=True)
    obstore.put(store, "in/a.jsonl", b"".join(lines[::2]))
    obstore.put(store, "in/b.jsonl", b"".join(lines[1::2]))
    graph.load(f"s3://{bucket}/in/*.jsonl", mode="merge", engine="spark", spark=spark)
    assert contents(graph) == expected(tmp_path / "again", data)

    # what is there leaves again, by tasks, into the same store, and comes back as the same graph
    done = graph.export(f"s3://{bucket}/out", engine="spark", spark=spark)
    assert done.nodes["Person"] == PEOPLE
    copy = og.init(f"s3://{bucket}/copy", SCHEMA)
    copy.load(f"s3://{bucket}/out/", mode="append", engine="spark", spark=spark)
    assert contents(copy) == contents(graph)
    graph.export(f"s3://{bucket}/columns", format="parquet", engine="spark", spark=spark)
    for engine in ("spark", "local"):
        again = og.init(f"s3://{bucket}/{engine}", SCHEMA)
        again.load(f"s3://{bucket}/columns/", mode="append", engine=engine)
        assert contents(again) == contents(graph)

    # a process of Spark reads and writes frames: it has no environment of ours
    told = {f"storage.{name}": value for name, value in options.items()} | {"type": "Person"}
    people = spark.read.format("omnigraph").options(**told).load(copy.uri)
    assert people.count() == PEOPLE
    more = spark.createDataFrame([("someone new",)], "name string")
    more.write.format("omnigraph").options(**told).mode("append").save(copy.uri)
    assert copy.snapshot().table("node:Person").row_count == PEOPLE + 1
    assert copy.optimize(engine="spark", spark=spark)
    assert not orphans(copy)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A web server of the files in a folder, and its address."""
    (tmp_path / "www").mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *said: object) -> None:
            del said

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "www")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_from_a_web_server(tmp_path, spark, data, served):
    (tmp_path / "www" / "data.jsonl").write_bytes(data.read_bytes())
    graph = og.init(tmp_path / "g", SCHEMA)
    assert graph.load(f"{served}/data.jsonl", mode="append", engine="spark", spark=spark).engine == "spark"
    assert contents(graph) == expected(tmp_path, data)
    with pytest.raises(og.OmniGraphError, match=r"nothing\.jsonl"):
        graph.load(f"{served}/nothing.jsonl", mode="append", engine="spark", spark=spark)


CONNECT = """
import sys
from pathlib import Path
import omnigraph as og
from pyspark.sql import SparkSession
from omnigraph.pipeline import splits
from omnigraph.pipeline.session import is_classic, spark_session, _environment, _environ
from tests.pipeline.inputs import SCHEMA

splits.SPLIT_BYTES_MIN = 30_000
with _environ(_environment("local")):
    session = SparkSession.builder.remote("local[2]").getOrCreate()
assert not is_classic(session)
assert spark_session() is session
folder, data, seen = Path(sys.argv[1]), sys.argv[2], []
graph = og.init(folder / "g", SCHEMA)
graph.load(data, mode="append", engine="spark", progress=lambda stage, done, total: seen.append(stage))
assert {"loading", "checking", "writing"} <= set(seen), seen
frame = session.range(100).selectExpr("concat('connect', id) AS name")
assert graph.load(frame, type="Person", mode="append").nodes == {"Person": 100}
try:
    graph.load(frame, type="City", mode="append")
except og.OmniGraphError as error:
    print(error.code)

count = "query n() { match { $p: Person } return { count($p) as n } }"
assert graph.query(count, engine="spark").rows == graph.query(count).rows
people = graph.query(count).rows[0]["n"]
assert session.read.format("omnigraph").option("type", "Person").load(graph.uri).count() == people
assert graph.optimize(engine="spark")
assert graph.frame(count).collect()[0].n == people
exported = graph.export(folder / "out", engine="spark")
assert exported.nodes["Person"] == people
assert graph.analyze("degrees", nodes=["Person"], edges=["Knows"]).to_arrow().num_rows == exported.nodes["Person"]
(folder / "in").mkdir()
(folder / "in" / "0.json").write_text('{"name": "streamed"}')
lines = session.readStream.schema("name string").json(str(folder / "in"))
sink = lines.writeStream.format("omnigraph").option("type", "Person")
query = sink.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start(graph.uri)
assert query.awaitTermination(120)
notes = og.init(folder / "notes", "node Note { text: String @key  v: Vector(8)? @embed(text) }")
notes.load([{"type": "Note", "data": {"text": "hello"}}])
assert notes.embed(engine="spark") is not None
assert notes.embed(engine="spark") is None
"""


def test_spark_connect(tmp_path, data):
    """A session of Spark Connect cannot be in a process with a classic one."""
    program = [sys.executable, "-W", "ignore", "-c", CONNECT, str(tmp_path), str(data)]
    environment = {**os.environ, "OMNIGRAPH_EMBEDDINGS_MOCK": "1"}
    done = subprocess.run(program, capture_output=True, text=True, timeout=500, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, "bad_request\n"), done.stderr
    graph = og.open(tmp_path / "g")
    assert graph.snapshot().table("node:Person").row_count == PEOPLE + 101
    assert not orphans(graph)


@pytest.mark.slow
def test_an_executor_dies(tmp_path, data):
    """A process of Java of its own, killed when it had done a split: another does it again, and rows are there once."""
    program = [sys.executable, "-W", "ignore", "-m", "tests.pipeline.cluster", str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    splits_done = json.loads(done.stdout)
    assert splits_done[:2] == [0, 0]
    assert len(set(splits_done)) > 1
    graph = og.open(tmp_path / "g")
    assert contents(graph) == expected(tmp_path, data)
    assert not orphans(graph)
    collect(graph.repository, Retention(keep=1, grace_s=0.0), dry_run=False)
    assert contents(og.open(graph.uri)) == expected(tmp_path / "again", data)
