"""What somebody with bad intentions tries: it is refused, and tells them nothing."""

import contextlib
import json
import socket

import httpx
import pytest

import omnigraph as og
from tests.policy.bundles import BUNDLE
from tests.server.process import DATA, SCHEMA, ServerProcess
from tests.support.eventually import eventually

TOKENS = {
    "OMNIGRAPH_SERVER_BEARER_TOKENS_JSON": json.dumps(
        {name: f"token-of-{name}" for name in ("ada", "ben", "bot", "eve", "mel")}
    ),
    "OMNIGRAPH_LOAD_BYTES_MAX": "100000",
    "OMNIGRAPH_JSON_BYTES_MAX": "10000",
    "OMNIGRAPH_PER_ACTOR_BYTES_MAX": "50000",
}
NAMES = "query q() { match { $p: Person } return { $p.name } }"
INSERT = 'query q() { insert Person { name: "x" } }'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("secured")


@pytest.fixture(scope="module")
def secured(folder):
    og.init(folder / "g.omni", schema=SCHEMA).load(DATA.encode())
    (folder / "p.yaml").write_text(BUNDLE)
    (folder / "secret.txt").write_text("do not read")
    (folder / "serve.yaml").write_text(
        "version: 1\ngraphs: {g: {uri: g.omni, policy: p.yaml, external_blobs: ['http://127.0.0.1:9/allowed/']}}\n"
    )
    with ServerProcess("--config", "serve.yaml", folder=folder, env=TOKENS) as server:
        yield server


@pytest.fixture
def as_actor(secured):
    return lambda name: secured.client(f"token-of-{name}" if name else None)


