"""The command line against a server: flags, configuration, tokens."""

import json
import stat

import pytest

import omnigraph as og
from tests.server.process import DATA, SCHEMA, ServerProcess

STORED = "query find($name: String) { match { $p: Person { name: $name } } return { $p.name, $p.age } }"
BUNDLE = """
version: 1
groups: {team: [ada], outsiders: [eve]}
rules:
  - id: all
    allow: {actors: {group: team}, actions: [read, export, change, invoke_query]}
  - id: branches
    allow: {actors: {group: team}, actions: [branch_create, branch_delete, branch_merge, schema_apply]}
"""
SERVER_BUNDLE = "version: 1\ngroups: {t: [ada]}\nrules: [{id: l, allow: {actors: {group: t}, actions: [graph_list]}}]\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    og.init(folder / "g.omni", schema=SCHEMA).load(DATA.encode())
    (folder / "q.gq").write_text(STORED)
    (folder / "p.yaml").write_text(BUNDLE)
    (folder / "s.yaml").write_text(SERVER_BUNDLE)
    (folder / "serve.yaml").write_text(
        "version: 1\ngraphs: {g: {uri: g.omni, queries: q.gq, policy: p.yaml}}\npolicy: s.yaml\n"
    )
    tokens = {"OMNIGRAPH_SERVER_BEARER_TOKENS_JSON": '{"ada": "ada-token", "eve": "eve-token"}'}
    with ServerProcess("--config", "serve.yaml", folder=folder, env=tokens) as server:
        yield server


@pytest.fixture
def run(omnigraph, served):
    """The command, with a configuration that names the server, and no token yet."""
    home = omnigraph.folder / "home"
    home.mkdir()
    (home / "config.yaml").write_text(f"""
servers: {{work: {{url: "{served.url}"}}}}
profiles: {{w: {{server: work, default_graph: g}}, bad: {{server: nowhere}}, both: {{server: work, store: x}}}}
aliases: {{who: {{server: work, graph: g, query: find, args: [name], format: jsonl}}}}
""")

    def call(*arguments, code=0, **env):
        return omnigraph(*arguments, code=code, env={"OMNIGRAPH_HOME": str(home), **env})

    call.home = home
    return call


def test_a_session_with_a_server(run):
    assert "missing bearer token" in run("schema", "show", "--server", "work", "--graph", "g", code=1).err
    assert run("login", "work", "--token", "ada-token", "--json").document["declared"]
    assert stat.S_IMODE((run.home / "credentials").stat().st_mode) == 0o600
    where = ("--server", "work", "--graph", "g")
    assert run("graphs", "list", "--server", "work", "--json").document["graphs"][0]["graph_id"] == "g"
    assert "node Person" in run("schema", "show", "--server", "work").out  # the server has one graph
    added = 'query q() { insert Person { name: "max" } }'
    assert run("mutate", "-e", added, *where, "--json").document["actor_id"] == "ada"
    (run.home / "d.jsonl").write_text('{"type":"Person","data":{"name":"ned","age":7}}\n')
    loaded = run(
        "--server", "work", "load", "--graph=g", "--data", str(run.home / "d.jsonl"), "--mode", "merge", "--json"
    )
    assert loaded.document["total_entities"] == 1
    assert "(served, remote)" in loaded.err
    assert run("query", "find", "--params", '{"name": "ned"}', *where, "--json").document["rows"] == [
        {"p.name": "ned", "p.age": 7}
    ]
    assert json.loads(run("alias", "who", "ned").out.splitlines()[-1]) == {"p.name": "ned", "p.age": 7}
    named = 'query q() { match { $p: Person { name: "ada" } } return { $p.age } }'
    assert "36" in run("query", "-e", named, OMNIGRAPH_PROFILE="w").out
    assert '"type":"Secret"' in run("export", *where).out
    run("branch", "create", "x", *where)
    assert "--yes" in run("branch", "delete", "x", *where, code=1).err
    assert run("commit", "list", *where, "--json").document["commits"][0]["actor_id"] == "ada"
    assert run("blob", "get", "node", "Person", "ada", "photo", *where).out == "hello world"
    run("logout", "work")
    assert "missing bearer token: keep one with 'omnigraph login" in run("commit", "list", *where, code=1).err


