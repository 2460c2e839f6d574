"""Ids of nodes from their keys. Load and mutation share this: one key always gives one id.

Every member is rendered from its stored value. One member is the id itself; several become a compact JSON
array of strings, ordered by stable property id.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from omnigraph.model.errors import BadRequest
from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.schema.literals import format_float

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from omnigraph.schema.catalog import NodeType

EPOCH_DAY = date(1970, 1, 1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class InvalidKey(BadRequest):
    """A value that no id can be derived from."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"cannot derive an id from {what}: {reason}", what=what, reason=reason)


def derive_id(node: NodeType, row: Mapping[str, object]) -> str | None:
    """Derive the id of a row from its key; None if the node type has no key."""
    if not node.key:
        return None
    return join_members(
        canonical_text(row.get(name), node.properties_by_name[name].type, f"{node.name}.{name}") for name in node.key
    )


def derive_ids(node: NodeType, rows: pa.Table | pa.RecordBatch) -> pa.Array | None:
    """Derive the ids of stored rows, column by column; None if the node type has no key."""
    if not node.key:
        return None
    columns = [
        canonical_column(rows.column(name), node.properties_by_name[name].type, f"{node.name}.{name}")
        for name in node.key
    ]
    if len(columns) == 1:
        return columns[0]
    texts = [column.to_pylist() for column in columns]
    return pa.array([join_members(members) for members in zip(*texts, strict=True)], pa.string())


def join_members(members: Iterable[str]) -> str:
    """Join the canonical texts of a key's members, which are in the order of `NodeType.key`."""
    texts = list(members)
    return texts[0] if len(texts) == 1 else orjson.dumps(texts).decode()


def canonical_text(value: object, declared: PropType, what: str = "a value") -> str:
    """Render a stored value as ids do. Dates may be given as day counts, times as milliseconds."""
    if value is None:
        raise InvalidKey(what, "it is null")
    if declared.is_list or declared.scalar not in _TEXTS:
        raise InvalidKey(what, f"{declared.required} has no canonical text")
    try:
        return _TEXTS[declared.scalar](value, declared.scalar)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidKey(what, str(error)) from None


def canonical_column(column: pa.Array | pa.ChunkedArray, declared: PropType, what: str) -> pa.Array:
    """Render a stored column as ids do. Null is refused."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count:
        raise InvalidKey(what, "it is null")
    if declared.is_list or declared.scalar not in _TEXTS:
        raise InvalidKey(what, f"{declared.required} has no canonical text")
    if declared.scalar.is_float:
        texts = [canonical_text(value, declared, what) for value in column.to_pylist()]
        return pa.array(texts, pa.string())
    # Dates and times are their counts; Arrow casts to those without looking at a calendar.
    if declared.scalar is ScalarType.DATE:
        column = pc.cast(column, pa.int32())
    elif declared.scalar is ScalarType.DATE_TIME:
        column = pc.cast(column, pa.int64())
    return pc.cast(column, pa.string())


def canonical_id(node: NodeType, supplied: str) -> str | None:
    """Give the canonical id for another spelling of a single key member; None if it is none.

    `007` is `7` for an integer, `2020-01-01` is the day count for a Date.
    """
    if len(node.key) != 1:
        return None
    declared = node.properties_by_name[node.key[0]].type
    try:
        return canonical_text(_READS.get(declared.scalar, str)(supplied), declared)
    except (InvalidKey, ValueError, OverflowError):
        return None


def _integer(value: object, scalar: ScalarType) -> str:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{value!r} is not a whole number")
    low, high = INTEGER_BOUNDS[scalar]
    if not low <= int(value) <= high:
        raise ValueError(f"{value} does not fit in {scalar}: {low} to {high}")
    return str(int(value))


def _float(value: object, scalar: ScalarType) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating):
        raise TypeError(f"{value!r} is not a number")
    # A value too large for F32 becomes infinite, and is refused as that.
    with np.errstate(over="ignore"):
        stored = np.float32(value) if scalar is ScalarType.F32 else np.float64(value)
    if not math.isfinite(stored):
        raise ValueError(f"{value} is not a finite {scalar}")
    return "0" if stored == 0 else format_float(float(stored), shortest=str(stored))


def _bool(value: object, _: ScalarType) -> str:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return "true" if value else "false"


def _string(value: object, _: ScalarType) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def _date(value: object, _: ScalarType) -> str:
    if isinstance(value, date) and not isinstance(value, datetime):
        return str((value - EPOCH_DAY).days)
    return _integer(value, ScalarType.I32)


def _date_time(value: object, _: ScalarType) -> str:
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return str((moment - EPOCH) // timedelta(milliseconds=1))
    return _integer(value, ScalarType.I64)


def _read_bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _read_integer(text: str) -> int:
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 100):
        raise ValueError(text)
    return int(text)


def _read_date(text: str) -> date | int:
    return date.fromisoformat(text) if "-" in text[1:] else _read_integer(text)


def _read_date_time(text: str) -> datetime | int:
    return datetime.fromisoformat(text) if "-" in text[1:] else _read_integer(text)


_TEXTS: dict[ScalarType, Callable[[object, ScalarType], str]] = {
    **dict.fromkeys(INTEGER_BOUNDS, _integer),
    ScalarType.F32: _float,
    ScalarType.F64: _float,
    ScalarType.BOOL: _bool,
    ScalarType.STRING: _string,
    ScalarType.DATE: _date,
    ScalarType.DATE_TIME: _date_time,
}

_READS: dict[ScalarType, Callable[[str], Any]] = {
    **dict.fromkeys(INTEGER_BOUNDS, _read_integer),
    ScalarType.F32: float,
    ScalarType.F64: float,
    ScalarType.BOOL: _read_bool,
    ScalarType.DATE: _read_date,
    ScalarType.DATE_TIME: _read_date_time,
}
