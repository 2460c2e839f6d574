"""Where records come from: each kind of place, and what is said when it is not there."""

import bz2
import gzip
import io
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import obstore
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnigraph.model.errors import BadRequest, NotFound, ResourceLimit, StoreUnavailable
from omnigraph.write.sources import CHUNK_RECORDS, open_lines, split_lines
from tests.support import MinistackServer

TEXT = b'{"a":1}\n{"b":2}\n\n{"c":3}'
LINES = TEXT.split(b"\n")


PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True)}


def lines_of(source: object, **options: object) -> list[bytes]:
    return [line for _, chunk in open_lines(source, **options) for line in chunk]  # type: ignore[misc]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_bytes(TEXT)
    return path


def test_paths(file: Path) -> None:
    for source in (file, str(file), file.as_uri()):
        assert lines_of(source) == LINES
    opened = open_lines(file)
    assert (opened.size, opened.word, opened.name) == (len(TEXT), "line", str(file))
    assert [(number, list(chunk)) for number, chunk in opened] == [(1, LINES[:3]), (4, LINES[3:])]
    assert opened.consumed() == len(TEXT)


def test_bytes_and_file_objects(file: Path) -> None:
    assert lines_of(TEXT) == LINES
    assert lines_of(memoryview(TEXT)) == LINES
    assert lines_of(io.BytesIO(TEXT)) == LINES
    assert lines_of(io.StringIO('{"é":1}\n{}')) == ['{"é":1}'.encode(), b"{}"]
    with file.open("rb") as opened:
        assert lines_of(opened) == LINES
        assert not opened.closed


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert lines_of("-") == LINES


@pytest.mark.parametrize("suffix", PACK)
def test_compressed(suffix: str, tmp_path: Path) -> None:
    packed = PACK[suffix](TEXT)
    path = tmp_path / ("data.jsonl" + suffix)
    path.write_bytes(packed)
    source = open_lines(path)
    assert source.size == len(packed)
    assert [(number, list(chunk)) for number, chunk in source] == [(1, LINES[:3]), (4, LINES[3:])]
    assert source.consumed() == len(packed)
    assert lines_of(packed) == LINES


def test_packed_files_one_after_the_other() -> None:
    for suffix, pack in PACK.items():
        assert lines_of(pack(b"{}\n") + pack(b"[]\n")) == [b"{}", b"[]"], suffix


