"""One value at a time: what a record may give for a property, and why not.

The forms are those of JSON, and the Python objects that mean the same.
"""

from __future__ import annotations

import math
import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import orjson

from omnigraph.model.times import DATE_FORM, DATE_TIME_FORM, read_date, read_date_time
from omnigraph.model.types import INTEGER_BOUNDS, ScalarType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EPOCH_DAY = date(1970, 1, 1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Beyond these years there is no text for a day or a time, so nobody could read it back.
DAY_BOUNDS = ((date.min - EPOCH_DAY).days, (date.max - EPOCH_DAY).days)
MS_BOUNDS = (DAY_BOUNDS[0] * 86_400_000, DAY_BOUNDS[1] * 86_400_000 + 86_399_999)

NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

_SHOWN_MAX = 60
_DECIMAL_DIGITS_MAX = 40


class Unfit(ValueError):
    """The value is not one of the property's type; the text says why."""


def read_value(value: object, scalar: ScalarType) -> object:
    """Give what is stored: days and times as their counts. Raises Unfit."""
    value = _plain(value)
    if value is None:
        return None
    if scalar.is_integer:
        return _integer(value, INTEGER_BOUNDS[scalar])
    return _READS[scalar](value)


def _plain(value: object) -> object:
    """Take a value out of numpy's box."""
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[ms]").item()
    return value.item() if isinstance(value, np.generic) else value


def text_of(value: object) -> str:
    """Read a string that can be stored."""
    if not isinstance(value, str):
        raise Unfit(f"{shown(value)} is not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Unfit("half of a surrogate pair is no text") from None
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unfit(f"{shown(value)} is neither true nor false")
    return value


def _integer(value: object, bounds: tuple[int, int]) -> int:
    if isinstance(value, Decimal):
        value = _exact(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit(f"{shown(value)} is not a whole number")
    low, high = bounds
    if not low <= value <= high:
        raise Unfit(f"{shown(value)} is outside {low} to {high}")
    return value


def _exact(value: Decimal) -> int | Decimal:
    # Decimals like 1E+999999 would be worked out digit by digit.
    if value.is_finite() and value.adjusted() < _DECIMAL_DIGITS_MAX and value == value.to_integral_value():
        return int(value)
    return value


def _float(value: object) -> float:
    if isinstance(value, str) and value in NON_FINITE:
        return NON_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Unfit(f"{shown(value)} is not a number")
    try:
        return float(value)
    except (OverflowError, ValueError):
        raise Unfit(f"{shown(value)} does not fit in F64") from None


def _float32(value: object) -> float:
    number = _float(value)
    if not math.isfinite(number):
        raise Unfit(f"{shown(value)} is not finite")
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        raise Unfit(f"{shown(value)} does not fit in F32") from None


def _date(value: object) -> int | None:
    if isinstance(value, datetime):
        moment = _utc(value)
        return None if moment is None else (moment.date() - EPOCH_DAY).days
    if isinstance(value, date):
        return (value - EPOCH_DAY).days
    if not isinstance(value, str):
        return _count(value, DAY_BOUNDS, f"a day; write {DATE_FORM}")
    try:
        day = read_date(value) if len(value) <= len(DATE_FORM) else read_date_time(value).date()
    except ValueError:
        raise Unfit(f"{shown(value)} is not a day; write {DATE_FORM}") from None
    return (day - EPOCH_DAY).days


def _date_time(value: object) -> int | None:
    if isinstance(value, datetime):
        moment = _utc(value)
        return None if moment is None else (moment - EPOCH) // timedelta(milliseconds=1)
    if isinstance(value, date):
        return (value - EPOCH_DAY).days * 86_400_000
    if not isinstance(value, str):
        return _count(value, MS_BOUNDS, f"a time; write {DATE_TIME_FORM}")
    try:
        return (read_date_time(value) - EPOCH) // timedelta(milliseconds=1)
    except ValueError:
        raise Unfit(f"{shown(value)} is not a time; write {DATE_TIME_FORM}") from None


def _utc(value: datetime) -> datetime | None:
    if value != value:  # "not a time", as data frames write null
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise Unfit(f"{shown(value)} is outside the years 1 to 9999") from None


def _count(value: object, bounds: tuple[int, int], form: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit(f"{shown(value)} is not {form}")
    if not bounds[0] <= value <= bounds[1]:
        raise Unfit(f"{shown(value)} is outside the years 1 to 9999")
    return value


def items_of(value: object) -> Sequence[object] | None:
    """Give the items of an array, None if it is none."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim == 1 else None
    return value if isinstance(value, list | tuple) else None


def shown(value: object) -> str:
    """Write a value into a message: as JSON if it is a plain one, never long."""
    if isinstance(value, list | tuple):
        return f"an array of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < 200 else "this number"
    text = _json(value[: 2 * _SHOWN_MAX] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode() if value is None or isinstance(value, str | bool) else repr(value)
    except TypeError:  # half of a surrogate pair
        return repr(value)


_READS: dict[ScalarType, Callable[[object], object]] = {
    ScalarType.STRING: text_of,
    ScalarType.BOOL: _bool,
    ScalarType.F32: _float32,
    ScalarType.F64: _float,
    ScalarType.DATE: _date,
    ScalarType.DATE_TIME: _date_time,
}