def raw(server, data: bytes, *, wait: bool = False) -> bytes:
    """Send bytes as they are, and take what comes until the end; with `wait` without saying that this was all."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=300) as wire:
        found = b""
        with contextlib.suppress(ConnectionResetError):  # what is too long is not read to its end
            wire.sendall(data)
            if not wait:
                wire.shutdown(socket.SHUT_WR)
            while piece := wire.recv(65536):
                found += piece
        return found


def test_tokens(as_actor):
    assert as_actor(None).get("/schema", 401)["error"] == "missing bearer token"
    assert as_actor("nobody").get("/schema", 401)["error"] == "invalid bearer token"
    assert as_actor(None)("GET", "/schema", 401).headers["www-authenticate"] == "Bearer"
    assert as_actor(None)("GET", "/schema", 401, headers={"authorization": "Basic dG9rZW4="})
    assert as_actor("ada").get("/schema")
    assert as_actor(None).flat("GET", "/metrics", 401)
    assert as_actor(None).flat("GET", "/healthz")


def test_the_actor_comes_from_the_token_only(as_actor):
    client = as_actor("ada")
    headers = {"x-actor": "eve", "x-forwarded-user": "eve"}
    body = {"query": INSERT, "actor": "eve", "actor_id": "eve"}
    assert client.post("/mutate", body, headers=headers)["actor_id"] == "ada"


def test_what_a_policy_denies_says_nothing(as_actor):
    eve = as_actor("eve")
    for branch in ("main", "none"):
        denied = eve.post("/query", {"query": NAMES, "branch": branch}, 403)
        assert denied == {"error": f"policy denies read on branch '{branch}'", "code": "forbidden"}
        assert eve.post("/mutate", {"query": INSERT, "branch": branch}, 403)
        assert eve.post("/export", {"branch": branch}, 403)
        assert eve.get("/commits", 403, params={"branch": branch})
        assert eve.load("{}", 403, branch=branch)
        assert eve.get("/changes", 403, params={"branch": branch})
    for commit in ("01ARZ3NDEKTSV4RRFFQ69G5FAV", as_actor("ada").get("/commits")["commits"][0]["graph_commit_id"]):
        assert eve.get(f"/commits/{commit}", 403)
        assert eve.get(f"/commits/{commit}/changes", 404)["error"].startswith(f"commit '{commit}' not found")
    for name in ("nothing", "q"):
        assert eve.post(f"/queries/{name}", {}, 404) == {"error": "stored query not found", "code": "not_found"}
    blob = {"entity": "node", "type": "Person", "id": "ada", "property": "photo"}
    assert eve.get("/blob", 403, params=blob) == eve.get("/blob", 403, params={**blob, "id": "none"})
    assert eve.get("/branches", 403)
    assert eve.get("/schema", 403)


def test_branches_are_protected(as_actor):
    ben = as_actor("ben")
    assert ben.post("/mutate", {"query": INSERT}, 403)
    ben.post("/branches", {"name": "bens"})
    assert ben.post("/mutate", {"query": INSERT, "branch": "bens"})
    assert ben.post("/branches/merge", {"source": "bens"}, 403)
    assert ben.post("/branches", {"name": "release"}, 403)
    assert ben.load('{"type":"Person","data":{"name":"x"}}', branch="bens")
    assert ben.post("/schema/apply", {"schema_source": SCHEMA}, 403)
    ben("DELETE", "/branches/bens")
    assert ben("DELETE", "/branches/main", 403)


def test_who_merges_without_reading_learns_no_values(as_actor):
    ada, mel = as_actor("ada"), as_actor("mel")
    ada.post("/branches", {"name": "theirs"})
    for branch, age in (("theirs", 3), ("main", 4)):
        grow = f'query q() {{ update Person set {{ age: {age} }} where name = "ada" }}'
        ada.post("/mutate", {"query": grow, "branch": branch})
    assert mel.post("/branches/merge/preview", {"source": "theirs"}, 403)
    done = mel.post("/branches/merge", {"source": "theirs", "resolution": "ours"})
    assert set(done) == {"source", "target", "outcome", "actor_id"}
    ada("DELETE", "/branches/theirs")


def test_types_out_of_sight_do_not_exist(as_actor):
    bot = as_actor("bot")
    assert bot.post("/query", {"query": NAMES})["row_count"] >= 2
    secret = bot.post("/query", {"query": "query q() { match { $s: Secret } return { $s.code } }"}, 400)
    unknown = bot.post("/query", {"query": "query q() { match { $s: Sacred } return { $s.code } }"}, 400)
    assert json.dumps(secret).replace("Secret", "Sacred") == json.dumps(unknown)
    assert "Secret" not in bot.get("/schema")["schema_source"]
    assert bot.get("/snapshot", 403)
    blob = {"entity": "node", "id": "xyzzy", "property": "code"}
    assert bot.get("/blob", 403, params={**blob, "type": "Secret"})["code"] == "forbidden"
    assert bot.get("/blob", 403, params={**blob, "type": "Sacred"})["code"] == "forbidden"


def test_bodies_that_are_too_much(secured, as_actor):
    ada = as_actor("ada")
    ndjson = {"content-type": "application/x-ndjson"}
    json_type = {"content-type": "application/json"}
    limit = ada("POST", "/load/ndjson", 429, content=b" " * 60_000, headers=ndjson)
    assert limit.headers["retry-after"] == "60"
    big = ada("POST", "/load/ndjson", 413, content=(b" " * 10_000 for _ in range(20)), headers=ndjson).json()
    assert big["resource_limit"]["limit"] == 100_000
    assert ada("POST", "/mutate", 413, content=b" " * 20_000, headers=json_type).json()["code"] == "bad_request"
    for packed in (b"\x1f\x8b\x08\x00", b"BZh91AY&SY", b"\x28\xb5\x2f\xfd"):
        assert ada("POST", "/load/ndjson", 400, content=packed + b"x" * 100, headers=ndjson)
        assert ada("POST", "/jobs/load", 400, content=packed + b"x" * 100, headers=ndjson)
        unpacking = {**ndjson, "content-encoding": "gzip"}
        assert ada("POST", "/jobs/load", 415, content=packed, headers=unpacking)
        assert ada("POST", "/load/ndjson", 415, content=packed, headers=unpacking)
    deep = b'{"query": ' + b"[" * 4000 + b"]" * 4000 + b"}"
    assert ada("POST", "/mutate", 400, content=deep, headers=json_type)


def test_a_body_that_never_comes(folder):
    """It is waited for only so long, and nobody else is kept waiting."""
    og.init(folder / "h.omni", schema=SCHEMA)
    env = {"OMNIGRAPH_BODY_TIMEOUT_S": "1"}
    with ServerProcess("--graph", "g=h.omni", "--unauthenticated", folder=folder, env=env) as server:
        head = (
            b"POST /graphs/g/mutate HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            b"content-type: application/json\r\ncontent-length: 99\r\n\r\n{"
        )
        raw(server, head)
        assert server.client().get("/schema")
        late = raw(server, head, wait=True)
        assert late.startswith(b"HTTP/1.1 408 ")
        agents = head.replace(b"/mutate", b"/mcp").replace(b"json\r", b"json\r\naccept: application/json\r")
        assert raw(server, agents, wait=True).startswith(b"HTTP/1.1 408 ")
        assert raw(server, b"GET /graphs/g/schema HT", wait=True) == b""
        whole = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        host, _, port = server.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=300) as wire:  # kept alive, then begun anew
            wire.sendall(whole)
            assert wire.recv(65536).startswith(b"HTTP/1.1 200 ")
            wire.sendall(b"GET /")
            while wire.recv(65536):
                pass
        for bad in (
            b"GET /graphs/g/schema HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"y" * 200_000 + b"\r\n\r\n",
            b"GET /graphs/g/schema HTTP/1.1\r\nhost: 127.0.0.1\r\na b: c\r\n\r\n",
            (
                b"POST /graphs/g/mutate HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n"
                b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            b"\x00\x01\x02\r\n\r\n",
        ):
            assert b" 500 " not in raw(server, bad).split(b"\r\n", 1)[0]
        foreign = raw(server, b"GET /graphs/g/schema HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n")
        assert foreign.startswith(b"HTTP/1.1 403 ")
        assert server.client().flat("GET", "/healthz")


def test_an_export_that_nobody_reads_gives_its_place_free(folder):
    og.init(folder / "x.omni", schema=SCHEMA).load([{"type": "Person", "data": {"name": "x", "photo": bytes(6 << 20)}}])
    env = {"OMNIGRAPH_BODY_TIMEOUT_S": "2"}
    asked = b"POST /graphs/g/export HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    asked += b"content-length: 2\r\n\r\n{}"
    with (
        ServerProcess("--graph", "g=x.omni", "--unauthenticated", folder=folder, env=env) as server,
        contextlib.ExitStack() as held,
    ):
        host, _, port = server.url.removeprefix("http://").partition(":")
        for _ in range(8):
            wire = held.enter_context(socket.socket())
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.connect((host, int(port)))
            wire.sendall(asked)
            assert wire.recv(12) == b"HTTP/1.1 200"
        client = server.client()
        refused = client.http.post("/graphs/g/export", json={})
        assert refused.json()["resource_limit"]["resource"] == "stream_export_slots"
        eventually(lambda: client.http.post("/graphs/g/export", json={}).status_code == 200)


def test_headers_and_paths_cannot_be_injected(secured, as_actor):
    ada = as_actor("ada")
    for path in (
        "/graphs/..%2f..%2fetc/schema",
        "/graphs/g%00/schema",
        "/graphs/%2e%2e/schema",
        "/graphs/g%0d%0aX:1/schema",
    ):
        assert ada.http.get(path).status_code in (400, 404)
    answer = ada("GET", "/schema", headers={"x-request-id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    for wrong in ("a b", "x" * 65, "<script>"):
        assert ada("GET", "/schema", headers={"x-request-id": wrong}).headers["x-request-id"] != wrong
    log = secured.log_path.read_text()
    assert "token-of" not in log
    assert [line for line in log.splitlines() if not line.startswith("{")] == []


def test_no_other_origin_is_let_in(as_actor):
    answer = as_actor("ada").http.get("/graphs/g/schema", headers={"origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    preflight = as_actor("ada").http.options(
        "/graphs/g/mutate", headers={"origin": "https://evil.example", "access-control-request-method": "POST"}
    )
    assert preflight.status_code == 405


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/passwd",
        "/etc/passwd",
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:9/allowedX/secret",
        "http://127.0.0.1:9/allowed/../secret",
        "http://127.0.0.1:9/allowed/%2e%2e/secret",
        "http://127.0.0.1:9/allowed/..\\\\secret",
        "http://127.0.0.1:9@evil/allowed/",
        "s3://bucket/secret",
    ],
)
def test_references_outside_of_what_is_allowed(as_actor, uri):
    line = json.dumps({"type": "Person", "data": {"name": "r", "photo": uri}})
    refused = as_actor("ada").load(line + "\n", 400)
    assert "not below an allowed address" in refused["error"] or "base64" in refused["error"], refused


def test_loads_do_not_read_files_of_the_server(as_actor, folder):
    for text in (str(folder / "secret.txt"), "secret.txt", "-", "s3://b/k", "http://127.0.0.1:1/x"):
        refused = as_actor("ada").post("/load", {"data": text}, 400)
        assert "records are JSON objects" in refused["error"]
    for query in (str(folder / "secret.gq"), "secret.gq"):
        assert "do not read" not in as_actor("ada").http.post("/graphs/g/query", json={"query": query}).text


def test_errors_of_ours_say_nothing_of_the_inside(folder, secured, as_actor):
    """The storage breaks under the server."""
    og.init(folder / "broken.omni", schema=SCHEMA).load(DATA.encode())
    with ServerProcess("--graph", "g=broken.omni", "--unauthenticated", folder=folder) as server:
        client = server.client()
        assert client.post("/query", {"query": NAMES})["row_count"] == 2
        for path in (folder / "broken.omni" / "__manifest" / "main").iterdir():
            path.write_bytes(b"garbage")
        for path in (folder / "broken.omni" / "nodes").rglob("*.lance"):
            path.write_bytes(b"garbage")
        client.http.post("/graphs/g/mutate", json={"query": INSERT})
        for method, path, body in (
            ("GET", "/graphs/g/commits", None),
            ("POST", "/graphs/g/query", {"query": NAMES}),
            ("POST", "/graphs/g/export", {}),
        ):
            answer = client.http.request(method, path, json=body)
            said = [word for word in (str(folder), "garbage", "Traceback") if word in answer.text]
            assert answer.status_code < 500 or not said


def test_too_many_at_once(folder):
    og.init(folder / "busy.omni", schema=SCHEMA)
    env = {"OMNIGRAPH_PER_ACTOR_INFLIGHT_MAX": "1"}
    with ServerProcess("--graph", "g=busy.omni", "--unauthenticated", folder=folder, env=env) as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        head = (
            b"POST /graphs/g/load/ndjson HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            b"content-type: application/x-ndjson\r\ncontent-length: 9\r\n\r\n"
        )
        with socket.create_connection((host, int(port))) as wire:
            wire.sendall(head)
            client = server.client()
            eventually(lambda: "omnigraph_writes_inflight 1.0" in client.http.get("/metrics").text)
            refused = client.load('{"type":"Person","data":{"name":"x"}}', 429)
            assert refused["code"] == "too_many_requests"
            assert client.get("/schema")  # reads are not counted
        eventually(lambda: client.http.post("/graphs/g/branches", json={"name": "later"}).status_code != 429)
        assert isinstance(client.http, httpx.Client)