def test_tokens_go_where_they_belong(run, served):
    env = {"OMNIGRAPH_TOKEN_WORK": "ada-token"}
    assert run("commit", "list", "--server", served.url, "--graph", "g", **env)
    assert (
        "invalid bearer token"
        in run("commit", "list", "--server", "work", "--graph", "g", code=1, OMNIGRAPH_BEARER_TOKEN="x").err
    )
    other = served.url.replace("127.0.0.1", "localhost")
    assert "missing bearer token" in run("commit", "list", "--server", other, "--graph", "g", code=1, **env).err
    (run.home / "credentials").write_text("[work]\ntoken = ada-token\n")
    (run.home / "credentials").chmod(0o644)
    assert "chmod 600" in run("commit", "list", "--server", "work", "--graph", "g", code=1).err


def test_what_is_denied(run):
    env = {"OMNIGRAPH_TOKEN_WORK": "eve-token"}
    denied = run(
        "query",
        "-e",
        "query q() { match { $p: Person } return { $p.name } }",
        "--profile",
        "w",
        "--json",
        code=1,
        **env,
    )
    assert denied.document["code"] == "forbidden"


def test_flags_that_do_not_fit(run):
    assert "does not go with 'init'" in run("init", "--server", "work", code=1).err
    assert "does not go with 'profile'" in run("profile", "list", "--graph", "g", code=1).err
    assert "one of them is enough" in run("commit", "list", "g.omni", "--server", "work", code=1).err
    assert "--graph is for servers" in run("commit", "list", "g.omni", "--graph", "g", code=1).err
    assert "there is no server 'x'" in run("commit", "list", "--server", "x", code=1).err
    assert (
        "--as is for graphs"
        in run("branch", "create", "x", "--server", "work", "--graph", "g", "--as", "me", code=1).err
    )


def test_profiles(run):
    items = {one["name"]: one for one in run("profile", "list", "--json").document["profiles"]}
    assert items["w"]["valid"]
    assert items["bad"]["error"] == "there is no server 'nowhere'"
    assert "exactly one" in items["both"]["error"]
    shown = run("profile", "show", "w", "--json").document
    assert shown["endpoint"].startswith("http://127.0.0.1:")
    assert shown["default_graph"] == "g"
    assert "cannot be used" in run("profile", "show", "bad", code=1).err
    (run.home / "config.yaml").write_text("servers: [")
    assert "is not valid" in run("profile", "list", code=1).err


def test_conflicts_of_a_served_graph_are_settled_as_in_an_embedded_one(run, served):
    where = ("--server", served.url, "--graph", "g")

    def grow(graph, branch, age):
        graph.mutate(f'query q() {{ update Person set {{ age: {age} }} where name = "ben" }}', branch=branch)

    def merge(*arguments, code=0):
        return run("branch", "merge", "apart", *arguments, *where, code=code, OMNIGRAPH_BEARER_TOKEN="ada-token")

    with og.connect(served.url, token="ada-token", graph="g") as graph:
        graph.branches.create("apart")
        grow(graph, "apart", 1)
        grow(graph, "main", 2)
        assert "divergent_update" in merge(code=1).err
        found = merge("--dry-run", "--json").document
        found["conflicts"][0]["take"] = "theirs"
        (run.home / "choices.json").write_text(json.dumps(found))
        head = graph.commits.list()[0].id
        settled = merge("--resolve", str(run.home / "choices.json"), "--if-commit", head)
        assert "merged into main" in settled.out
        assert "age: base 41, ours 2, theirs 1" in settled.out
        grow(graph, "apart", 3)
        grow(graph, "main", 4)
        assert merge("--ours", "--delete-branch", "--json").document["branch_deleted"]
        assert graph.query('query q() { match { $p: Person { name: "ben" } } return { $p.age } }').rows == [
            {"p.age": 4}
        ]
