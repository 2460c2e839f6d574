"""Settings: never open by accident; tokens, limits and declarations that say what is wrong with them."""

import pytest

from omnigraph.model.errors import BadRequest, Overloaded, Unauthenticated
from omnigraph.policy import parse_bundle
from omnigraph.server.admission import Admission
from omnigraph.server.declare import blob_base_fault, graphs_from_flags, read_declaration
from omnigraph.server.run import parse_bind
from omnigraph.server.settings import AuthMode, GraphSettings, Limits, Settings, check_bind, limits_of
from omnigraph.server.tokens import make_tokens, read_tokens

GRAPHS = (GraphSettings("g", "g.omni"),)
BUNDLE = parse_bundle("version: 1\ngroups: {g: [a]}\nrules: [{id: r, allow: {actors: {group: g}, actions: [read]}}]")
TOKENS = make_tokens([("ada", "secret")])


def test_the_four_ways_to_start():
    with pytest.raises(BadRequest, match="--unauthenticated"):
        _ = Settings(GRAPHS).mode
    assert Settings(GRAPHS, unauthenticated=True).mode is AuthMode.OPEN
    assert Settings(GRAPHS, TOKENS).mode is AuthMode.DEFAULT_DENY
    assert Settings(GRAPHS, TOKENS, BUNDLE).mode is AuthMode.POLICY
    with pytest.raises(BadRequest, match="no bearer token"):
        _ = Settings(GRAPHS, server_policy=BUNDLE, unauthenticated=True).mode


def test_an_open_server_stays_on_this_machine():
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.5"):
        check_bind(host, AuthMode.OPEN)
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.com", ""):
        with pytest.raises(BadRequest):
            check_bind(host, AuthMode.OPEN)
    check_bind("0.0.0.0", AuthMode.DEFAULT_DENY)


def test_tokens(tmp_path):
    (tmp_path / "tokens.json").write_text('{"ben": "two"}')
    tokens = read_tokens(
        {
            "OMNIGRAPH_SERVER_BEARER_TOKEN": "one",
            "OMNIGRAPH_SERVER_BEARER_TOKENS_FILE": str(tmp_path / "tokens.json"),
            "OMNIGRAPH_SERVER_BEARER_TOKENS_JSON": '{"cyd": "three"}',
        }
    )
    assert tokens.actor_of("Bearer one") == "default"
    assert tokens.actor_of("bearer two") == "ben"
    assert tokens.actors == ("default", "ben")
    for header, said in (
        (None, "missing"),
        ("Basic one", "missing"),
        ("Bearer ", "missing"),
        ("Bearer three", "invalid"),
    ):
        with pytest.raises(Unauthenticated, match=said):
            tokens.actor_of(header)
    assert "one" not in repr(tokens)


@pytest.mark.parametrize("pairs", [[("a", "t"), ("a", "u")], [("a", "t"), ("b", "t")], [("", "t")], [("a", " ")]])
def test_bad_tokens(pairs):
    with pytest.raises(BadRequest):
        make_tokens(pairs)


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', "{"])
def test_bad_token_documents(text):
    with pytest.raises(BadRequest):
        read_tokens({"OMNIGRAPH_SERVER_BEARER_TOKENS_JSON": text or "x"})


def test_every_digest_is_compared_in_constant_time(monkeypatch):
    import hmac

    seen = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: seen.append(len(a)) or real(a, b))
    tokens = make_tokens([("a", "1"), ("b", "2"), ("c", "3")])
    assert tokens.actor_of("Bearer 1") == "a"
    assert seen == [32, 32, 32]


def test_limits():
    assert limits_of({"OMNIGRAPH_PER_ACTOR_INFLIGHT_MAX": "3"}).actor_inflight_max == 3
    with pytest.raises(BadRequest):
        limits_of({"OMNIGRAPH_PER_ACTOR_BYTES_MAX": "lots"})


def test_admission_counts_by_actor():
    admission = Admission(Limits(actor_inflight_max=1, actor_bytes_max=10))
    with admission.hold("ada", 10):
        with pytest.raises(Overloaded) as refused, admission.hold("ada", 0):
            pass
        assert refused.value.retry_after_s == 60
        with admission.hold(None, 5):
            assert admission.inflight == 2
    with pytest.raises(Overloaded), admission.hold("ada", 11):
        pass
    assert admission.inflight == 0


def test_declarations(tmp_path):
    (tmp_path / "p.yaml").write_text(
        "version: 1\ngroups: {g: [a]}\nrules: [{id: r, allow: {actors: {group: g}, actions: [graph_list]}}]"
    )
    good = (
        "version: 1\ngraphs: {a: {uri: a.omni, queries: q}, b: {uri: 's3://x/b.omni', external_blobs: ['s3://x/y/']}}\n"
    )
    (tmp_path / "serve.yaml").write_text(good + "policy: p.yaml\n")
    graphs, policy = read_declaration(tmp_path / "serve.yaml")
    assert graphs[0] == GraphSettings("a", str(tmp_path / "a.omni"), (str(tmp_path / "q"),))
    assert graphs[1].uri == "s3://x/b.omni"
    assert policy is not None
    (tmp_path / "serve.yaml").write_text("version: 2\ngraphs: {a: {url: x, external_blobs: ['file:///etc/']}}\n")
    with pytest.raises(BadRequest) as refused:
        read_declaration(tmp_path / "serve.yaml")
    for said in ("version: it must be 1", "graphs.a.url: unknown key", "graphs.a.uri", "does not read files"):
        assert said in refused.value.message


def test_flags():
    assert graphs_from_flags(["s3://b/g.omni"])[0].id == "default"
    assert graphs_from_flags(["k=/data/g.omni", "s3://b/x=y"])[1].uri == "s3://b/x=y"
    for bad in ("policies=g.omni", "a b=g.omni"):
        with pytest.raises(BadRequest):
            graphs_from_flags([bad])
    assert parse_bind("[::1]:80") == ("::1", 80)
    for bad in ("8080", "host:", ":1", "h:99999"):
        with pytest.raises(BadRequest):
            parse_bind(bad)


@pytest.mark.parametrize(
    "base",
    [
        "/etc/",
        "file:///etc/",
        "s3://",
        "https://a:b@host/x/",
        "https://host/x",
        "s3://b/../c/",
        "s3://b/%2e%2e/",
        "s3://b/?x/",
        3,
    ],
)
def test_addresses_that_a_server_does_not_allow(base):
    assert blob_base_fault(base) is not None


def test_an_address_that_it_allows():
    assert blob_base_fault("s3://bucket/folder/") is None
