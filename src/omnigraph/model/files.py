"""Text files people name: what is wrong with one is said in the same words everywhere."""

from __future__ import annotations

from pathlib import Path

from omnigraph.model.errors import BadRequest, NotFound


def read_text(path: str | Path) -> str:
    """The text of a file; an error that names the file if there is none, or no text in it."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}", path=str(path)) from None
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path} is no text in UTF-8: byte {error.start} is not", path=str(path)) from None
    except OSError as error:
        raise BadRequest(f"cannot read {path}: {gist(error)}", path=str(path)) from None


def gist(error: OSError) -> str:
    """What the system says, without its number and without the name of the file once more."""
    return error.strerror or str(error)


__all__ = ["gist", "read_text"]
