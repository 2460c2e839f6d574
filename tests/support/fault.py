"""What can go wrong between a client and its store, as data."""

import threading
import time
from dataclasses import dataclass
from typing import Literal, Self


@dataclass(frozen=True)
class Fault:
    """Made by one of the constructors; returned by a proxy's `fault` hook for the request it should hit."""

    kind: Literal["drop", "lose_answer", "twice", "land_later", "delay", "answer"]
    seconds: float = 0.0
    until: threading.Event | None = None
    hang_up: bool = False
    answered: Literal["first", "last"] = "first"
    status: int = 0
    code: str = ""

    @classmethod
    def drop(cls) -> Self:
        """Close the connection; the server never sees the request."""
        return cls("drop")

    @classmethod
    def lose_answer(cls) -> Self:
        """The request lands, then the connection closes without an answer."""
        return cls("lose_answer")

    @classmethod
    def twice(cls, answered: Literal["first", "last"] = "first") -> Self:
        """The request lands twice, one after the other; the client gets one of the two answers."""
        return cls("twice", answered=answered)

    @classmethod
    def land_later(cls, when: float | threading.Event, *, hang_up: bool = False) -> Self:
        """No answer ever; the request lands after some seconds, or when it is told. `hang_up` spares the client its
        timeout."""
        if isinstance(when, threading.Event):
            return cls("land_later", until=when, hang_up=hang_up)
        return cls("land_later", seconds=when, hang_up=hang_up)

    @classmethod
    def delay(cls, seconds: float) -> Self:
        """The request lands late and its answer is passed on, if the client still waits."""
        return cls("delay", seconds=seconds)

    @classmethod
    def answer(cls, status: int, code: str = "InternalError") -> Self:
        """The server never sees the request; the client gets this answer as S3 would word it."""
        return cls("answer", status=status, code=code)

    def wait(self) -> None:
        """Let the time pass after which the request lands."""
        time.sleep(self.seconds)
        if self.until:
            self.until.wait()

    def response(self, method: str) -> bytes:
        body = f"<Error><Code>{self.code}</Code><Message>fault</Message></Error>".encode()
        head = f"HTTP/1.1 {self.status} Fault\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + (b"" if method == "HEAD" else body)
