"""A server as users run it: a process of its own, and a client that checks every answer against the contract."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

import httpx
import jsonschema_rs

from tests.support.eventually import HANGS_S

CONTRACT = json.loads((Path(__file__).parent / "contract.json").read_text())
SCHEMA = """
node Person {
    name: String @key
    age: I32?
    photo: Blob?
}

node Secret {
    code: String @key
}

edge Knows: Person -> Person {
    since: Date?
}
"""
DATA = """{"type":"Person","data":{"name":"ada","age":36,"photo":"base64:aGVsbG8gd29ybGQ="}}
{"type":"Person","data":{"name":"ben","age":41,"photo":"base64:"}}
{"type":"Secret","data":{"code":"xyzzy"}}
{"edge":"Knows","from":"ada","to":"ben","data":{"since":"2024-05-01"}}
"""


class ServerProcess:
    """`omnigraph serve`, on a port of its own."""

    def __init__(self, *arguments: str, folder: Path, env: dict[str, str] | None = None) -> None:
        self._log = (folder / "server.log").open("ab")
        self.log_path = folder / "server.log"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OMNIGRAPH_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "omnigraph", "serve", "--bind", "127.0.0.1:0", *arguments],
            cwd=folder,
            env={**clean, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._clients: list[Client] = []
        self.url = f"http://{self._address()}"

    def _address(self) -> str:
        assert self.process.stdout is not None
        lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=lambda: lines.put(self.process.stdout.readline()), daemon=True).start()
        line = lines.get(timeout=HANGS_S).decode()
        assert line.startswith("OMNIGRAPH_LISTEN_ADDR="), self.log_path.read_text()
        return line.strip().partition("=")[2]

    def client(self, token: str | None = None, graph: str = "g") -> Client:
        made = Client(self.url, token, graph)
        self._clients.append(made)
        return made

    def stop(self, how: int = signal.SIGINT) -> int:
        for client in self._clients:
            client.http.close()
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=HANGS_S)
        self.process.stdout.close()
        self._log.close()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)


class Client:
    """Speaks HTTP to one graph; an answer that the contract does not describe fails the test."""

    def __init__(self, url: str, token: str | None, graph: str) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=HANGS_S)
        self.graph = graph

    def __call__(self, method: str, path: str, expect: int = 200, **how: Any) -> httpx.Response:
        """A request about the graph; `path` is relative to it."""
        return self.flat(method, f"/graphs/{self.graph}{path}", expect, **how)

    def flat(self, method: str, path: str, expect: int = 200, **how: Any) -> httpx.Response:
        answer = self.http.request(method, path, **how)
        assert answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        assert answer.headers["x-request-id"]
        check_contract(method, path.partition("?")[0], answer)
        return answer

    def post(self, path: str, body: object = None, expect: int = 200, **how: Any) -> Any:
        return self("POST", path, expect, json=body if body is not None else {}, **how).json()

    def get(self, path: str, expect: int = 200, **how: Any) -> Any:
        return self("GET", path, expect, **how).json()

    def load(self, lines: str, expect: int = 200, **params: str) -> Any:
        headers = {"content-type": "application/x-ndjson"}
        return self("POST", "/load/ndjson", expect, content=lines.encode(), params=params, headers=headers).json()


def check_contract(method: str, path: str, answer: httpx.Response) -> None:
    """Compare an answer with what the contract says of its route and status."""
    operation = _operation(method, path)
    if operation is None:
        return
    described = operation["responses"].get(str(answer.status_code))
    if described is None:
        schema: dict[str, Any] = {"$ref": "#/components/schemas/ErrorOutput"}
        assert answer.status_code >= 400, f"{path}: {answer.status_code} is not described"
    else:
        schema = described.get("content", {}).get("application/json", {}).get("schema")
    if schema is None or method == "HEAD" or answer.status_code == 304:
        return
    assert answer.headers["content-type"].startswith("application/json")
    problems = list(_validator(schema).iter_errors(answer.json()))
    assert not problems, f"{method} {path}: {problems[0].message}: {answer.text[:300]}"


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({**schema, "components": CONTRACT["components"]})


def _operation(method: str, path: str) -> dict[str, Any] | None:
    parts = path.strip("/").split("/")
    for template, operations in CONTRACT["paths"].items():
        names = template.strip("/").split("/")
        fits = len(names) == len(parts) and all(
            name == part or name.startswith("{") for name, part in zip(names, parts, strict=True)
        )
        exact = sum(name == part for name, part in zip(names, parts, strict=False))
        if fits and exact >= len(names) - template.count("{") and method.lower() in operations:
            return operations[method.lower()]
    return None
