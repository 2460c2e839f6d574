"""Blobs over HTTP: whole, in part, on conditions."""

import pytest

WHERE = {"entity": "node", "type": "Person", "id": "ada", "property": "photo"}


def get(client, expect=200, method="GET", headers=None, **where):
    return client(method, "/blob", expect, params={**WHERE, **where}, headers=headers or {})


def test_a_whole_blob(client):
    answer = get(client)
    assert answer.content == b"hello world"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-length"] == "11"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["omnigraph-snapshot-id"]
    head = get(client, method="HEAD", headers={"Range": "bytes=0-1"})
    assert head.content == b""
    assert head.headers["content-length"] == "11"
    assert head.headers["etag"] == answer.headers["etag"]
    assert get(client, snapshot=answer.headers["omnigraph-snapshot-id"]).content == b"hello world"
    assert get(client, id="ben").content == b""


@pytest.mark.parametrize(
    ("wanted", "got", "said"),
    [
        ("bytes=0-4", b"hello", "bytes 0-4/11"),
        ("bytes=6-", b"world", "bytes 6-10/11"),
        ("bytes=-3", b"rld", "bytes 8-10/11"),
        ("bytes=6-999", b"world", "bytes 6-10/11"),
    ],
)
def test_a_part(client, wanted, got, said):
    answer = get(client, 206, headers={"Range": wanted})
    assert answer.content == got
    assert answer.headers["content-range"] == said


@pytest.mark.parametrize("wanted", ["bytes=0-1,3-4", "lines=0-1", "bytes=x-y", "bytes=5-2", "bytes=-", "0-1"])
def test_ranges_that_are_ignored(client, wanted):
    assert get(client, headers={"Range": wanted}).content == b"hello world"


@pytest.mark.parametrize("wanted", ["bytes=11-", "bytes=99-100", "bytes=-0"])
def test_ranges_that_hold_nothing(client, wanted):
    answer = get(client, 416, headers={"Range": wanted})
    assert answer.headers["content-range"] == "bytes */11"
    assert answer.json()["blob_range"]["length"] == 11


def test_conditions(client):
    etag = get(client).headers["etag"]
    assert get(client, 412, headers={"If-Match": '"other"'}).json()["code"] == "conflict"
    assert get(client, 412, headers={"If-Match": f"W/{etag}"})
    assert get(client, headers={"If-Match": f'"other", {etag}'})
    assert get(client, headers={"If-Match": "*"})
    assert get(client, 304, headers={"If-None-Match": f"W/{etag}"}).content == b""
    assert get(client, 304, headers={"If-None-Match": "*"})
    assert get(client, headers={"If-None-Match": '"other"'})
    assert get(client, 206, headers={"If-Range": etag, "Range": "bytes=0-0"})
    assert get(client, headers={"If-Range": '"other"', "Range": "bytes=0-0"})
    assert get(client, 412, headers={"If-Match": '"other"', "If-None-Match": etag})


def test_what_is_not_there(client):
    assert get(client, 404, id="nobody")
    assert get(client, 404, type="Nothing")
    assert get(client, 400, property="age")
    assert get(client, 400, entity="thing")
    assert get(client, 400, branch="main", snapshot="x")
    assert get(client, 404, snapshot="x")
    client.load('{"type":"Person","data":{"name":"nil"}}\n')
    assert get(client, 404, id="nil")
