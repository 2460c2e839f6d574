"""The files an address stands for: one, those a pattern matches, or those in a folder."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.storage.fetch import matching_objects

if TYPE_CHECKING:
    from collections.abc import Sequence

_WILD = "*?["
_OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "azure")


@dataclass(frozen=True)
class DataFile:
    """A file to load from, and what it is called in reports; the name is empty for the only one."""

    uri: str
    name: str = ""

    def word(self, unit: str) -> str:
        """What its lines or rows are counted in."""
        return f"{self.name} {unit}" if self.name else unit


def data_files(source: object, options: dict[str, str] | None = None) -> list[DataFile] | None:
    """The files a pattern or a folder stands for, by name; None for what stands for itself."""
    if not isinstance(source, str) and not isinstance(source, os.PathLike):
        return None
    text = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(text, str) or text == "-":
        return None
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if scheme in _OBJECT_STORES:
        if not any(sign in text for sign in _WILD) and not text.endswith("/"):
            return None
        return _named(matching_objects(text if not text.endswith("/") else f"{text}*", options), text)
    if scheme not in ("", "file"):
        return None
    return _local(Path(unquote(urlsplit(text).path)) if scheme else Path(text).expanduser(), text)


def _local(path: Path, text: str) -> list[DataFile] | None:
    try:
        if path.is_dir():
            return _named([str(one) for one in path.iterdir() if one.is_file()], text)
        if path.exists() or not any(sign in text for sign in _WILD) or text.lstrip().startswith(("{", "[")):
            return None
    except (OSError, ValueError):
        return None
    return _named([one for one in glob.glob(str(path)) if Path(one).is_file()], text)  # noqa: PTH207 - absolute too


def _named(found: Sequence[str], text: str) -> list[DataFile]:
    """By name, hidden ones left out; names that are not unique are told apart by their folders."""
    shown = sorted(one for one in found if PurePosixPath(one).name[0] not in "._")
    if not shown:
        raise NotFound(f"no file matches {text}", path=text)
    if len(shown) > 2**20:
        raise BadRequest(f"{text} matches {len(shown)} files: load them in several steps")
    names = [PurePosixPath(one).name for one in shown]
    if len(set(names)) < len(names):
        names = shown
    return [DataFile(uri, name) for uri, name in zip(shown, names, strict=True)]
