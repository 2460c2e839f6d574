"""Columns of text, as CSV has them: read as values of the declared type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa

from omnigraph.model.types import PropType, ScalarType
from omnigraph.write.blobs import BlobColumns, build_blob
from omnigraph.write.casts import cast_column, plain_array
from omnigraph.write.columns import Column, build_column
from omnigraph.write.compute import pc

if TYPE_CHECKING:
    from collections.abc import Callable

# Arrow reads more forms than these (hexadecimal, `inf`), Python others (`1_000`).
_WHOLE = r"^-?[0-9]{1,18}$"
_DECIMAL = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
_ANY_WHOLE = re.compile(r"-?[0-9]{1,40}", re.ASCII)
_ANY_NUMBER = re.compile(r"[+-]?([0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})([eE][+-]?[0-9]{1,5})?", re.ASCII)
_BOOLS = {"true": True, "false": False}


def read_texts(column: pa.Array | pa.ChunkedArray, declared: PropType) -> Column | BlobColumns:
    """Type a column of text. Nothing is null; lists and vectors are JSON; true and false in any case."""
    texts = plain_array(column)
    if declared.is_blob:
        return build_blob(texts.to_pylist())
    if declared.scalar is ScalarType.STRING and not declared.is_list:
        return build_column(texts.to_pylist(), declared) if texts.type != pa.string() else Column(texts)
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    if declared.is_list or declared.is_vector:
        return build_column([_json(text) for text in texts.to_pylist()], declared)
    pattern = _WHOLE if declared.scalar.is_integer else _DECIMAL
    if declared.scalar.is_numeric and pc.all(pc.match_substring_regex(texts, pattern), min_count=0).as_py():
        return cast_column(texts.cast(pa.int64() if pattern is _WHOLE else pa.float64()), declared)
    read = _READS.get(declared.scalar, _whole)
    return build_column([None if text is None else read(text) for text in texts.to_pylist()], declared)


def _json(text: str | None) -> object:
    try:
        return None if text is None else orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _whole(text: str) -> object:
    return int(text) if _ANY_WHOLE.fullmatch(text) else text


def _number(text: str) -> object:
    return float(text) if _ANY_NUMBER.fullmatch(text) else text


def _bool(text: str) -> object:
    return _BOOLS.get(text.lower(), text)


_READS: dict[ScalarType, Callable[[str], object]] = {
    ScalarType.BOOL: _bool,
    ScalarType.F32: _number,
    ScalarType.F64: _number,
}
