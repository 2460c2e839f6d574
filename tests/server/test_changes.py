"""Merges and the change feed over HTTP."""

import json

INSERT = "query add($name: String, $age: I32?) { insert Person { name: $name, age: $age } }"
GROW = 'query grow($age: I32) { update Person set { age: $age } where name = "mia" }'


def add(client, name, branch="main", age=None):
    body = {"query": INSERT, "params": {"name": name, "age": age}, "branch": branch}
    return client.post("/mutate", body)["commit"]["graph_commit_id"]


def test_merge(client):
    add(client, "mia")
    client.post("/branches", {"name": "m"})
    assert client.post("/branches/merge", {"source": "m"})["outcome"] == "already_up_to_date"
    add(client, "nia", "m")
    assert client.post("/branches/merge", {"source": "m"})["outcome"] == "fast_forward"
    client.post("/mutate", {"query": GROW, "params": {"age": 1}, "branch": "m"})
    client.post("/mutate", {"query": GROW, "params": {"age": 2}})
    refused = client.post("/branches/merge", {"source": "m"}, 409)
    assert refused["merge_conflicts"][0]["kind"] == "divergent_update"
    assert refused["merge_conflicts"][0]["entity_id"] == "mia"
    add(client, "oda")
    client.post("/branches", {"name": "n"})
    add(client, "pia", "n")
    add(client, "qia")
    done = client.post("/branches/merge", {"source": "n", "delete_branch": True})
    assert (done["outcome"], done["branch_deleted"]) == ("merged", True)
    assert client.post("/branches/merge", {"source": "none"}, 404)
    assert client.post("/branches/merge", {}, 400)
    client("DELETE", "/branches/m")


def test_merge_conflicts_are_shown_and_settled(client):
    add(client, "una")
    client.post("/branches", {"name": "s"})
    grow = GROW.replace("mia", "una")
    client.post("/mutate", {"query": grow, "params": {"age": 1}, "branch": "s"})
    client.post("/mutate", {"query": grow, "params": {"age": 2}})
    head = client.get("/commits")["commits"][0]["graph_commit_id"]
    shown = client.post("/branches/merge/preview", {"source": "s"})
    (conflict,) = shown["conflicts"]
    assert conflict["properties"] == ["age"]
    assert [conflict[side]["properties"]["age"] for side in ("base", "ours", "theirs")] == [None, 2, 1]
    assert shown["summary"] == [{"kind": "node", "type_name": "Person", "inserted": 0, "updated": 1, "deleted": 0}]
    assert client.get("/commits")["commits"][0]["graph_commit_id"] == head
    chosen = {"conflicts": [{**conflict, "properties": {"age": "theirs"}}]}
    moved = {"Omnigraph-If-Graph-Commit": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}
    asked = {"source": "s", "resolution": chosen}
    for path, code in (("/branches/merge", 400), ("/branches/merge/if-graph-commit", 412)):
        client.post(path, asked, code, headers=moved)
    assert client.post("/branches/merge/if-graph-commit", asked, 400)
    for wrong in ("mine", {"default": "mine"}, {"conflicts": [{**conflict, "tak": "ours"}]}, {"conflict": []}, 1):
        assert client.post("/branches/merge", {"source": "s", "resolution": wrong}, 400)
        assert client.post("/branches/merge/preview", {"source": "s", "resolution": wrong}, 400)
    done = client.post("/branches/merge/if-graph-commit", asked, headers={"Omnigraph-If-Graph-Commit": head})
    assert done["outcome"] == "merged"
    assert done["commit"]["parent_commit_id"] == head
    assert [one["entity_id"] for one in done["conflicts"]] == ["una"]
    client("DELETE", "/branches/s")


def test_changes_of_a_commit(client):
    commit = add(client, "rex", age=4)
    found = client.get(f"/commits/{commit}/changes")
    assert found["cause"]["graph_commit_id"] == commit
    (change,) = found["changes"]
    assert (change["kind"], change["op"], change["id"], change["type"]["name"]) == ("node", "insert", "rex", "Person")
    assert change["after"]["properties"]["age"] == 4
    assert client.get(f"/commits/{commit}/changes", params={"op": "delete"})["changes"] == []
    assert client.get("/commits/none/changes", 404)["code"] == "not_found"
    first = client.get("/commits")["commits"][-1]["graph_commit_id"]
    assert client.get(f"/commits/{first}/changes")["changes"] == []
    assert client.get(f"/commits/{commit}/changes", 400, params={"branch": "main"})


def test_polling(client):
    start = client.get("/changes")
    assert start["blocks"] == []
    assert start["caught_up"]
    commits = [add(client, name) for name in ("sam", "tim")]
    page = client.get("/changes", params={"cursor": start["cursor"], "limit": 1})
    blocks = page["blocks"]
    while "next_page_token" in page:
        page = client.get("/changes", params={"page_token": page["next_page_token"], "limit": 1})
        blocks += page["blocks"]
    assert [block["cause"]["graph_commit_id"] for block in blocks] == commits
    assert client.get("/changes", params={"cursor": page["cursor"]})["blocks"] == []
    assert client.get("/changes", params={"start": f"after:{commits[0]}"})["blocks"][0]["changes"][0]["id"] == "tim"
    assert client.get("/changes", 400, params={"cursor": "x"})["error"].startswith("change cursor rejected:")
    assert client.get("/changes", 400, params={"cursor": start["cursor"], "start": "now"})
    assert client.get("/changes", 400, params={"limit": "0"})
    assert client.get("/changes", 400, params={"limit": "x"})
    assert client.get("/changes", 400, params=[("branch", "main"), ("branch", "main")])
    assert client.get("/changes", 400, params={"unknown": "1"})
    assert client.get("/changes", 413, params={"limit": "9999"})["resource_limit"]["limit"] == 8192
    assert client.get("/changes", 413, params={"cursor": "x" * 5000})["resource_limit"]["actual"] == 5000


def test_a_baseline_and_what_follows(client):
    lines = client("POST", "/changes/baseline", json={"type": ["Person"]}).text.splitlines()
    handshake = json.loads(lines[-1])["baseline"]
    assert handshake["snapshot_commit_id"] == client.get("/commits")["commits"][0]["graph_commit_id"]
    assert all(json.loads(line)["type"] == "Person" for line in lines[:-1])
    add(client, "uma")
    found = client.get("/changes", params={"cursor": handshake["resume_cursor"], "type": "Person"})
    assert found["blocks"][0]["changes"][0]["id"] == "uma"
    assert client.post("/changes/baseline", {"kind": ["thing"]}, 400)
