"""An agent with the official client: over HTTP and over standard streams."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

import omnigraph as og
from mcp import Client, StdioServerParameters
from tests.policy.bundles import BUNDLE
from tests.server.process import DATA, SCHEMA, ServerProcess

STORED = """
query salaries() @description("What is secret.") { match { $s: Secret } return { $s.code } }
query add_person($name: String, $age: I32?) { insert Person { name: $name, age: $age } }
"""
TOKENS = {"OMNIGRAPH_SERVER_BEARER_TOKENS_JSON": '{"ada": "t-ada", "bot": "t-bot", "eve": "t-eve"}'}
ALL = {
    *("get_schema", "query", "mutate", "load", "branch_list", "branch_create", "branch_delete", "branch_merge"),
    *("commit_list", "changes", "salaries", "add_person"),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    og.init(folder / "g.omni", schema=SCHEMA).load(DATA.encode())
    (folder / "q.gq").write_text(STORED)
    (folder / "p.yaml").write_text(BUNDLE)
    arguments = ("--graph", "g=g.omni", "--queries", "q.gq", "--policy", "p.yaml")
    with ServerProcess(*arguments, folder=folder, env=TOKENS) as server:
        yield server


@asynccontextmanager
async def agent(served, token, path="/mcp"):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=300) as http:
        stream = streamable_http_client(f"{served.url}{path}", http_client=http)
        async with Client(stream) as client:
            yield client


def run(main):
    return asyncio.run(main())


async def called(client, tool, /, **arguments):
    result = await client.call_tool(tool, arguments)
    document = json.loads(result.content[0].text)
    assert result.structured_content == document
    return document if not result.is_error else {"failed": document["error"]}


def test_every_tool_over_http(served):
    async def main():
        async with agent(served, "t-ada", "/graphs/g/mcp") as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == ALL
            assert tools["query"].annotations.read_only_hint
            assert tools["branch_delete"].annotations.destructive_hint
            assert tools["salaries"].description == "What is secret."
            assert tools["add_person"].input_schema["required"] == ["name"]
            assert "node Secret" in (await called(client, "get_schema"))["schema_source"]
            names = "query q() { match { $p: Person } return { $p.name } order { $p.name } }"
            found = await called(client, "query", query=names, max_rows=1)
            assert found["rows"] == [{"p.name": "ada"}]
            assert found["truncated"]
            assert "narrow the match" in found["note"]
            assert (await called(client, "branch_create", name="work"))["name"] == "work"
            insert = 'query q() { insert Person { name: "zoe" } }'
            assert (await called(client, "mutate", query=insert, branch="work"))["actor_id"] == "ada"
            records = [{"type": "Person", "data": {"name": "yan", "age": 3}}]
            assert (await called(client, "load", records=records, branch="work"))["total_entities"] == 1
            assert (await called(client, "branch_merge", source="work"))["outcome"] == "fast_forward"
            for branch, age in (("work", 1), ("main", 2)):
                grow = f'query q() {{ update Person set {{ age: {age} }} where name = "yan" }}'
                await called(client, "mutate", query=grow, branch=branch)
            tried = await called(client, "branch_merge", source="work", dry_run=True)
            assert (tried["conflicts"][0]["ours"]["properties"]["age"], tried["outcome"]) == (2, "merged")
            assert "1 conflict" in (await called(client, "branch_merge", source="work"))["failed"]
            choice = {**tried["conflicts"][0], "take": "theirs"}
            assert (await called(client, "branch_merge", source="work", resolution=[choice]))["outcome"] == "merged"
            assert "work" in (await called(client, "branch_list"))["branches"]
            assert (await called(client, "branch_delete", name="work"))["deleted"]
            assert len((await called(client, "commit_list", limit=1))["commits"]) == 1
            assert (await called(client, "changes", limit=1))["blocks"]
            assert (await called(client, "salaries"))["rows"] == [{"s.code": "xyzzy"}]
            assert (await called(client, "add_person", name="xia"))["affected_nodes"] == 1
            assert "did you mean" in (await called(client, "query", query=names.replace("Person", "Persn")))["failed"]
            assert "query" in (await called(client, "query"))["failed"]
            assert "no tool" in (await called(client, "nothing"))["failed"]
            resources = {str(one.uri) for one in (await client.list_resources()).resources}
            assert resources == {"omnigraph://schema", "omnigraph://queries"}
            schema = await client.read_resource("omnigraph://schema")
            assert "node Person" in schema.contents[0].text

    run(main)


def test_an_agent_sees_what_its_rules_name_and_nothing_else(served):
    async def main():
        async with agent(served, "t-bot") as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"get_schema", "query", "branch_list", "commit_list", "changes", "salaries"}
            schema = (await called(client, "get_schema"))["schema_source"]
            assert "Person" in schema
            assert "Secret" not in schema
            secret = "query q() { match { $s: Secret } return { $s.code } }"
            unknown = "query q() { match { $s: Sacred } return { $s.code } }"
            one, other = (await called(client, "query", query=secret)), (await called(client, "query", query=unknown))
            assert one["failed"] == other["failed"].replace("Sacred", "Secret")
            known = "query q() { match { $p: Person $p knows $q } return { $q.name } }"
            assert (await called(client, "query", query=known))["rows"] == [{"q.name": "ben"}]
            assert (await called(client, "salaries"))["rows"] == [{"s.code": "xyzzy"}]
            assert "policy denies" in (await called(client, "commit_list"))["failed"]
            assert "no tool" in (await called(client, "mutate", query="query q() { }"))["failed"]
            assert "no tool" in (await called(client, "add_person", name="x"))["failed"]

    run(main)


def test_a_denied_actor_sees_no_tool(served):
    async def main():
        async with agent(served, "t-eve") as client:
            assert (await client.list_tools()).tools == []
            assert "no tool" in (await called(client, "query", query="query q() { }"))["failed"]
            text = (await client.read_resource("omnigraph://schema")).contents[0].text
            assert text == "policy denies read"

    run(main)


def test_without_a_token_nothing_is_said(served):
    client = served.client()
    for path in ("/mcp", "/graphs/g/mcp", "/graphs/none/mcp"):
        answer = client.flat("POST", path, 401, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert answer.json()["code"] == "unauthorized"


def test_over_standard_streams_about_a_graph_on_a_server(served, tmp_path):
    async def main():
        arguments = ["-m", "omnigraph", "mcp", "--server", served.url, "--graph", "g"]
        env = {**os.environ, "OMNIGRAPH_BEARER_TOKEN": "t-bot", "OMNIGRAPH_HOME": str(tmp_path)}
        async with Client(StdioServerParameters(command=sys.executable, args=arguments, env=env)) as client:
            assert "salaries" in {tool.name for tool in (await client.list_tools()).tools}
            assert (await called(client, "salaries"))["rows"] == [{"s.code": "xyzzy"}]
            assert "Secret" not in (await called(client, "get_schema"))["schema_source"]
            assert (
                "policy denies"
                in (await called(client, "mutate", query='query q() { insert Person { name: "x" } }'))["failed"]
            )

    run(main)


def test_over_standard_streams(tmp_path):
    og.init(tmp_path / "g.omni", schema=SCHEMA).load(DATA.encode())
    (tmp_path / "q.gq").write_text(STORED)

    async def main():
        arguments = ["-m", "omnigraph", "mcp", str(tmp_path / "g.omni"), "--queries", str(tmp_path / "q.gq")]
        async with Client(
            StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        ) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == ALL
            assert (await called(client, "add_person", name="wim", age=5))["affected_nodes"] == 1
            assert (await called(client, "salaries"))["rows"] == [{"s.code": "xyzzy"}]

    run(main)
    assert len(og.open(tmp_path / "g.omni").query("query q() { match { $p: Person } return { $p.name } }")) == 3
