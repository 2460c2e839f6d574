"""Queries and stored queries over HTTP."""

import pyarrow as pa

from tests.support.eventually import eventually

NAMES = "query names() { match { $p: Person } return { $p.name } order { $p.name } }"
ONE = "query one($name: String) { match { $p: Person { name: $name } } return { $p } }"


def test_query(client):
    found = client.post("/query", {"query": NAMES})
    assert found["query_name"] == "names"
    assert found["target"] == {"branch": "main", "snapshot": None}
    assert found["columns"] == ["p.name"]
    assert found["rows"][0] == {"p.name": "ada"}
    assert found["row_count"] == len(found["rows"])
    assert found["graph_commit_id"] == client.get("/commits")["commits"][0]["graph_commit_id"]
    at = client.post("/query", {"query": NAMES, "snapshot": found["graph_commit_id"]})
    assert at["target"] == {"branch": None, "snapshot": found["graph_commit_id"]}
    row = client.post("/query", {"query": ONE, "params": {"name": "ada"}})["rows"][0]
    assert row["p"]["@id"] == "ada"


def test_query_as_arrow(client):
    accept = {"accept": "application/vnd.apache.arrow.stream"}
    answer = client.http.post("/graphs/g/query", json={"query": NAMES}, headers=accept)
    assert answer.headers["content-type"] == accept["accept"]
    assert pa.ipc.open_stream(answer.content).read_all().column("p.name")[0].as_py() == "ada"


def test_what_is_wrong_with_a_query(client):
    assert client.post("/query", {"query": "query q() { match { $p: Persn } return { $p.name } }"}, 400)["diagnostics"]
    assert client.post("/query", {"query": NAMES, "branch": "main", "snapshot": "x"}, 400)
    assert client.post("/query", {"query": 'query q() { delete Person where name = "x" }'}, 400)
    assert client.post("/query", {"query": NAMES, "branch": "none"}, 404)
    assert client.post("/query", {"query": NAMES, "snapshot": "none"}, 404)
    assert client.post("/query", {"query": f"{NAMES} {ONE}"}, 400)["error"].startswith("the text has multiple queries")
    limit = client.post("/query", {"query": NAMES, "max_rows": 1}, 413)["resource_limit"]
    assert limit["limit"] == 1


def test_read_is_the_older_form(client):
    answer = client("POST", "/read", json={"query_source": NAMES})
    assert answer.headers["deprecation"] == "true"
    assert "graph_commit_id" not in answer.json()
    assert client.post("/read", {"query": NAMES}, 400)


def test_the_catalogue(client):
    entries = client.get("/queries")["queries"]
    assert entries[0] == {
        "name": "add_person",
        "tool_name": "add_person",
        "description": "Adds a person.",
        "mutation": True,
        "params": [
            {"name": "name", "kind": "string", "nullable": False},
            {"name": "age", "kind": "int", "nullable": True},
        ],
    }


def test_invoking_a_stored_query(client):
    done = client.post("/queries/add_person", {"params": {"name": "jan"}, "expect_mutation": True})
    assert done["affected_nodes"] == 1
    assert client.post("/queries/nothing", {}, 404) == {"error": "stored query not found", "code": "not_found"}
    assert client.post("/queries/add_person", {"params": {"name": "x"}, "expect_mutation": False}, 400)
    assert client.post("/queries/add_person", {"params": {"name": "x"}, "snapshot": "y"}, 400)
    head = {"Omnigraph-If-Graph-Commit": done["commit"]["graph_commit_id"]}
    assert client.post("/queries/add_person", {"params": {"name": "kim"}}, 400, headers=head)
    assert client.post("/queries/add_person/if-graph-commit", {"params": {"name": "kim"}}, headers=head)
    assert client.post("/queries/add_person/if-graph-commit", {"params": {"name": "lea"}}, 412, headers=head)
    assert client.post("/queries/people/if-graph-commit", {}, 400, headers=head)
    assert client("POST", "/queries/people").json()["row_count"] > 1
    assert client("POST", "/queries/people", content=b"null", headers={"content-type": "application/json"})
    assert client("POST", "/queries/add_person", 400)


def test_stored_queries_are_read_again_when_they_change(client, folder):
    path = folder / "stored" / "late.gq"
    path.write_text("query late() { match { $p: Person } return { $p.name } }")
    eventually(lambda: client.http.post("/graphs/g/queries/late", json={}).status_code == 200)
    path.write_text("query late( {")
    eventually(lambda: "kept as they were" in (folder / "server.log").read_text())
    assert client.post("/queries/late")
    path.unlink()
    eventually(lambda: client.http.post("/graphs/g/queries/late", json={}).status_code == 404)


def test_a_client_that_goes_away_stops_its_query(client, folder):
    import socket

    host, _, port = client.http.base_url.netloc.decode().partition(":")
    edges = "\n".join(f'{{"type":"Person","data":{{"name":"n{n}"}}}}' for n in range(400))
    client.load(edges + "\n", branch="big", **{"from": "main"})
    slow = (
        "query slow() { match { $a: Person $b: Person $c: Person $d: Person "
        "$a.name < $b.name $b.name < $c.name $c.name < $d.name } return { count($a) as n } }"
    )
    import json

    body = json.dumps({"query": slow, "branch": "big"}).encode()
    start = "POST /graphs/g/query HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    head = f"{start}content-length: {len(body)}\r\n"
    with socket.create_connection((host, int(port))) as wire:
        wire.sendall(f"{head}x-request-id: gone-away\r\n\r\n".encode() + body)
        eventually(lambda: "omnigraph_requests_inflight 2.0" in client.http.get("/metrics").text)
    eventually(lambda: '"request_id":"gone-away"' in (folder / "server.log").read_text())
    lines = [line for line in (folder / "server.log").read_text().splitlines() if "gone-away" in line]
    assert len(lines) == 1
    assert '"error":"Cancelled"' in lines[0]
