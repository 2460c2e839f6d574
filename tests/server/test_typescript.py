"""A TypeScript client, generated from the OpenAPI document by @hey-api/openapi-ts: it compiles, and it works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import omnigraph as og
from tests.policy.bundles import BUNDLE
from tests.server.conftest import STORED
from tests.server.process import DATA, SCHEMA, ServerProcess
from tests.support.eventually import HANGS_S

NO_NETWORK = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNRE|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|code E(403|5..)")
SOURCES = Path(__file__).parent / "typescript"
MAY_LIST = "version: 1\ngroups: {t: [ada]}\nrules: [{id: l, allow: {actors: {group: t}, actions: [graph_list]}}]\n"
TOKENS = {"OMNIGRAPH_SERVER_BEARER_TOKENS_JSON": '{"ada": "token-of-ada"}'}


def run(folder: Path, *command: str) -> str:
    """A program of the Node.js that is installed beside this Python; what it says is what a failure shows."""
    path = os.pathsep.join([f"{folder}/node_modules/.bin", str(Path(sys.executable).parent), os.environ["PATH"]])
    program = shutil.which(command[0], path=path)
    assert program is not None, f"{command[0]} is not there"
    found = subprocess.run(
        [program, *command[1:]],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
    )
    assert found.returncode == 0, f"{' '.join(command)}: {found.stdout[-4000:]}\n{found.stderr[-4000:]}"
    return found.stdout


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    og.init(folder / "g.omni", schema=SCHEMA).load(DATA.encode())
    (folder / "q.gq").write_text(STORED)
    (folder / "p.yaml").write_text(BUNDLE)
    (folder / "s.yaml").write_text(MAY_LIST)
    (folder / "serve.yaml").write_text(
        "version: 1\ngraphs: {g: {uri: g.omni, queries: q.gq, policy: p.yaml}}\npolicy: s.yaml\n"
    )
    with ServerProcess("--config", "serve.yaml", folder=folder, env=TOKENS) as running:
        yield running


@pytest.fixture(scope="module")
def project(tmp_path_factory, server) -> Path:
    """A folder with the tools in it and the client generated; nothing is installed beside the sources."""
    folder = tmp_path_factory.mktemp("typescript") / "project"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules"))
    try:
        run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=5")
    except (AssertionError, subprocess.TimeoutExpired) as failed:
        if isinstance(failed, AssertionError) and not NO_NETWORK.search(str(failed)):
            raise
        pytest.skip(f"the tools cannot be fetched from here: {str(failed)[:200]}")
    (folder / "openapi.json").write_text(server.client("token-of-ada").flat("GET", "/openapi.json").text)
    run(folder, "openapi-ts", "--input", "openapi.json", "--output", "client", "--client", "@hey-api/client-fetch")
    return folder


def test_the_client_compiles_strictly_and_makes_a_round_trip(project, server):
    run(project, "tsc", "--project", ".")
    said = run(project, "node", "built/round_trip.js", server.url, "token-of-ada")
    assert said.split() == ["server", "errors", "load", "mutate", "query", "branches", "history", "schema"]
    found = server.client("token-of-ada").post("/queries/people")
    assert [row["p.name"] for row in found["rows"]] == ["ada", "ben", "cyd", "dov", "eli", "flo", "gil"]


def test_bodies_and_answers_have_types(project):
    """Only HEAD has none, as it has no body."""
    types = (project / "client" / "types.gen.ts").read_text()
    untyped = {
        name
        for name, members in re.findall(r"^export type (\w+) = \{\n(.*?)^\};", types, re.MULTILINE | re.DOTALL)
        if re.search(r"^    (body\??|\d{3}|params\??): (unknown|any);", members, re.MULTILINE)
    }
    assert untyped == {"ClusterHeadBlobErrors", "ClusterHeadBlobResponses"}
