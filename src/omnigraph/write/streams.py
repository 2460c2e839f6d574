"""Bytes to load from: files, standard input, object stores, the web; unpacked if they are compressed."""

from __future__ import annotations

import contextlib
import http.client
import io
import os
import re
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from omnigraph.model.errors import (
    BadRequest,
    Denied,
    InvalidUri,
    NotFound,
    OmniGraphError,
    ResourceLimit,
    StoreUnavailable,
)
from omnigraph.storage.fetch import fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://")
_OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs", "azure"}
_BUFFER_BYTES = 1 << 20
_HTTP_TIMEOUT_S = 60


@dataclass(frozen=True)
class Stream:
    """Bytes that are read once. `size` is how many there are before unpacking, if that is known."""

    name: str
    size: int | None
    read: Callable[[int], bytes]
    close: Callable[[], None]
    consumed: Callable[[], int]
    """How many of `size` have been read: what a progress bar shows."""

    path: Path | None = None
    """The file, if it is an uncompressed one of this machine."""


def open_stream(source: object, options: dict[str, str] | None = None) -> Stream:
    """Open a path, a URI, `-` for standard input, bytes, or a file object."""
    if isinstance(source, bytes | bytearray | memoryview):
        return _stream("the bytes given", len(source), io.BytesIO(source).read)
    if isinstance(source, str):
        return _of_text(source, options)
    if isinstance(source, os.PathLike):
        return _file(Path(source))  # type: ignore[arg-type]
    if callable(getattr(source, "read", None)):
        file: Any = source
        return _stream(str(getattr(file, "name", "the file object given")), None, file.read)
    raise BadRequest(f"cannot read from a {type(source).__name__}: give a path, a URI, bytes or a file object")


def _of_text(text: str, options: dict[str, str] | None, *, unpack: bool = True) -> Stream:
    if text == "-":
        return _stream("standard input", None, sys.stdin.buffer.read)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return _file(Path(text).expanduser())
    word = scheme.group(1).lower()
    if word == "file":
        return _file(Path(unquote(urlsplit(text).path)), unpack=unpack)
    if word in ("http", "https"):
        return _web(text)
    if word not in _OBJECT_STORES:
        raise BadRequest(f"cannot read {text}: use a path, file://, s3://, gs://, az://, http:// or https://", uri=text)
    try:
        fetched = fetch(text, options)
    except InvalidUri as error:
        raise BadRequest(f"cannot read {text}: {error.facts['reason']}", uri=text) from None
    return _stream(text, fetched.size, _from_pieces(fetched.pieces), unpack=unpack)


def _file(path: Path, *, unpack: bool = True) -> Stream:
    try:
        if path.is_dir():
            raise BadRequest(f"{path} is a folder: name a file in it", path=str(path))
        file = path.open("rb", buffering=0)
        size = path.stat().st_size if path.is_file() else None
    except FileNotFoundError:
        hint = "; JSON text is given as bytes" if str(path).lstrip().startswith(("{", "[")) else ""
        raise NotFound(f"there is no file {str(path)[:200]}{hint}", path=str(path)) from None
    except PermissionError:
        raise Denied(f"no permission to read {path}", path=str(path)) from None
    except (OSError, ValueError) as error:
        raise BadRequest(f"cannot read {str(path)[:200]!r}: {error}") from None
    return _stream(str(path), size, file, file.close, path, unpack=unpack)


def _from_pieces(pieces: Iterator[bytes]) -> Callable[[int], bytes]:
    return lambda _: next(pieces, b"")


# -- the web -------------------------------------------------------------------------------------------


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """What an allowed address redirects to was not allowed."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Do not follow."""


def _web(url: str, *, follow: bool = True, unpack: bool = True) -> Stream:
    request = urllib.request.Request(url, headers={"User-Agent": "omnigraph"})  # noqa: S310 - http or https
    with _web_errors(url):
        opener = urllib.request.build_opener() if follow else urllib.request.build_opener(_NoRedirect)
        answer = opener.open(request, timeout=_HTTP_TIMEOUT_S)
    size = int(answer.headers.get("Content-Length") or 0) or None
    seen = 0

    def read(count: int) -> bytes:
        nonlocal seen
        with _web_errors(url):
            data = answer.read(count)
        seen += len(data)
        if not data and size is not None and seen < size:
            raise StoreUnavailable(f"{url} ended after {seen} of {size} bytes; try again", uri=url)
        return data

    return _stream(urlsplit(url).path or url, size, read, answer.close, unpack=unpack)


