"""Checks the value of `@default` against the type of its property, and stores it in one canonical form."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.schema.catalog import Literal


class UnfitDefault(ValueError):
    """The value is not one of the property's type; the text says why."""


def fit_default(value: Literal, declared: PropType) -> Literal:
    """Give the value as the property stores it, or raise UnfitDefault."""
    if declared.is_list or declared.is_vector or declared.is_blob:
        raise UnfitDefault(f"a property of type {declared.required} cannot have a default")
    if declared.enum_values is not None:
        return _enum(value, declared.enum_values)
    if declared.scalar.is_integer:
        return _integer(value, declared.scalar)
    return _FITS[declared.scalar](value)


def _enum(value: Literal, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise UnfitDefault(f"{value!r} is not one of {', '.join(allowed)}")
    return value


def _integer(value: Literal, scalar: ScalarType) -> int:
    low, high = INTEGER_BOUNDS[scalar]
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnfitDefault(f"{value!r} is not a whole number")
    if not low <= value <= high:
        raise UnfitDefault(f"{value} does not fit in {scalar}: {low} to {high}")
    return value


def _string(value: Literal) -> str:
    if not isinstance(value, str):
        raise UnfitDefault(f"{value!r} is not a string")
    return value


def _bool(value: Literal) -> bool:
    if not isinstance(value, bool):
        raise UnfitDefault(f"{value!r} is neither true nor false")
    return value


def _float(value: Literal) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnfitDefault(f"{value!r} is not a number")
    return float(value)


def _float32(value: Literal) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", _float(value)))[0]
    except OverflowError:
        raise UnfitDefault(f"{value!r} does not fit in F32") from None


def _date(value: Literal) -> str:
    try:
        return date.fromisoformat(_string(value)).isoformat()
    except ValueError:
        raise UnfitDefault(f'{value!r} is not a date; write "YYYY-MM-DD"') from None


def _date_time(value: Literal) -> str:
    try:
        moment = datetime.fromisoformat(_string(value))
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnfitDefault(f'{value!r} is not a time; write "YYYY-MM-DDTHH:MM:SSZ"') from None
    # Not strftime for the year: it does not pad years before 1000 on every platform.
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


_FITS: dict[ScalarType, Callable[[Literal], Literal]] = {
    ScalarType.STRING: _string,
    ScalarType.BOOL: _bool,
    ScalarType.F32: _float32,
    ScalarType.F64: _float,
    ScalarType.DATE: _date,
    ScalarType.DATE_TIME: _date_time,
}
