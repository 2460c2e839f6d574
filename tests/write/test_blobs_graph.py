"""Bytes in a graph: written by load and mutation, read whole or in part, carried along by updates."""

from __future__ import annotations

import base64
import contextlib
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import omnigraph as og
from omnigraph.model.errors import BadRequest, NotFound, ResourceLimit
from omnigraph.model.violations import ValidationFailed, ViolationKind
from omnigraph.write.blob_policy import COPIED_BYTES_MAX

SCHEMA = """
node Doc { name: String @key  body: Blob?  title: String? }
node Sealed { name: String @key  body: Blob }
"""
DATA = bytes(range(256)) * 100


def encoded(data: bytes) -> str:
    return "base64:" + base64.b64encode(data).decode()


def doc(name: str, body: object, kind: str = "Doc") -> dict:
    return {"type": kind, "data": {"name": name, "body": body}}


@pytest.fixture
def g(tmp_path) -> og.Graph:
    graph = og.init(tmp_path / "g.omni", SCHEMA)
    graph.load([doc("full", encoded(DATA)), doc("empty", encoded(b"")), doc("none", None)], mode="append")
    return graph


def test_read_whole_and_in_part(g) -> None:
    assert g.blobs.read("node", "Doc", "full", "body") == DATA
    assert g.blobs.read("node", "Doc", "full", "body", offset=250, length=10) == DATA[250:260]
    assert g.blobs.read("node", "Doc", "full", "body", offset=len(DATA) - 3) == DATA[-3:]
    assert g.blobs.read("node", "Doc", "full", "body", offset=len(DATA) - 3, length=100) == DATA[-3:]


def test_null_is_not_empty(g) -> None:
    assert g.blobs.read("node", "Doc", "empty", "body") == b""
    assert g.blobs.stat("node", "Doc", "empty", "body").size == 0
    with pytest.raises(NotFound, match="is null"):
        g.blobs.read("node", "Doc", "none", "body")


def test_stat(g) -> None:
    stat = g.blobs.stat("node", "Doc", "full", "body")
    assert (stat.kind, stat.size, stat.uri) == ("managed", len(DATA), None)
    assert stat.etag is not None
    assert stat.etag.startswith('"')
    assert stat.etag == g.blobs.stat("node", "Doc", "full", "body").etag
    g.mutate('query q() { update Doc set { title: "t" } where name = "full" }\n')
    assert g.blobs.stat("node", "Doc", "full", "body").etag != stat.etag


@pytest.mark.parametrize(
    ("selector", "error"),
    [
        (("node", "Doc", "nobody", "body"), NotFound),
        (("node", "Dox", "full", "body"), NotFound),
        (("node", "Doc", "full", "title"), BadRequest),
        (("thing", "Doc", "full", "body"), BadRequest),
    ],
)
def test_what_is_not_there(g, selector, error) -> None:
    with pytest.raises(error):
        g.blobs.read(*selector)


def test_bad_ranges(g) -> None:
    for how in ({"offset": -1}, {"length": 0}, {"offset": len(DATA)}, {"offset": len(DATA) + 5}):
        with pytest.raises(BadRequest):
            g.blobs.read("node", "Doc", "full", "body", **how)


def test_an_update_keeps_the_bytes(g) -> None:
    before = g.snapshot().commit_id
    g.mutate('query q() { update Doc set { title: "t" } where name = "full" or name = "empty" or name = "none" }\n')
    assert g.blobs.read("node", "Doc", "full", "body") == DATA
    assert g.blobs.read("node", "Doc", "empty", "body") == b""
    with pytest.raises(NotFound):
        g.blobs.read("node", "Doc", "none", "body")
    assert g.blobs.read("node", "Doc", "full", "body", commit=before) == DATA


def test_a_mutation_takes_bytes_by_parameter(g) -> None:
    g.mutate('query q($b: Blob) { insert Doc { name: "new", body: $b } }\n', None, {"b": encoded(b"xyz")})
    assert g.blobs.read("node", "Doc", "new", "body") == b"xyz"
    g.mutate('query q($b: Blob) { update Doc set { body: $b } where name = "new" }\n', None, {"b": encoded(b"abc")})
    assert g.blobs.read("node", "Doc", "new", "body") == b"abc"


def test_python_gives_bytes_or_a_path(g, tmp_path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"from a file")
    g.load([doc("bytes", b"raw"), doc("path", path)], mode="append")
    assert g.blobs.read("node", "Doc", "bytes", "body") == b"raw"
    assert g.blobs.read("node", "Doc", "path", "body") == b"from a file"


