"""Blob columns: bytes that the graph manages, or the URI of an object elsewhere."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from omnigraph.model.types import MANAGED_PREFIX
from omnigraph.write.compute import pc
from omnigraph.write.values import Unfit, shown, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.write.scalars import Bad

URI_BYTES_MAX = 65_536


@dataclass(frozen=True, slots=True)
class BlobColumns:
    """What a Blob property stores: in every row at most one of `data` and `uri` is there."""

    data: pa.Array
    uri: pa.Array
    bad: Bad = field(default_factory=list[tuple[int, str]])

    @property
    def size(self) -> pa.Array:
        """Give the length of the managed bytes; null where there are none."""
        return pc.binary_length(self.data)


def build_blob(values: Sequence[object], *, strict: bool = True) -> BlobColumns:
    """Type the values of a Blob property. Text that is no base64 is bad in either mode."""
    data: list[bytes | None] = []
    uris: list[str | None] = []
    bad: Bad = []
    for index, value in enumerate(values):
        content, uri = None, None
        try:
            content, uri = _read(value)
        except Unfit as unfit:
            if strict or isinstance(value, str):
                bad.append((index, str(unfit)))
        data.append(content)
        uris.append(uri)
    return BlobColumns(pa.array(data, pa.large_binary()), pa.array(uris, pa.string()), bad)


def _read(value: object) -> tuple[bytes | None, str | None]:
    if value is None:
        return None, None
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value), None
    if isinstance(value, Path):
        return _content(value), None
    if not isinstance(value, str):
        raise Unfit(f"{shown(value)} is neither 'base64:…' nor a URI")
    if value.startswith(MANAGED_PREFIX):
        return _decode(value[len(MANAGED_PREFIX) :]), None
    return None, _uri(value)


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Unfit(f"what follows 'base64:' is not standard base64 ({error})") from None


def _uri(text: str) -> str:
    if not text.strip():
        raise Unfit("an empty text is no URI; an empty blob is 'base64:'")
    if len(text_of(text).encode()) > URI_BYTES_MAX:
        raise Unfit(f"a URI has at most {URI_BYTES_MAX} bytes")
    return text


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unfit(f"the file {str(path)!r} cannot be read: {error.strerror or error}") from None
