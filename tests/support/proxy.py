"""A reverse proxy on loopback that counts S3 requests, adds latency and breaks them on demand.

One thread and one upstream connection per client connection; the Host header goes through unchanged, so
signatures hold. A request is recorded when its head has arrived and ends just before the last bytes of its
answer leave: whoever has an answer finds it counted, and a request caused by it starts after its end.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Generator
from typing import Self
from urllib.parse import urlsplit

from tests.support.endpoint import S3Endpoint
from tests.support.exchange import Counts, Exchange
from tests.support.fault import Fault
from tests.support.http1 import Broken, Head, Wire, gather

__all__ = ["CountingProxy", "Counts", "Exchange", "Fault"]

STALE_S = 1.0  # an upstream connection that idled longer may be closing under us: take a new one


class CountingProxy(S3Endpoint):
    """Stands before one server. `fault` sees each request and may break it; `latency_s` delays each."""

    def __init__(self, upstream_endpoint: str, latency_s: float = 0.0) -> None:
        upstream = urlsplit(upstream_endpoint)
        assert upstream.hostname in ("127.0.0.1", "localhost"), "the proxy only talks to loopback"
        self._upstream = ("127.0.0.1", upstream.port or 80)
        self.latency_s = latency_s
        self.fault: Callable[[Exchange], Fault | None] | None = None
        self.exchanges: list[Exchange] = []
        self._wires: set[Wire] = set()
        self._pending = 0
        self._changed = threading.Condition()
        self._choosing = threading.Lock()  # so that a fault hook may count without a lock of its own

    def start(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def stop(self) -> None:
        """Close every connection and wait for their threads."""
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor
        self._acceptor.join()
        self._listener.close()
        with self._changed:
            for wire in self._wires:
                wire.shut()
            self._changed.wait_for(lambda: not self._wires, timeout=30)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @contextlib.contextmanager
    def counting(self) -> Generator[Counts]:
        """What passes while the block runs; readable inside the block too, fixed after it."""
        counts = Counts(self.exchanges, first=len(self.exchanges))
        try:
            yield counts
        finally:
            counts.close()

    def settle(self, timeout_s: float = 300.0) -> None:
        """Wait until nothing is under way, requests that land late included."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._pending == 0, timeout_s), "requests are still under way"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            wire = Wire(client)
            with self._changed:
                self._wires.add(wire)
            threading.Thread(target=self._serve, args=(wire,), daemon=True).start()

    def _serve(self, client: Wire) -> None:
        link = Upstream(self._upstream)
        try:
            with contextlib.suppress(Broken, OSError):
                while (head := client.read_head()) is not None and self._exchange(client, head, link):
                    pass
        finally:
            link.close()
            client.close()
            with self._changed:
                self._wires.discard(client)
                self._changed.notify_all()

    def _exchange(self, client: Wire, head: Head, link: "Upstream") -> bool:
        """Carry one request; false when the client's connection is to be closed."""
        exchange = Exchange.begin(head)
        with self._changed:
            self.exchanges.append(exchange)
            self._pending += 1
        try:
            fault = self._choose(exchange)
            time.sleep(self.latency_s)
            if head.headers.get("expect"):
                client.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            keep = _break(client, exchange, head, link, fault) if fault else _forward(client, exchange, head, link)
            return keep and head.keeps_alive
        finally:
            exchange.finish()
            with self._changed:
                self._pending -= 1
                self._changed.notify_all()

    def _choose(self, exchange: Exchange) -> Fault | None:
        if self.fault is None:
            return None
        with self._choosing:
            fault = self.fault(exchange)
        exchange.fault = fault.kind if fault else None
        return fault


class Upstream:
    """The server's side of one client connection, opened again when it has idled or was closed."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._wire: Wire | None = None
        self._used_s = 0.0

    def open(self) -> Wire:
        if self._wire and (time.monotonic() - self._used_s > STALE_S or not self._wire.quiet):
            self.close()
        if self._wire is None:
            self._wire = Wire(socket.create_connection(self._address, timeout=None))
        return self._wire

    def read_answer(self, wire: Wire) -> Head:
        while (answer := wire.read_head()) is not None:
            if answer.status >= 200:
                return answer
        raise Broken

    def done(self, answer: Head) -> None:
        self._used_s = time.monotonic()
        if not answer.keeps_alive:
            self.close()

    def deliver(self, head: Head, body: bytes) -> tuple[Head, bytes]:
        """Send a whole request and wait for the whole answer."""
        wire = self.open()
        wire.send(head.raw + body)
        answer = self.read_answer(wire)
        answer_body = b"".join(wire.answer_body(answer, head.method))
        self.done(answer)
        return answer, answer_body

    def close(self) -> None:
        if self._wire:
            self._wire.close()
        self._wire = None


def _forward(client: Wire, exchange: Exchange, head: Head, link: Upstream) -> bool:
    wire = link.open()
    body_sent = True
    for piece in gather(head.raw, client.request_body(head)):
        exchange.bytes_in += len(piece)
        try:
            wire.send(piece)
        except OSError:  # the server refused before it had read everything: pass on what it said
            body_sent = False
            break
    answer = link.read_answer(wire)
    exchange.status = answer.status
    exchange.landed.append(answer.status)
    pieces = gather(answer.raw, wire.answer_body(answer, head.method))
    held = next(pieces)
    for piece in pieces:
        exchange.bytes_out += len(held)
        client.send(held)
        held = piece
    exchange.bytes_out += len(held)
    link.done(answer)
    exchange.finish()
    client.send(held)
    return body_sent and answer.keeps_alive and (answer.chunked or answer.length is not None or not held)


def _break(client: Wire, exchange: Exchange, head: Head, link: Upstream, fault: Fault) -> bool:
    if fault.kind == "drop":
        return False
    if fault.kind == "delay":
        fault.wait()
        return _forward(client, exchange, head, link)
    body = b"".join(client.request_body(head))
    exchange.bytes_in = len(head.raw) + len(body)
    if fault.kind == "answer":
        exchange.status = fault.status
        exchange.finish()
        client.send(fault.response(head.method))
        return True
    if fault.hang_up:
        client.shut()
    fault.wait()
    answers = [link.deliver(head, body) for _ in range(2 if fault.kind == "twice" else 1)]
    exchange.landed.extend(answer.status for answer, _ in answers)
    if fault.kind != "twice":
        return False
    answer, answer_body = answers[0 if fault.answered == "first" else -1]
    exchange.status, exchange.bytes_out = answer.status, len(answer.raw) + len(answer_body)
    exchange.finish()
    client.send(answer.raw + answer_body)
    return True
