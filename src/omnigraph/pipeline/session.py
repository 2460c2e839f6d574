"""A Spark session: the caller's, a configured one, or one embedded in this process. Started once and reused."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from omnigraph.model.errors import SparkUnavailable
from omnigraph.model.files import gist
from omnigraph.pipeline.config import SparkConfig, spark_config
from omnigraph.pipeline.java import java_home

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pyspark.sql import SparkSession

EMBEDDED = "local[*, 4]"
"""All cores, and a task is tried four times, as it is on a cluster."""

CONNECT_TASKS = 8
CONNECT_PORT = 15002
KNOCK_S = 5.0
LOGGING = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
"""What keeps Java quiet."""
_MEMORY_MIB_MAX = 4096

_lock = threading.Lock()
_started: list[SparkSession] = []


def spark_session(given: SparkSession | SparkConfig | None = None, config: SparkConfig | None = None) -> SparkSession:
    """The session to work with: the one given, the one this process has, or a new one as configured.

    It stays for the life of the process, because starting one takes seconds.
    """
    if isinstance(given, SparkConfig):
        config = given
    elif given is not None:
        return given
    with _lock:
        alive = [session for session in _started if is_alive(session)]
        if not alive:
            alive = [_active() or _start(config or spark_config())]
        _started[:] = alive
        return alive[0]


def is_classic(session: SparkSession) -> bool:
    """Whether the session's driver is in this process, rather than behind Spark Connect."""
    return "connect" not in type(session).__module__


def parallelism(session: SparkSession) -> int:
    """How many tasks run at once, as far as is known: Spark Connect does not say."""
    return session.sparkContext.defaultParallelism if is_classic(session) else CONNECT_TASKS


def is_alive(session: SparkSession) -> bool:
    """Whether the session has not been stopped."""
    handle: Any = session
    if not is_classic(session):
        return not handle.is_stopped
    return getattr(handle.sparkContext, "_jsc", None) is not None


def _active() -> SparkSession | None:
    """The session the caller's own code has started, if there is one."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _start(config: SparkConfig) -> SparkSession:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SparkUnavailable(f"Spark is not installed ({error}): pip install 'omnigraph[spark]'") from None
    builder: Any = SparkSession.builder
    master = config.master or EMBEDDED
    if config.remote is not None:
        _knock(config.remote)
        builder, settings, environment = builder.remote(config.remote), _session_settings(), dict[str, str]()
    else:
        settings = _session_settings() | _driver_settings(master)
        builder, environment = builder.master(master), _environment(master)
    for key, value in (settings | dict(config.conf)).items():
        builder = builder.config(key, value)
    with _environ(environment), _start_errors(config):
        return builder.getOrCreate()


def _knock(remote: str) -> None:
    """Say at once that nobody listens, or that there is no such machine: Spark Connect itself tries for minutes."""
    place = urlsplit(remote)
    if place.hostname is None or (getproxies().keys() - {"no"} and not proxy_bypass(place.hostname)):
        return  # through a proxy, or a way that only Spark knows
    try:
        socket.create_connection((place.hostname, place.port or CONNECT_PORT), timeout=KNOCK_S).close()
    except (ConnectionRefusedError, socket.gaierror) as error:
        raise SparkUnavailable(f"Spark Connect does not answer at {remote}: {gist(error)}") from None
    except (OSError, ValueError):
        return  # it may be slow, or the address odd: Spark has the last word


def _session_settings() -> dict[str, str]:
    """What holds for any session."""
    return {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
    }


def _driver_settings(master: str) -> dict[str, str]:
    """What a session needs whose driver we start."""
    settings = {
        "spark.app.name": "omnigraph",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": Path(tempfile.gettempdir(), "omnigraph-warehouse").as_uri(),
        "spark.driver.extraJavaOptions": f"{LOGGING} -XX:+UseSerialGC",
    }
    if master.startswith("local"):
        settings["spark.driver.memory"] = f"{_driver_memory_mib()}m"
        settings["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
        settings["spark.driver.bindAddress"] = settings["spark.driver.host"] = "127.0.0.1"
    return settings


def _driver_memory_mib() -> int:
    """A quarter of the machine, as Java itself would take, and never more than a load can use."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (ValueError, OSError, AttributeError):
        return 1024
    return max(1024, min(_MEMORY_MIB_MAX, machine // 4))


def _environment(master: str) -> dict[str, str]:
    """What the Java process we start is told besides its settings."""
    environment = {"JAVA_HOME": java_home()}
    if master.startswith("local"):
        environment["PYSPARK_PYTHON"] = environment["PYSPARK_DRIVER_PYTHON"] = sys.executable
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    elif "PYSPARK_PYTHON" not in os.environ:
        environment["PYSPARK_PYTHON"] = sys.executable
    return environment


@contextlib.contextmanager
def _environ(changes: Mapping[str, str]) -> Generator[None]:
    """Variables that are set while the session starts: what it starts inherits them, the caller keeps its own."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _start_errors(config: SparkConfig) -> Generator[None]:
    try:
        with warnings.catch_warnings():  # Lance warns of forks; what is forked here becomes Java at once
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        where = config.remote or config.master or "embedded"
        gist = str(error).strip().split("\n", 1)[0][:300] or type(error).__name__
        raise SparkUnavailable(f"Spark ({where}) did not start: {gist}") from error
