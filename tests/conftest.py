"""Servers that tests ask for by name; each starts when first asked for, once per worker process."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support import CarelessServer, CountingProxy, MinistackServer, S3Endpoint, SeaweedServer
from tests.support.spark import spark_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A run of the tests is a judgement of a change, so it asks the same questions each time; EXPLORE=1 asks new ones.
settings.register_profile("judge", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, database=None)
settings.load_profile("explore" if os.environ.get("EXPLORE") else "judge")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with Spark share one worker process, and so one session."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """Spark in this process, with workers that see these sources and the tests."""
    from omnigraph.pipeline.config import SparkConfig
    from omnigraph.pipeline.session import spark_session

    session = spark_session(config=SparkConfig("local[2, 4]", conf=spark_conf()))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def seaweed() -> Iterator[SeaweedServer]:
    """SeaweedFS, shared: a test that kills it starts its own."""
    with SeaweedServer() as server:
        yield server


@pytest.fixture(scope="session")
def ministack() -> Iterator[MinistackServer]:
    with MinistackServer() as server:
        yield server


@pytest.fixture(scope="session")
def careless() -> Iterator[CarelessServer]:
    """The store that must be refused."""
    with CarelessServer() as server:
        yield server


@pytest.fixture(params=["seaweed", "ministack"])
def s3_server(request: pytest.FixtureRequest) -> S3Endpoint:
    """Each of the real servers in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def s3_bucket(s3_server: S3Endpoint) -> str:
    """A fresh bucket on `s3_server`."""
    return s3_server.bucket()


@pytest.fixture
def proxy(s3_server: S3Endpoint) -> Iterator[CountingProxy]:
    """A proxy of this test's own before `s3_server`."""
    with CountingProxy(s3_server.endpoint) as proxy:
        yield proxy


@pytest.fixture
def s3_env(s3_server: S3Endpoint, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """This process's environment points at `s3_server`, as for a user who set AWS_*."""
    for name, value in s3_server.env.items():
        monkeypatch.setenv(name, value)
    return s3_server.env


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """What a test does to the environment ends with it: the order of tests changes nothing."""
    before = dict(os.environ)
    yield
    if before != dict(os.environ):
        os.environ.clear()
        os.environ.update(before)


# -- figures -------------------------------------------------------------------------------------------


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Say a measured figure; it is printed at the end of the run, also from worker processes."""
    return lambda text: request.node.user_properties.append(("figure", text))


def pytest_terminal_summary(terminalreporter) -> None:
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [
        text
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, text in report.user_properties
        if name == "figure"
    ]
    if lines:
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.line(line)