@contextlib.contextmanager
def _web_errors(url: str) -> Generator[None]:
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (404, 410):
            raise NotFound(f"there is nothing at {url} (HTTP {error.code})", uri=url) from None
        if error.code in (401, 403):
            raise Denied(f"no permission to read {url} (HTTP {error.code})", uri=url) from None
        raise StoreUnavailable(f"could not read {url}: HTTP {error.code}", uri=url) from None
    except (OSError, http.client.HTTPException) as error:
        raise StoreUnavailable(f"could not read {url}: {error}", uri=url) from None
    except ValueError as error:
        raise BadRequest(f"cannot read {url}: {error}", uri=url) from None


# -- unpacking -----------------------------------------------------------------------------------------


class _Raw(io.RawIOBase):
    """Anything that can be read from, as a file; counts what was read."""

    def __init__(self, read: Callable[[int], bytes | str]) -> None:
        self._read = read
        self._rest = b""
        self.count = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of the buffer."""
        if not self._rest:
            data = self._read(len(buffer))
            self._rest = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data or b""
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        self.count += len(part)
        return len(part)


class _RawFile(_Raw):
    """A file of this machine, which fills a buffer itself."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__(file.read)
        self._file = file

    def readinto(self, buffer: Any) -> int:
        """Fill a part of the buffer."""
        count = self._file.readinto(buffer) or 0
        self.count += count
        return count


def as_file(read: Callable[[int], bytes]) -> io.BufferedReader:
    """Make a file of anything that can be read from."""
    return io.BufferedReader(_Raw(read), _BUFFER_BYTES)


def _nothing() -> None:
    """Close nothing: whoever gave the file closes it."""


def _stream(
    name: str,
    size: int | None,
    read: Callable[[int], bytes] | io.FileIO,
    close: Callable[[], None] = _nothing,
    path: Path | None = None,
    *,
    unpack: bool = True,
) -> Stream:
    raw = _RawFile(read) if isinstance(read, io.FileIO) else _Raw(read)
    buffered = io.BufferedReader(raw, _BUFFER_BYTES)
    try:
        codec = packed_as(name, buffered.peek(4)) if unpack else None
    except OSError as error:
        close()
        raise BadRequest(f"cannot read {name}: {error}") from None
    except OmniGraphError:
        close()
        raise
    unpacked = buffered.read if codec is None else _unpacked(buffered, codec, name)
    return Stream(name, size, unpacked, close, lambda: raw.count, path if codec is None else None)


def packed_as(name: str, start: bytes) -> str | None:
    """Tell how bytes are compressed: the suffix says it, or how they start, because no text starts like that."""
    by_suffix = CODECS.get(Path(name).suffix.lower())
    by_start = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
    if by_suffix is not None and start and by_start != by_suffix:
        found = f"it is {by_start}" if by_start else "it is not compressed"
        raise BadRequest(f"{name} should be {by_suffix} by its name, but {found}", name=name)
    return by_start


def _unpacked(packed: io.BufferedReader[_Raw], codec: str, name: str) -> Callable[[int], bytes]:
    stream = pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), codec)

    def read(count: int) -> bytes:
        try:
            return stream.read(count)
        except (OSError, pa.ArrowException) as error:
            raise BadRequest(f"{name} is damaged: it cannot be unpacked as {codec} ({error})", name=name) from None

    return read


def read_all(source: object, options: dict[str, str] | None = None) -> bytes:
    """Read an input whole."""
    stream = open_stream(source, options)
    try:
        return b"".join(iter(lambda: stream.read(1 << 20), b""))
    finally:
        stream.close()


def read_reference(uri: str, bytes_max: int) -> bytes:
    """Read bytes that a blob refers to: at exactly this address, wherever it would send us; never unpacked, and no
    more of them than there is room for, whatever their size is said to be."""
    is_web = urlsplit(uri).scheme.lower() in ("http", "https")
    stream = _web(uri, follow=False, unpack=False) if is_web else _of_text(uri, None, unpack=False)
    found = bytearray()
    try:
        while block := stream.read(_BUFFER_BYTES):
            found += block
            if len(found) > bytes_max:
                raise ResourceLimit(
                    "external Blob object bytes", limit=bytes_max, actual=max(len(found), stream.size or 0)
                )
    finally:
        stream.close()
    return bytes(found)
