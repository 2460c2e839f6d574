"""Addresses: from the text a person types to a store and the options Lance needs for the same place."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from omnigraph.model.errors import InvalidUri

Scheme = Literal["file", "s3", "gs", "az"]

_SCHEMES: dict[str, Scheme] = {
    "file": "file",
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "gcs": "gs",
    "az": "az",
    "abfs": "az",
    "azure": "az",
}


@dataclass(frozen=True)
class Address:
    """Where a graph lives."""

    scheme: Scheme
    bucket: str
    prefix: str
    options: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def is_local(self) -> bool:
        """Whether this is a folder of this machine."""
        return self.scheme == "file"

    @property
    def uri(self) -> str:
        """The address in one canonical spelling."""
        if self.is_local:
            return self.prefix
        return f"{self.scheme}://{self.bucket}/{self.prefix}".rstrip("/")

    def child(self, path: str) -> str:
        """The address of something inside the graph, as Lance takes it."""
        return f"{self.uri}/{path}"


def parse_address(uri: str | os.PathLike[str], options: dict[str, str] | None = None) -> Address:
    """Read a local path, file://, s3://, gs:// or az:// address. Explicit options win over the environment."""
    text = os.fspath(uri)
    if not text.strip():
        raise InvalidUri(text, "it is empty")
    if "\x00" in text:
        raise InvalidUri(text, "it contains a NUL character")
    match = re.match(r"^([A-Za-z][A-Za-z0-9+.-]*)://", text)
    if match is None:
        return _local(text)
    scheme = _SCHEMES.get(match.group(1).lower())
    if scheme is None:
        what = match.group(1).lower()
        hint = "; a served graph is addressed with --server" if what in {"http", "https"} else ""
        raise InvalidUri(text, f"unknown scheme {what!r}: use a path, file://, s3://, gs:// or az://{hint}")
    parts = urlsplit(text)
    if scheme == "file":
        if parts.netloc not in {"", "localhost"}:
            raise InvalidUri(text, "a file:// address has three slashes: file:///path/to/graph.omni")
        return _local(unquote(parts.path))
    if not parts.netloc:
        raise InvalidUri(text, f"it names no bucket: {scheme}://bucket/path/to/graph.omni")
    prefix = parts.path.strip("/")
    if any(part in {"", ".", ".."} for part in prefix.split("/")) and prefix:
        raise InvalidUri(text, "empty parts, '.' and '..' are not allowed in the path")
    merged = _from_environment(scheme) | (options or {})
    return Address(scheme, parts.netloc, prefix, merged)


def _local(path: str) -> Address:
    absolute = Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - lexical: a link stays a link
    return Address("file", "", str(absolute))


def _truthy(text: str | None) -> bool:
    return text is not None and text.strip().lower() in {"1", "true", "yes", "on"}


def _from_environment(scheme: Scheme) -> dict[str, str]:
    """The variables people set for S3-compatible stores, under the names both libraries accept.

    For gs:// and az:// both libraries read their own usual variables, but for plain HTTP to an emulator.
    """
    env = os.environ
    if scheme == "az" and _truthy(env.get("AZURE_ALLOW_HTTP")):
        return {"allow_http": "true"}
    if scheme != "s3":
        return {}
    found: dict[str, str | None] = {
        "aws_access_key_id": env.get("AWS_ACCESS_KEY_ID"),
        "aws_secret_access_key": env.get("AWS_SECRET_ACCESS_KEY"),
        "aws_session_token": env.get("AWS_SESSION_TOKEN"),
        "aws_region": env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or "us-east-1",
        "aws_endpoint": env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL") or env.get("AWS_ENDPOINT"),
    }
    options = {key: value for key, value in found.items() if value}
    if "aws_endpoint" in options:
        path_style = env.get("AWS_S3_FORCE_PATH_STYLE")
        options["aws_virtual_hosted_style_request"] = "false" if path_style is None or _truthy(path_style) else "true"
    if _truthy(env.get("AWS_ALLOW_HTTP")):
        options["allow_http"] = "true"
    return options
