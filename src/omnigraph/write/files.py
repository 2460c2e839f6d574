"""The files an address stands for: one, those a pattern matches, or those in a folder and the folders below it.

An export has a folder for each type, `nodes/Person/part-00000.parquet`: such a file says of what type its rows are.
"""

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

_KINDS = {"nodes": "node", "edges": "edge"}
_WILD = "*?["
_OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "azure")


@dataclass(frozen=True)
class DataFile:
    """A file to load from, and what it is called in reports; the name is empty for the only one."""

    uri: str
    name: str = ""
    type_name: str | None = None
    """The type that its folder names, such as `node:Person`."""

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
        if text.endswith("/"):
            return _named(matching_objects(f"{text}**/*", options), text, text)
        return _named(matching_objects(text, options), text)
    if scheme not in ("", "file"):
        return None
    return _local(Path(unquote(urlsplit(text).path)) if scheme else Path(text).expanduser(), text)


def _local(path: Path, text: str) -> list[DataFile] | None:
    try:
        if path.is_dir():
            return _named([str(one) for one in path.rglob("*") if one.is_file()], text, str(path))
        if path.exists() or not any(sign in text for sign in _WILD) or text.lstrip().startswith(("{", "[")):
            return None
    except (OSError, ValueError):
        return None
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 - absolute too
    return _named([one for one in matches if Path(one).is_file()], text)


def _named(found: Sequence[str], text: str, folder: str = "") -> list[DataFile]:
    """By name, hidden ones left out; names that are not unique are told apart by their folders."""
    shown = sorted(one for one in found if not _is_hidden(PurePosixPath(one.removeprefix(folder)), folder))
    if not shown:
        raise NotFound(f"the folder {text} has no files to load" if folder else f"no file matches {text}", path=text)
    if len(shown) > 2**20:
        raise BadRequest(f"{text} matches {len(shown)} files: load them in several steps")
    names = [PurePosixPath(one).name for one in shown]
    if len(set(names)) < len(names):
        names = shown
    return [DataFile(uri, name, _type_of(uri)) for uri, name in zip(shown, names, strict=True)]


def _is_hidden(path: PurePosixPath, folder: str) -> bool:
    """Whether a name begins with a sign that says so; of what is below a folder, the names of all folders count."""
    return any(part[0] in "._" for part in (path.parts if folder else path.parts[-1:]))


def _type_of(uri: str) -> str | None:
    folders = PurePosixPath(uri).parts[-3:-1]
    return f"{_KINDS[folders[0]]}:{folders[1]}" if len(folders) == 2 and folders[0] in _KINDS else None
