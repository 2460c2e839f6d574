"""Names people choose: which are allowed, and why not."""

from __future__ import annotations

import re

from omnigraph.model.errors import InvalidName

MAIN = "main"
NAME_BYTES_MAX = 200
GRAPH_ID_MAX = 64

_GRAPH_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{GRAPH_ID_MAX}}}")

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\]\\\"'`<>|]|[^\x00-\x7f]*[\u0080-\u009f]")


def check_ref_name(kind: str, name: str) -> str:
    """Check the name of a branch or a tag; any printable text without spaces and shell characters will do."""
    reason = _why_not(name)
    if reason is not None:
        raise InvalidName(kind, name, reason)
    return name


def _why_not(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name.encode("utf-8", "replace")) > NAME_BYTES_MAX:
        return f"it is longer than {NAME_BYTES_MAX} bytes"
    if any(0xD800 <= ord(c) <= 0xDFFF for c in name):
        return "it is not valid Unicode"
    bad = _FORBIDDEN.search(name)
    if bad is not None or not name.isprintable():
        return "use letters, digits and any of - _ . / @ + = # % & ( ) { } , ; !, without spaces"
    if name.startswith("__"):
        return "names that start with '__' are reserved"
    if name.startswith("-"):
        return "a leading '-' would look like an option"
    if any(part in {"", ".", ".."} for part in name.split("/")):
        return "each part between '/' must be a name ('.' and '..' are not)"
    return None


def check_graph_id(name: str) -> str:
    """Check the id a graph is served or declared under: one rule everywhere."""
    if _GRAPH_ID.fullmatch(name) is None:
        raise InvalidName("graph", name, f"use 1 to {GRAPH_ID_MAX} of the letters A-Z, a-z, the digits, - and _")
    return name
