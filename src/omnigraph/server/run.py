"""The process: bind, say where, answer until told to stop, finish what has begun."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from omnigraph.model.errors import BadRequest
from omnigraph.model.files import gist
from omnigraph.server.app import create_app
from omnigraph.server.graphs import open_server
from omnigraph.server.heads import heads_within
from omnigraph.server.observe import log_as_json
from omnigraph.server.settings import check_bind

if TYPE_CHECKING:
    from omnigraph.server.settings import Settings

KEEP_ALIVE_S = 75
HEADERS_BYTES_MAX = 64 * 1024


class _Announcing(uvicorn.Server):
    """Says on standard output where it listens, as soon as it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Bind."""
        await super().startup(sockets)
        for one in self.servers:
            for bound in one.sockets:
                host, port = bound.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                sys.stdout.write(f"OMNIGRAPH_LISTEN_ADDR={shown}:{port}\n")
                sys.stdout.flush()
                return


def serve(settings: Settings, bind: str, *, log_level: str = "info") -> None:
    """Serve until SIGINT or SIGTERM."""
    host, port = parse_bind(bind)
    check_bind(host, settings.mode)
    log_as_json(log_level)
    server = open_server(settings)
    config = uvicorn.Config(
        create_app(server),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=int(settings.limits.shutdown_grace_s),
        h11_max_incomplete_event_size=HEADERS_BYTES_MAX,
        http=heads_within(settings.limits.body_timeout_s),
    )
    running = _Announcing(config)
    with suppress(SystemExit):  # it has written a line of the log, and would end with a code of its own
        running.run()
    if not running.started:
        raise BadRequest(_why_not(host, port, bind))


def _why_not(host: str, port: int, bind: str) -> str:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as one:
            one.bind(address)
    except OSError as error:
        return f"cannot listen at {bind}: {gist(error)}; choose another with --bind HOST:PORT"
    return "the server did not start; its log says why"


def parse_bind(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`."""
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isdigit() or int(port) > 65535:
        raise BadRequest(f"--bind {text!r}: write HOST:PORT, as in 127.0.0.1:8080")
    return host.strip("[]"), int(port)
