"""`~/.omnigraph/credentials`: tokens by server, for the eyes of one user only."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from omnigraph.cli.operator import home
from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.model.files import gist, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECTION = re.compile(r"\[([^\]]+)\]")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
ANY = "OMNIGRAPH_BEARER_TOKEN"


def path() -> Path:
    """Where the file is."""
    return home() / "credentials"


def read_credentials() -> dict[str, str]:
    """Tokens by server; refuses a file that others can read."""
    place = path()
    try:
        mode = place.stat().st_mode
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise BadRequest(f"others can read {place}: run 'chmod 600 {place}'")
        lines = read_text(place).splitlines()
    except (FileNotFoundError, NotFound):
        return {}
    except OSError as error:
        raise BadRequest(f"cannot read {place}: {gist(error)}") from None
    return _parsed(lines, place)


def _parsed(lines: list[str], place: Path) -> dict[str, str]:
    tokens: dict[str, str] = {}
    section: str | None = None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        match = _SECTION.fullmatch(text)
        if not text or text.startswith(("#", ";")):
            continue
        if match is not None:
            section = match.group(1).strip()
            continue
        key, separator, value = text.partition("=")
        if section is None or not separator or key.strip() != "token":
            raise BadRequest(f"{place} line {number}: write '[server]' and below it 'token = …'")
        tokens[section] = value.strip()
    return tokens


def store_token(name: str, token: str | None) -> None:
    """Keep a token, or forget it. The file is never half-written and never readable by others."""
    if _NAME.fullmatch(name) is None:
        raise BadRequest(f"{name!r} cannot be the name of a server: use letters, digits, - _ and .")
    if token is not None and (not token or not token.isascii() or not token.isprintable() or " " in token):
        raise BadRequest("a token is one word of printable characters")
    tokens = read_credentials()
    if token is None:
        tokens.pop(name, None)
    else:
        tokens[name] = token
    place = path()
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = "\n".join(f"[{one}]\ntoken = {value}\n" for one, value in sorted(tokens.items()))
    handle, name_of_new = tempfile.mkstemp(dir=place.parent, prefix=".credentials-")  # made with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name_of_new).replace(place)
    except OSError as error:
        Path(name_of_new).unlink(missing_ok=True)
        raise BadRequest(f"cannot write {place}: {gist(error)}") from None


def token_for(url: str, servers: Mapping[str, str]) -> str | None:
    """The token for an address: that of the server whose address it begins with, else the one for any."""
    name = server_of(url, servers)
    if name is not None:
        keyed = os.environ.get(f"OMNIGRAPH_TOKEN_{name.upper().replace('-', '_')}") or read_credentials().get(name)
        if keyed:
            return keyed
    return os.environ.get(ANY) or None


def server_of(url: str, servers: Mapping[str, str]) -> str | None:
    """The name of the server an address belongs to: the longest that ends where a part of a path does."""
    fitting = [(len(known), name) for name, known in servers.items() if _is_below(url, known)]
    return max(fitting)[1] if fitting else None


def _is_below(url: str, base: str) -> bool:
    one, other = urlsplit(url), urlsplit(base)
    if (one.scheme.lower(), one.netloc.lower()) != (other.scheme.lower(), other.netloc.lower()):
        return False
    prefix = other.path.rstrip("/")
    return one.path.rstrip("/") == prefix or one.path.startswith(prefix + "/")
