"""The routes of the contract, over HTTP to a real process; every answer is checked against the contract's document."""

from urllib.parse import quote

INSERT = "query add($name: String) { insert Person { name: $name } }"
RENAME = "query grow($name: String) { update Person set { age: 50 } where name = $name }"


def test_the_process_says_that_it_lives(client):
    body = client.flat("GET", "/healthz").json()
    assert body["status"] == "ok"
    assert body["internal_schema_version"] == 6
    assert client.flat("GET", "/readyz").json() == {"status": "ready", "graphs": 1}
    metrics = client.flat("GET", "/metrics").text
    assert "omnigraph_requests_total" in metrics
    assert "omnigraph_publish_races_lost{" in metrics


def test_listing_graphs_takes_a_server_policy(client):
    assert client.flat("GET", "/graphs", 403).json()["code"] == "forbidden"


def test_graph_ids(client):
    assert client.flat("GET", "/graphs/other/schema", 404).json()["code"] == "not_found"
    assert client.flat("GET", "/graphs/policies/schema", 400).json()["code"] == "bad_request"
    assert client.flat("GET", "/graphs/a%20b/schema", 400).json()["code"] == "bad_request"
    assert client.flat("GET", f"/graphs/{'x' * 65}/schema", 400).json()["code"] == "bad_request"
    assert client.flat("GET", "/nowhere", 404).json()["code"] == "not_found"
    assert client("PUT", "/schema", 405).json()["code"] == "method_not_allowed"


def test_schema(client):
    assert "node Person" in client.get("/schema")["schema_source"]
    source = client.get("/schema")["schema_source"]
    plan = client.post("/schema/plan", {"schema_source": source + "\nnode Town { name: String @key }\n"})
    assert plan["supported"]
    assert plan["step_count"] == 1
    done = client.post("/schema/apply", {"schema_source": source + "\nnode Town { name: String @key }\n"})
    assert done["applied"]
    assert not client.post("/schema/apply", {"schema_source": client.get("/schema")["schema_source"]})["applied"]
    assert client.post("/schema/apply", {"schema_source": "node {"}, 400)["diagnostics"]


def test_snapshot_and_commits(client):
    snapshot = client.get("/snapshot")
    assert snapshot["datasets"][0]["type_name"] == "Knows"
    commits = client.get("/commits")["commits"]
    assert client.get(f"/commits/{commits[0]['graph_commit_id']}") == commits[0]
    assert commits[-1]["parent_commit_id"] is None
    assert client.get("/commits/01ARZ3NDEKTSV4RRFFQ69G5FAV", 404)["code"] == "not_found"
    assert client.get("/commits", 404, params={"branch": "none"})["error"] == "branch 'none' not found"
    assert client.get("/snapshot", 404, params={"branch": "none"})["code"] == "not_found"


def test_mutate(client):
    done = client.post("/mutate", {"query": INSERT, "params": {"name": "cyd"}})
    assert done["affected_nodes"] == 1
    assert done["actor_id"] is None
    assert done["commit"]["graph_branch"] is None
    nothing = client.post("/mutate", {"query": RENAME, "params": {"name": "nobody"}})
    assert nothing["commit"] is None
    both = f"{INSERT}\n{RENAME}"
    assert "multiple queries" in client.post("/mutate", {"query": both}, 400)["error"]
    assert client.post("/mutate", {"query": both, "name": "grow", "params": {"name": "cyd"}})["query_name"] == "grow"
    assert "not found" in client.post("/mutate", {"query": both, "name": "shrink"}, 400)["error"]
    assert client.post("/mutate", {"query": INSERT}, 400)["code"] == "bad_request"
    assert client.post("/mutate", {"query": INSERT, "params": []}, 400)["code"] == "bad_request"
    assert client.post("/mutate", {"query": "query q() {"}, 400)["diagnostics"]
    assert client.post("/mutate", {"name": "x"}, 400)["error"].startswith("query: ")
    assert client.post("/mutate", {"query": INSERT, "params": {"name": "x"}, "branch": "none"}, 404)
    old = client.post("/mutate", {"query_source": both, "query_name": "grow", "params": {"name": "cyd"}})
    assert old["query_name"] == "grow"


def test_change_is_the_older_name(client):
    answer = client("POST", "/change", json={"query": INSERT, "params": {"name": "dov"}})
    assert answer.headers["deprecation"] == "true"
    assert answer.headers["link"] == '<mutate>; rel="successor-version"'


def test_a_name_that_looks_like_a_file_is_text(client):
    assert client.post("/mutate", {"query": "/etc/passwd.gq"}, 400)["code"] == "bad_request"


