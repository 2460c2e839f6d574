"""The protocol over standard streams, for one agent on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from omnigraph.mcp.server import make_server

if TYPE_CHECKING:
    from omnigraph.mcp.desk import Desk


def serve_stdio(desk: Desk) -> None:
    """Serve until standard input ends."""
    server = make_server(lambda _: desk)

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)
