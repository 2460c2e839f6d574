"""One server process for each module of tests."""

from collections.abc import Iterator

import pytest

from omnigraph.graph import init_graph
from tests.server.process import DATA, SCHEMA, Client, ServerProcess

STORED = """
query add_person($name: String, $age: I32?)
@description("Adds a person.")
{
    insert Person { name: $name, age: $age }
}

query people() {
    match { $p: Person }
    return { $p.name }
    order { $p.name }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def open_server(folder) -> Iterator[ServerProcess]:
    """Everybody may do everything."""
    init_graph(folder / "g.omni", SCHEMA).load(DATA.encode())
    (folder / "stored").mkdir()
    (folder / "stored" / "people.gq").write_text(STORED)
    with ServerProcess("--graph", "g=g.omni", "--queries", "stored", "--unauthenticated", folder=folder) as server:
        yield server


@pytest.fixture
def client(open_server) -> Client:
    return open_server.client()
