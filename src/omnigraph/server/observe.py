"""What operators see: a log line and metrics for each request, a name for it that the client gets too."""

from __future__ import annotations

import logging
import re
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from ulid import ULID

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from omnigraph.storage.meter import Meter

log = logging.getLogger("omnigraph.server")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_RECORD = "omnigraph.record"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


@dataclass
class Record:
    """What is known of one request."""

    request_id: str
    operation: str = "unknown"
    graph: str | None = None
    actor: str | None = None
    error: str | None = None
    storage: dict[str, int] = field(default_factory=dict[str, int])
    kinds: dict[str, int] = field(default_factory=dict[str, int])

    def meter(self, meter: Meter) -> None:
        """Add what the store was asked for."""
        for name, value in meter.counters().items():
            self.storage[name] = self.storage.get(name, 0) + value
        for kind, count in meter.counts.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count


def record_of(scope: Scope) -> Record:
    """The record of the request at hand."""
    return scope["state"][_RECORD]


class Metrics:
    """Counters and times, as Prometheus reads them."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "omnigraph_requests", "Requests by operation and status.", ("operation", "status"), registry=registry
        )
        self.seconds = Histogram(
            "omnigraph_request_seconds",
            "Time to the last byte of the answer.",
            ("operation",),
            registry=registry,
            buckets=_BUCKETS,
        )
        self.storage = Counter(
            "omnigraph_storage_requests",
            "Requests to the store by operation and kind.",
            ("operation", "kind"),
            registry=registry,
        )
        self.stages = Counter(
            "omnigraph_storage_stages",
            "Requests to the store that waited for another.",
            ("operation",),
            registry=registry,
        )
        self.bytes = Counter("omnigraph_storage_bytes", "Bytes moved.", ("operation",), registry=registry)
        self.errors = Counter("omnigraph_errors", "Errors by kind.", ("operation", "kind"), registry=registry)
        self.inflight = Gauge("omnigraph_requests_inflight", "Requests being answered.", registry=registry)
        self.races_lost = Gauge(
            "omnigraph_publish_races_lost",
            "Publishes that were tried again, because another process was first, on branches that are open.",
            ("graph",),
            registry=registry,
        )
        self.writes = Gauge("omnigraph_writes_inflight", "Writes that were admitted.", registry=registry)

    def add(self, record: Record, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        operation = record.operation
        self.requests.labels(operation, str(status)).inc()
        self.seconds.labels(operation).observe(seconds)
        for kind, count in record.kinds.items():
            self.storage.labels(operation, kind).inc(count)
        self.stages.labels(operation).inc(record.storage.get("storage.stages", 0))
        self.bytes.labels(operation).inc(record.storage.get("storage.bytes", 0))
        if record.error is not None:
            self.errors.labels(operation, record.error).inc()


class Observe:
    """The outermost layer: names the request, counts it, writes its line."""

    def __init__(self, app: ASGIApp, metrics: Metrics, requests_max: int) -> None:
        self._app = app
        self._metrics = metrics
        self._requests_max = requests_max
        self._inflight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record = Record(_request_id(scope))
        scope.setdefault("state", {})[_RECORD] = record
        started_s, status = time.perf_counter(), 500

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", record.request_id.encode())]
            await send(message)

        self._inflight += 1
        self._metrics.inflight.set(self._inflight)
        try:
            if self._inflight > self._requests_max and scope["path"] not in ("/healthz", "/readyz", "/metrics"):
                await _turn_away(named)
            else:
                await self._app(scope, receive, named)
        finally:
            self._inflight -= 1
            self._metrics.inflight.set(self._inflight)
            seconds = time.perf_counter() - started_s
            self._metrics.add(record, status, seconds)
            _write_line(scope, record, status, seconds)


async def _turn_away(send: Any) -> None:
    body = orjson.dumps({"error": "the server is answering as much as it can", "code": "too_many_requests"})
    headers = [(b"content-type", b"application/json"), (b"retry-after", b"1"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value.decode("latin-1")):
            return value.decode("latin-1")
    return str(ULID())


def _write_line(scope: Scope, record: Record, status: int, seconds: float) -> None:
    level = logging.WARNING if status >= 500 else logging.INFO
    if not log.isEnabledFor(level):
        return
    facts: dict[str, Any] = {
        "request_id": record.request_id,
        "method": scope["method"],
        "operation": record.operation,
        "status": status,
        "ms": round(seconds * 1000, 2),
    }
    more = {"graph": record.graph, "actor": record.actor, "error": record.error}
    facts |= {name: value for name, value in more.items() if value is not None}
    log.log(level, "request", extra={"facts": facts | record.storage})


class JsonLines(logging.Formatter):
    """Log records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def log_as_json(level: str) -> None:
    """Send the lines of this package to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = JsonLines()
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.getLogger().handlers[:] = [handler]  # what libraries have to say is a line of JSON as well
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger("omnigraph").setLevel(level.upper())
