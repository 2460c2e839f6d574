"""Just enough of HTTP/1.1 to pass messages on byte by byte: heads are parsed, bodies only measured."""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

RECEIVE_BYTES = 256 * 1024


class Broken(Exception):
    """The other side went away in the middle of a message."""


@dataclass(frozen=True)
class Head:
    """Start line and headers of a request or an answer, with the bytes they came as."""

    raw: bytes

    @cached_property
    def _start(self) -> list[str]:
        return self.raw.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)

    @cached_property
    def headers(self) -> dict[str, str]:
        lines = self.raw.decode("latin-1").split("\r\n")[1:-2]
        split = (line.partition(":") for line in lines)
        return {name.strip().lower(): value.strip() for name, _, value in split}

    @property
    def method(self) -> str:
        return self._start[0]

    @property
    def target(self) -> str:
        return self._start[1]

    @property
    def status(self) -> int:
        return int(self._start[1])

    @property
    def chunked(self) -> bool:
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    @property
    def length(self) -> int | None:
        length = self.headers.get("content-length")
        return int(length) if length is not None else None

    @property
    def keeps_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


class Wire:
    """One TCP connection, read message by message."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._buffer = b""

    def send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def read_head(self) -> Head | None:
        """The next head, or None if the other side closed between messages."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if not self._fill():
                if self._buffer:
                    raise Broken
                return None
        raw, self._buffer = self._buffer[: end + 4], self._buffer[end + 4 :]
        return Head(raw)

    def request_body(self, head: Head) -> Iterator[bytes]:
        """The body as it is on the wire, chunk marks included."""
        return self._chunks() if head.chunked else self._exactly(head.length or 0)

    def answer_body(self, head: Head, method: str) -> Iterator[bytes]:
        """The same for an answer to `method`; one without a length lasts until the other side closes."""
        if method == "HEAD" or head.status in (204, 304):
            return iter(())
        if head.chunked:
            return self._chunks()
        return self._rest() if head.length is None else self._exactly(head.length)

    @property
    def quiet(self) -> bool:
        """Open and with nothing to read: fit for another request."""
        try:
            self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return not self._buffer
        except OSError:
            return False
        return False

    def shut(self) -> None:
        """Hang up; a thread that waits on this connection wakes."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._connection.close()

    def _fill(self) -> bool:
        try:
            received = self._connection.recv(RECEIVE_BYTES)
        except OSError as error:
            raise Broken from error
        self._buffer += received
        return bool(received)

    def _take(self, most: int) -> bytes:
        if not self._buffer and not self._fill():
            raise Broken
        taken, self._buffer = self._buffer[:most], self._buffer[most:]
        return taken

    def _exactly(self, length: int) -> Iterator[bytes]:
        while length:
            taken = self._take(length)
            length -= len(taken)
            yield taken

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if not self._fill():
                raise Broken
        return b"".join(self._exactly(end + 2))

    def _chunks(self) -> Iterator[bytes]:
        while True:
            size_line = self._line()
            yield size_line
            size = int(size_line.partition(b";")[0], 16)
            if size == 0:
                break
            yield from self._exactly(size + 2)
        while (trailer := self._line()) != b"\r\n":
            yield trailer
        yield b"\r\n"

    def _rest(self) -> Iterator[bytes]:
        while self._buffer or self._fill():
            yield self._take(RECEIVE_BYTES)


def gather(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Head and body in pieces worth a system call each; a small message is one piece."""
    held = head
    for piece in pieces:
        if len(held) >= RECEIVE_BYTES:
            yield held
            held = b""
        held += piece
    yield held