@pytest.mark.parametrize("suffix", PACK)
def test_damaged_files(suffix: str, tmp_path: Path) -> None:
    packed = PACK[suffix](os.urandom(100_000))
    cut, changed = packed[: len(packed) // 2], packed[:1000] + b"xxxx" * 100 + packed[1400:]
    for damaged in (cut,) if suffix == ".zst" else (cut, changed):  # zstd frames need not have a checksum
        path = tmp_path / ("data" + suffix)
        path.write_bytes(damaged)
        with pytest.raises(BadRequest, match=r"is damaged: it cannot be unpacked as"):
            lines_of(path)


def test_wrong_compression(tmp_path: Path) -> None:
    path = tmp_path / "data.gz"
    path.write_bytes(TEXT)
    with pytest.raises(BadRequest, match="should be gzip by its name, but it is not compressed"):
        open_lines(path)
    path.write_bytes(bz2.compress(TEXT))
    with pytest.raises(BadRequest, match="should be gzip by its name, but it is bz2"):
        open_lines(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        open_lines(tmp_path / "nope")
    with pytest.raises(NotFound, match="JSON text is given as bytes"):
        open_lines('{"type":"Person"}')
    with pytest.raises(BadRequest, match="is a folder: name a file in it"):
        open_lines(tmp_path)
    with pytest.raises(BadRequest, match="use a path, file://"):
        open_lines("ftp://host/file")
    with pytest.raises(BadRequest, match="names no bucket"):
        open_lines("s3:///key")
    with pytest.raises(BadRequest, match="cannot read"):
        open_lines("a\x00b")
    with pytest.raises(BadRequest, match="cannot read"):
        open_lines("x" * 5000)
    with pytest.raises(BadRequest, match="cannot read from a int"):
        open_lines(7)
    with pytest.raises(BadRequest, match="a dict is no input"):
        open_lines({"type": "Person"})


# -- lines ---------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")), max_size=12), st.integers(1, 20))
def test_chunks_hold_the_same_lines(lines: list[bytes], chunk_bytes: int) -> None:
    text = b"\n".join(lines)
    found: list[bytes] = []
    for number, chunk in split_lines(io.BytesIO(text).read, chunk_bytes):
        assert number == len(found) + 1
        found += chunk
    expected = text.split(b"\n")
    assert found == (expected if expected[-1] else expected[:-1])


def test_a_line_has_a_limit() -> None:
    for text in (b"x" * 101, b"x" * 101 + b"\n", b"ok\n" + b"x" * 101 + b"\nok", b"ok\nok\n" + b"x" * 101):
        for chunk_bytes in (10, 64, 1000):
            with pytest.raises(ResourceLimit):
                list(split_lines(io.BytesIO(text).read, chunk_bytes, 100))
            assert list(split_lines(io.BytesIO(text).read, chunk_bytes, 101))


# -- records -------------------------------------------------------------------------------------------


def test_records_come_in_chunks() -> None:
    source = open_lines({"n": n} for n in range(CHUNK_RECORDS + 1))
    assert (source.word, source.size) == ("record", None)
    assert [(number, len(chunk)) for number, chunk in source] == [(1, CHUNK_RECORDS), (CHUNK_RECORDS + 1, 1)]


def test_records_may_be_texts() -> None:
    chunks = list(open_lines(['{"a":1}', b"{}", bytearray(b"{}"), {"b": 2}, "{}\n"]))
    assert chunks == [(1, [b'{"a":1}']), (2, [b"{}", b"{}"]), (4, [{"b": 2}]), (5, [b"{}\n"])]


def test_records_of_another_kind() -> None:
    with pytest.raises(BadRequest, match="record 2 is a int"):
        list(open_lines([{}, 7]))


# -- elsewhere -----------------------------------------------------------------------------------------


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = {"/data.jsonl.gz": 200, "/data.jsonl": 200, "/short": 200, "/private": 403, "/broken": 500}.get(
            self.path, 404
        )
        body = gzip.compress(TEXT) if self.path.endswith(".gz") else TEXT
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) + 10 * (self.path == "/short")))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Pages) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_the_web(web: str) -> None:
    assert lines_of(web + "/data.jsonl") == LINES
    assert lines_of(web + "/data.jsonl.gz") == LINES
    with pytest.raises(NotFound, match="HTTP 404"):
        open_lines(web + "/nope")
    with pytest.raises(Exception, match="no permission"):
        open_lines(web + "/private")
    with pytest.raises(StoreUnavailable, match="HTTP 500"):
        open_lines(web + "/broken")
    with pytest.raises(StoreUnavailable, match="ended after"):
        lines_of(web + "/short")
    with pytest.raises(StoreUnavailable):
        open_lines("http://127.0.0.1:1/x")


@pytest.mark.s3
def test_an_object_store(ministack: MinistackServer) -> None:
    bucket = ministack.bucket()
    store = ministack.store(bucket)
    big = b"\n".join(b'{"n":%d}' % n for n in range(1_200_000))
    for key, data in (("in/data.jsonl", big), ("top.jsonl.gz", gzip.compress(TEXT)), ("empty", b"")):
        obstore.put(store, key, data)
    options = ministack.storage_options
    source = open_lines(f"s3://{bucket}/in/data.jsonl", options)
    assert source.size == len(big) > 8 << 20
    assert b"\n".join(line for _, chunk in source for line in chunk) == big  # type: ignore[misc]
    assert lines_of(f"s3://{bucket}/top.jsonl.gz", options=options) == LINES
    assert lines_of(f"s3://{bucket}/empty", options=options) == []
    with pytest.raises(NotFound):
        open_lines(f"s3://{bucket}/nope", options)
    with pytest.raises(NotFound):
        open_lines("s3://no-such-bucket-here/x", options)
