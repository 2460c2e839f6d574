"""Where query text comes from: the text itself, or a file."""

from __future__ import annotations

from pathlib import Path

from omnigraph.model.files import read_text


def read_source(source: str | Path) -> tuple[str, str]:
    """Give the text and a name for it. A string is text, unless it is one line that ends like a file's name."""
    if isinstance(source, str) and ("\n" in source or not source.rstrip().endswith(".gq")):
        return source, "<query>"
    path = Path(source)
    return read_text(path), str(path)
