"""A provider of embeddings on this machine, which does what a test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str, dict[str, Any]], tuple[int, object]]


@dataclass
class FakeProvider:
    """What was asked, and where."""

    base_url: str
    calls: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    """Sent with every answer."""


def openai_answer(path: str, body: dict[str, Any]) -> tuple[int, object]:
    """A vector that says how long the text is; in reverse order, because `index` is what counts."""
    items = [
        {"index": at, "embedding": [float(len(text)), 1.0] + [0.0] * (body["dimensions"] - 2)}
        for at, text in enumerate(body["input"])
    ]
    return 200, {"data": items[::-1]}


@contextmanager
def provider(answer: Answer = openai_answer) -> Iterator[FakeProvider]:
    """Run the provider while a test asks it."""
    found = FakeProvider("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.calls.append((self.path, dict(self.headers.items()), body))
            status, document = answer(self.path, body)
            data = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        found.base_url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
