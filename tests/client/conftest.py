"""One graph on a disk and one on a server, to be used alike."""

from collections.abc import Iterator

import pytest

import omnigraph as og
from tests.server.process import SCHEMA, ServerProcess

STORED = """
query people() { match { $p: Person } return { $p.name } order { $p.name } }
query add($name: String) { insert Person { name: $name } }
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("served")
    og.init(folder / "g.omni", schema=SCHEMA)
    (folder / "q.gq").write_text(STORED)
    with ServerProcess("--graph", "g=g.omni", "--queries", "q.gq", "--unauthenticated", folder=folder) as server:
        yield server


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    return og.init(tmp_path_factory.mktemp("embedded") / "g.omni", schema=SCHEMA)


@pytest.fixture(scope="module")
def remote(served):
    with og.connect(served.url, graph="g") as graph:
        yield graph


@pytest.fixture(params=["embedded", "remote"])
def graph(request):
    """The same graph, opened directly and over HTTP."""
    return request.getfixturevalue(request.param)