def test_bad_base64_is_reported(g) -> None:
    with pytest.raises(ValidationFailed) as error:
        g.load([doc("x", "base64:???")], mode="append")
    assert error.value.counts == {ViolationKind.BLOB: 1}


def test_a_required_blob(g) -> None:
    with pytest.raises(ValidationFailed, match="non-nullable property 'body'"):
        g.load([doc("x", None, "Sealed")], mode="append")
    g.load([doc("x", b"", "Sealed")], mode="append")
    assert g.blobs.read("node", "Sealed", "x", "body") == b""


def test_references_are_refused_unless_allowed(g) -> None:
    with pytest.raises(ValidationFailed, match="is not allowed here"):
        g.load([doc("x", "s3://bucket/key")], mode="append")


def test_allowed_references_are_copied_or_kept(g, tmp_path) -> None:
    (tmp_path / "out.bin").write_bytes(b"outside")
    base = f"file://{tmp_path}/"
    g = og.open(tmp_path / "g.omni", external_blobs=(base,))
    g.load([doc("copied", base + "out.bin")], mode="merge")
    assert g.blobs.read("node", "Doc", "copied", "body") == b"outside"
    with pytest.raises(ValidationFailed, match="not below an allowed address"):
        g.load([doc("x", "file:///etc/passwd")], mode="merge")
    with pytest.raises(ValidationFailed, match="cannot be read"):
        g.load([doc("x", base + "missing.bin")], mode="merge")
    g.load([doc("kept", base + "out.bin")], mode="overwrite")
    stat = g.blobs.stat("node", "Doc", "kept", "body")
    assert (stat.kind, stat.uri, stat.etag) == ("external", base + "out.bin", None)
    with pytest.raises(BadRequest, match="is a reference to"):
        g.blobs.read("node", "Doc", "kept", "body")


class _Outside(BaseHTTPRequestHandler):
    """What somebody else's server may answer with."""

    sent = 0

    def do_GET(self) -> None:
        if self.path == "/open/away":
            self.send_response(302)
            self.send_header("Location", "/secret")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        if self.path == "/open/endless":
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(bytes(1 << 20))
                    type(self).sent += 1 << 20
        else:
            self.wfile.write({"/open/packed.gz": gzip.compress(b"inside"), "/secret": b"secret"}[self.path])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def outside() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Outside) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/open/"
        server.shutdown()
        thread.join()


def test_what_a_reference_names_is_taken_as_it_is_and_no_more_than_there_is_room_for(g, tmp_path, outside) -> None:
    g = og.open(tmp_path / "g.omni", external_blobs=(outside,))
    g.load([doc("packed", outside + "packed.gz")], mode="merge")
    assert gzip.decompress(g.blobs.read("node", "Doc", "packed", "body")) == b"inside"
    with pytest.raises(ResourceLimit) as refused:
        g.load([doc("endless", outside + "endless")], mode="merge")
    assert refused.value.facts["resource"] == "external Blob object bytes"
    assert refused.value.facts["limit"] == COPIED_BYTES_MAX
    assert _Outside.sent < 4 * COPIED_BYTES_MAX, "it stopped reading"
    with pytest.raises(ValidationFailed, match="HTTP 302"):
        g.load([doc("away", outside + "away")], mode="merge")


def test_many_small_writes_fold_and_keep_their_bytes(g) -> None:
    for number in range(40):
        g.load([doc(f"d{number}", f"{number}".encode())], mode="append")
    assert [g.blobs.read("node", "Doc", f"d{n}", "body") for n in (0, 20, 39)] == [b"0", b"20", b"39"]
    assert g.blobs.read("node", "Doc", "full", "body") == DATA


def test_a_schema_change_keeps_the_bytes(g) -> None:
    g.schema.apply(SCHEMA.replace("body: Blob?", 'content: Blob? @rename_from("body")\n  pages: I32 @default(1)'))
    assert g.blobs.read("node", "Doc", "full", "content") == DATA
    assert g.blobs.read("node", "Doc", "empty", "content") == b""


def test_blobs_stay_when_another_property_is_dropped_for_good(g) -> None:
    g.schema.apply(SCHEMA.replace("title: String?", ""), allow_data_loss=True)
    assert g.blobs.read("node", "Doc", "full", "body") == DATA
    assert g.blobs.read("node", "Doc", "empty", "body") == b""
    with pytest.raises(NotFound, match="is null"):
        g.blobs.read("node", "Doc", "none", "body")
