"""Where query text comes from: the text itself, or a file."""

from __future__ import annotations

from pathlib import Path

from omnigraph.model.errors import BadRequest, NotFound


def read_source(source: str | Path) -> tuple[str, str]:
    """Give the text and a name for it. A string is text, unless it is one line that ends like a file's name."""
    if isinstance(source, str) and ("\n" in source or not source.rstrip().endswith(".gq")):
        return source, "<query>"
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read: {error}") from None