def test_conditional_mutation(client):
    head = client.get("/commits")["commits"][0]["graph_commit_id"]
    asked = {"query": INSERT, "params": {"name": "eve"}}
    name = "Omnigraph-If-Graph-Commit"
    done = client.post("/mutate/if-graph-commit", asked, headers={name: head})
    assert done["commit"]["parent_commit_id"] == head
    lost = client.post("/mutate/if-graph-commit", asked, 412, headers={name: head})
    assert lost["precondition_failure"] == {"expected": head, "actual": done["commit"]["graph_commit_id"]}
    assert "code" not in lost
    assert client.post("/mutate/if-graph-commit", asked, 400)
    for wrong in ("*", f'"{head}"', f"W/{head}", f"{head},{head}"):
        assert client.post("/mutate/if-graph-commit", asked, 400, headers={name: wrong})
    assert client.post("/mutate", asked, 400, headers={name: head})
    assert client.post("/change", asked, 400, headers={name: head})


def test_strict_load(client):
    done = client.load('{"type":"Person","data":{"name":"fay"}}\n', mode="append")
    assert done["nodes"] == [{"name": "Person", "entities_loaded": 1}]
    assert done["total_entities"] == 1
    again = client.load('{"type":"Person","data":{"name":"fay"}}\n', 409, mode="append")
    assert again["key_conflict"] == {"entity_kind": "node", "type_name": "Person", "entity_id": "fay"}
    assert "line 2" in client.load('{"type":"Person","data":{"name":"g"}}\n{"type":"Person","data":{}}\n', 400)["error"]
    assert client.load('{"type":"Person","x":1}\n', 400)["code"] == "bad_request"
    assert client.load('{"type":"Person","data":{"name":"g"}}\n', 400, mode="upsert")["code"] == "bad_request"
    assert client.load('{"type":"Person","data":{"name":"g"}}\n', 404, branch="none")["code"] == "not_found"
    made = client.load('{"type":"Person","data":{"name":"g"}}\n', branch="made", **{"from": "main"})
    assert made["branch_created"]
    assert made["base_branch"] == "main"
    assert client.load("[1]\n", 400)["error"].startswith("records are JSON objects")
    assert client("POST", "/load/ndjson", 415, content=b"{}", headers={"content-type": "text/plain"})


def test_permissive_load(client):
    data = '{"type":"Person",\n "data":{"name":"hal","unknown":1}}'
    done = client.post("/load", {"data": data})
    assert done["uri"].endswith("g.omni")
    assert done["mode"] == "merge"
    answer = client("POST", "/ingest", json={"data": data, "mode": "merge"})
    assert answer.headers["deprecation"] == "true"
    assert client.post("/load", {"data": "nope"}, 400)["code"] == "bad_request"
    assert client.post("/load", {"data": 1}, 400)["error"].startswith("data: ")
    assert client.post("/load", {"data": data, "mode": "upsert"}, 400)["error"].startswith("mode: ")


def test_branches(client):
    made = client.post("/branches", {"name": "a/b"})
    assert made == {"uri": made["uri"], "from": "main", "name": "a/b", "actor_id": None}
    assert "a/b" in client.get("/branches")["branches"]
    assert client.post("/branches", {"name": "a/b"}, 409)["code"] == "conflict"
    assert client.post("/branches", {"name": "main"}, 400)["code"] == "bad_request"
    assert client.post("/branches", {"name": ""}, 400)["code"] == "bad_request"
    assert client.post("/branches", {"name": "c", "from": "none"}, 404)["code"] == "not_found"
    assert client("DELETE", f"/branches/{quote('a/b', safe='')}").json()["name"] == "a/b"
    assert client("DELETE", f"/branches/{quote('a/b', safe='')}", 404)
    assert client("DELETE", "/branches/main", 400)


def test_export(client):
    answer = client("POST", "/export", json={"type_names": ["Secret"]})
    assert answer.headers["content-type"] == "application/x-ndjson; charset=utf-8"
    assert answer.text == '{"type":"Secret","data":{"id":"xyzzy","code":"xyzzy"}}\n'
    whole = client("POST", "/export", json={}).text
    assert whole.index('"edge":"Knows"') < whole.index('"type":"Person"')
    assert client.post("/export", {"type_names": ["Nothing"]}, 400)["code"] == "bad_request"
    assert client.post("/export", {"types": []}, 400)["code"] == "bad_request"
    assert client.post("/export", {"branch": "none"}, 404)["code"] == "not_found"


def test_json_bodies(client):
    json = {"content-type": "application/json"}
    assert client("POST", "/mutate", 400, content=b"{", headers=json)
    assert client("POST", "/mutate", 400, content=b"", headers=json)
    assert client("POST", "/mutate", 400, content=b"[" * 100_000, headers=json)
    assert client("POST", "/mutate", 400, content=b'{"query": "\xff"}', headers=json)
    assert client("POST", "/mutate", 415, content=b"query=1", headers={"content-type": "text/plain"})
    assert client("POST", "/mutate", 415, content=b"\x1f\x8b", headers={**json, "content-encoding": "gzip"})
