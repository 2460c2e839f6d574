"""Servers that tests ask for by name; each starts when first asked for, once per worker process."""

import os
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support import CarelessServer, CountingProxy, MinistackServer, S3Endpoint, SeaweedServer
from tests.support.spark import spark_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A run of the tests is a judgement of a change, so it asks the same questions each time; EXPLORE=1 asks new ones.
OF_THE_MACHINE = ("OMNIGRAPH_", "AWS_", "AZURE_", "GOOGLE_", "SPARK_", "FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE")
LOOPBACK = "127.0.0.1,localhost"
"""No proxy of a network leads to what a test has started."""

for variable in [name for name in os.environ if name.startswith(OF_THE_MACHINE) or name == "GITHUB_ACTIONS"]:
    del os.environ[variable]  # what somebody has set for themselves is no part of a test
for variable in ("NO_PROXY", "no_proxy"):
    os.environ[variable] = ",".join(filter(None, (os.environ.get(variable), LOOPBACK)))

# A machine that is busy with other things is no finding: nothing here depends on how long an example takes.
UNHURRIED = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("judge", derandomize=True, **UNHURRIED)
settings.register_profile("explore", **UNHURRIED)
settings.load_profile("explore" if os.environ.get("EXPLORE") else "judge")

FIRST = ("spark", "race", "cost")
"""Groups of tests that share one worker process. They take longest, so they begin first; then what is marked slow."""
SHARING = ("tests/cli/test_served.py", "tests/client/", "tests/mcp/", "tests/server/")
"""Modules whose tests share a server. They stay together, so that it starts once."""


class Grouping:
    """Tests with Spark share one worker process, and so one session; the longest come first."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if "spark" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group("spark"))
            elif item.nodeid.startswith(SHARING) and item.get_closest_marker("xdist_group") is None:
                item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
        items.sort(key=_rank)


class GroupsInIds:
    """xdist 3.8 notes the group of a test where pytest 9.2 does not look any more, and so loses it without a word
    (pytest-dev/pytest-xdist#1386): then Spark, and the races for the machine, would run in both workers at once."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if not getattr(config.option, "loadgroup", False):
            return
        for item in items:
            wanted = getattr(item, "_nodeid", item.nodeid)
            if item.nodeid != wanted:
                item._id = type(item._id).parse(wanted)
            group = item.get_closest_marker("xdist_group")
            assert group is None or item.nodeid.endswith(f"@{group.args[0]}"), f"{item.nodeid} has lost its group"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failed-to", metavar="FILE", help="write the ids of the tests that failed, a line each")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Grouping())
    config.pluginmanager.register(GroupsInIds())


def _without_group(nodeid: str) -> str:
    """`loadgroup` puts the group behind the id, which no later run would know."""
    head, _, group = nodeid.rpartition("@")
    return head if group in FIRST or group.endswith(".py") else nodeid


def _rank(item: pytest.Item) -> int:
    """Where a test comes; those of one rank stay in order."""
    group = item.get_closest_marker("xdist_group")
    if group is None:
        return len(FIRST) + (1 if item.get_closest_marker("slow") else 2)
    return FIRST.index(group.args[0]) if group.args[0] in FIRST else len(FIRST)


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


def pytest_report_header() -> list[str]:
    """What a failure on another machine may depend on."""
    parts = [f"{name} {version(name)}" for name in ("pylance", "pyarrow", "duckdb", "pyspark", "obstore")]
    asked = "new questions" if os.environ.get("EXPLORE") else "the same questions each time (EXPLORE=1: new ones)"
    return [f"with: {', '.join(parts)}; {os.cpu_count()} processors", f"property tests: {asked}"]


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if to := config.getoption("failed_to"):
        wrong = [report for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, ())]
        ids = dict.fromkeys(_without_group(report.nodeid) for report in wrong)
        Path(to).write_text("".join(f"{one}\n" for one in ids))
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
