"""What an operator decides: which graphs, who may call, and how much at once."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from omnigraph.model.errors import BadRequest
from omnigraph.server.tokens import Tokens, read_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.policy import Bundle


class AuthMode(StrEnum):
    """How a server decides."""

    OPEN = "open"
    """Everybody may do everything, because an operator said so in as many words."""

    DEFAULT_DENY = "default_deny"
    """Whoever has a token may read."""

    POLICY = "policy"
    """Policies say who may do what."""


@dataclass(frozen=True)
class Limits:
    """How much one request, one actor and the process may take."""

    json_bytes_max: int = 8 * 2**20
    load_bytes_max: int = 256 * 2**20
    job_bytes_max: int = 64 * 2**30
    body_timeout_s: float = 60.0
    """A body has to have arrived after this time."""
    query_timeout_s: float = 300.0
    actor_inflight_max: int = 16
    actor_bytes_max: int = 4 * 2**30
    requests_max: int = 512
    """Requests in the process; more are turned away at the door."""
    exports_max: int = 8
    threads: int = 32
    shutdown_grace_s: float = 30.0


@dataclass(frozen=True)
class GraphSettings:
    """One graph that is to be served."""

    id: str
    uri: str
    queries: tuple[str, ...] = ()
    """Files and folders of stored queries."""
    policy: Bundle | None = None
    external_blobs: tuple[str, ...] = ()
    schema_is_managed: bool = False
    """A control plane applies schemas; over HTTP it is refused."""


@dataclass(frozen=True)
class Settings:
    """A whole server."""

    graphs: tuple[GraphSettings, ...]
    tokens: Tokens = Tokens()
    server_policy: Bundle | None = None
    unauthenticated: bool = False
    require_all_graphs: bool = False
    limits: Limits = field(default_factory=Limits)
    storage_options: dict[str, str] | None = None

    @property
    def has_policy(self) -> bool:
        """Whether anything is decided by a policy."""
        return self.server_policy is not None or any(graph.policy is not None for graph in self.graphs)

    @property
    def mode(self) -> AuthMode:
        """How this server decides; refuses to be open by accident."""
        if self.tokens:
            return AuthMode.POLICY if self.has_policy else AuthMode.DEFAULT_DENY
        if self.has_policy:
            raise BadRequest(
                "there is a policy but no bearer token, so nobody could be told apart: set "
                "OMNIGRAPH_SERVER_BEARER_TOKEN or OMNIGRAPH_SERVER_BEARER_TOKENS_FILE"
            )
        if not self.unauthenticated:
            raise BadRequest(
                "there is no bearer token: set OMNIGRAPH_SERVER_BEARER_TOKEN or OMNIGRAPH_SERVER_BEARER_TOKENS_FILE, "
                "or pass --unauthenticated to let everybody do everything"
            )
        return AuthMode.OPEN


def check_bind(host: str, mode: AuthMode) -> None:
    """An open server listens to this machine only."""
    if mode is AuthMode.OPEN and not is_loopback(host):
        raise BadRequest(
            f"without authentication the server binds to this machine only, not to {host}: set bearer tokens, or bind "
            "to 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_true(text: str | None) -> bool:
    """Whether an environment variable says yes."""
    return text is not None and text.strip().lower() not in ("", "0", "false")


def limits_of(env: Mapping[str, str]) -> Limits:
    """The limits an environment sets."""
    names = {
        "actor_inflight_max": "OMNIGRAPH_PER_ACTOR_INFLIGHT_MAX",
        "actor_bytes_max": "OMNIGRAPH_PER_ACTOR_BYTES_MAX",
        "load_bytes_max": "OMNIGRAPH_LOAD_BYTES_MAX",
        "json_bytes_max": "OMNIGRAPH_JSON_BYTES_MAX",
        "job_bytes_max": "OMNIGRAPH_JOB_BYTES_MAX",
        "body_timeout_s": "OMNIGRAPH_BODY_TIMEOUT_S",
        "query_timeout_s": "OMNIGRAPH_QUERY_TIMEOUT_S",
        "requests_max": "OMNIGRAPH_REQUESTS_MAX",
    }
    given: dict[str, int] = {}
    for name, variable in names.items():
        if variable in env:
            text = env[variable]
            if not text.isdigit() or int(text) < 1:
                raise BadRequest(f"{variable}={text!r}: a whole number greater than 0 is expected")
            given[name] = int(text)
    return Limits(**given)


__all__ = [
    "AuthMode",
    "GraphSettings",
    "Limits",
    "Settings",
    "check_bind",
    "is_loopback",
    "is_true",
    "limits_of",
    "read_tokens",
]
