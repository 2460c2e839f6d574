"""The head of a request has to arrive in time: whoever sends it letter by letter holds no connection for ever."""

from __future__ import annotations

import asyncio
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def heads_within(timeout_s: float) -> type[asyncio.Protocol]:
    """HTTP/1.1 whose heads arrive within this time, counted from their first byte or from the connection."""
    return cast("type[asyncio.Protocol]", type("TimelyHeads", (_TimelyHeads,), {"head_timeout_s": timeout_s}))


class _TimelyHeads(H11Protocol):
    head_timeout_s: float
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._watch()
        else:
            self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self._late is None:
            self._late = asyncio.get_running_loop().call_later(self.head_timeout_s, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
