"""An S3-like store in memory that ignores `If-None-Match: *`: it loses updates and must be refused."""

import hashlib
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from tests.support.endpoint import S3Endpoint

PAGE_KEYS = 1000


@dataclass(frozen=True)
class Stored:
    data: bytes
    modified: datetime

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.data).hexdigest()}"'


class CarelessServer(S3Endpoint):
    """PUT, GET, HEAD, LIST (v2) and DELETE, all without conditions; a context manager like the others."""

    def __init__(self) -> None:
        self.buckets: dict[str, dict[str, Stored]] = {}

    def start(self) -> Self:
        handler = type("Handler", (_Handler,), {"buckets": self.buckets})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # kept-alive connections end when their client goes
    request_queue_size = 256


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet for head and body
    buckets: dict[str, dict[str, Stored]]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: pytest's output belongs to the tests."""

    def do_PUT(self) -> None:
        bucket, key, _ = self._address()
        data = self._body()
        if not key:
            self.buckets.setdefault(bucket, {})
            return self._answer(200)
        if bucket not in self.buckets:
            return self._error(404, "NoSuchBucket")
        stored = Stored(data, datetime.now(UTC))
        self.buckets[bucket][key] = stored
        return self._answer(200, headers={"ETag": stored.etag})

    def do_GET(self) -> None:
        bucket, key, query = self._address()
        if bucket not in self.buckets:
            return self._error(404, "NoSuchBucket")
        if not key:
            return self._list(bucket, query)
        stored = self.buckets[bucket].get(key)
        if stored is None:
            return self._error(404, "NoSuchKey")
        headers = {"ETag": stored.etag, "Last-Modified": format_datetime(stored.modified, usegmt=True)}
        span = self.headers.get("Range")
        if span is None:
            return self._answer(200, stored.data, headers)
        size = len(stored.data)
        first, _, last = span.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, size - int(last))
        end = min(size, int(last) + 1) if first and last else size
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        return self._answer(206, stored.data[start:end], headers)

    do_HEAD = do_GET

    def do_DELETE(self) -> None:
        bucket, key, _ = self._address()
        self.buckets.get(bucket, {}).pop(key, None)
        self._answer(204)

    def do_POST(self) -> None:
        """Delete of many objects, the only POST that S3 clients send here."""
        bucket, _, query = self._address()
        body = self._body()
        if "delete" not in query:
            return self._error(501, "NotImplemented")
        asked = ET.fromstring(body)
        keys = [found.text or "" for found in asked.iter() if found.tag.rpartition("}")[2] == "Key"]
        for key in keys:
            self.buckets.get(bucket, {}).pop(key, None)
        deleted = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
        return self._answer(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def _list(self, bucket: str, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after", "")
        limit = min(int(query.get("max-keys", PAGE_KEYS)), PAGE_KEYS)
        names: dict[str, str] = {}  # name in the answer → its element
        truncated = False
        for key, stored in sorted(self.buckets[bucket].items()):
            if not key.startswith(prefix):
                continue
            head, cut, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            name = prefix + head + cut if cut else key
            if name <= after or name in names:
                continue
            if len(names) == limit:
                truncated = True
                break
            folder = f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
            names[name] = folder if cut else _contents(key, stored)
        token = f"<NextContinuationToken>{escape(list(names)[-1])}</NextContinuationToken>" if truncated else ""
        listing = f"<IsTruncated>{str(truncated).lower()}</IsTruncated>{token}{''.join(names.values())}"
        self._answer(200, f"<ListBucketResult><Name>{bucket}</Name>{listing}</ListBucketResult>".encode())

    def _address(self) -> tuple[str, str, dict[str, str]]:
        url = urlsplit(self.path)
        bucket, _, key = url.path.lstrip("/").partition("/")
        query = {name: found[0] for name, found in parse_qs(url.query, keep_blank_values=True).items()}
        return bucket, unquote(key), query

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _error(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _contents(key: str, stored: Stored) -> str:
    modified = stored.modified.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    version = f"<LastModified>{modified}</LastModified><ETag>{escape(stored.etag)}</ETag>"
    return f"<Contents><Key>{escape(key)}</Key>{version}<Size>{len(stored.data)}</Size></Contents>"
