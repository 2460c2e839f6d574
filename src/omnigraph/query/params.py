"""What a caller gives for the parameters of a query: JSON in, typed values out.

Days, times, tuples and arrays of Python are taken as well.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest
from omnigraph.model.times import DATE_FORM, DATE_TIME_FORM, read_date, read_date_time
from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Value = str | int | float | bool | date | datetime | tuple["Value", ...] | None

_DECIMAL = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_BOUNDS = {**INTEGER_BOUNDS, ScalarType.U64: (0, 2**63 - 1)}


class _Unfit(ValueError):
    """The value is not one of the parameter's type; the text says why."""


def decode_params(query: ir.CheckedQuery, given: object) -> dict[str, Value]:
    """Give a typed value for every parameter. Raises a BadRequest that names the parameter that is wrong.

    Keys the query does not declare are kept as they are. Only parameters the query uses must be given.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise BadRequest("parameters are given as a JSON object")
    values = cast("dict[str, object]", given)
    decoded: dict[str, Value] = {}
    declared = {parameter.name: parameter.type for parameter in query.parameters}
    for name, kind in declared.items():
        if name in values:
            decoded[name] = _decode(name, kind, values[name])
        elif kind.nullable:
            decoded[name] = None
        elif name in used_parameters(query):
            hint = _misspelt(name, values, declared)
            raise BadRequest(f"parameter '{name}' not provided{hint}", parameter=name)
    for name, value in values.items():
        if name not in declared:
            decoded[name] = _inferred(name, value)
    return decoded


def _misspelt(name: str, values: Mapping[str, object], declared: Mapping[str, PropType]) -> str:
    found = suggest(name, [key for key in values if key not in declared])
    return "" if found is None else f"; {found.replace('did you mean', 'instead there is').rstrip('?')}"


def used_parameters(query: ir.CheckedQuery) -> set[str]:
    """Give the names of the parameters a query reads."""
    return {part.name for part in _everything(query) if isinstance(part, ir.Parameter)}


def _everything(part: Any) -> Iterator[Any]:
    yield part
    if isinstance(part, tuple):
        for item in cast("tuple[Any, ...]", part):
            yield from _everything(item)
    elif is_dataclass(part):
        for each in fields(part):
            yield from _everything(getattr(part, each.name))


# -- declared ------------------------------------------------------------------------------------------


def _decode(name: str, kind: PropType, value: object) -> Value:
    try:
        return _fit(kind, value)
    except _Unfit as unfit:
        raise BadRequest(f"parameter '{name}' is {kind}: {unfit}", parameter=name) from None


def _fit(kind: PropType, value: object) -> Value:
    if value is None:
        if kind.nullable:
            return None
        raise _Unfit("it cannot be null")
    if kind.is_vector:
        items = _items(value)
        if len(items) != kind.vector_dim:
            raise _Unfit(f"it takes {kind.vector_dim} numbers, not {len(items)}")
        return tuple(_float32(item) for item in items)
    if kind.is_list:
        item_type = PropType(kind.scalar)
        return tuple(_fit(item_type, item) for item in _items(value))
    if kind.scalar.is_integer:
        return _integer(kind.scalar, value)
    return _FITS[kind.scalar](value)


def _items(value: object) -> list[object]:
    if isinstance(value, tuple):
        return list(cast("tuple[object, ...]", value))
    numbers = getattr(value, "tolist", None)  # an array of numpy
    found = numbers() if callable(numbers) else value
    if not isinstance(found, list):
        raise _Unfit(f"{_shown(value)} is not an array")
    return cast("list[object]", found)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Unfit(f"{_shown(value)} is not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _Unfit("half of a surrogate pair is no text") from None
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Unfit(f"{_shown(value)} is neither true nor false")
    return value


def _integer(scalar: ScalarType, value: object) -> int:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Unfit(f"{_shown(value)} is not a whole number")
    least, most = _BOUNDS[scalar]
    if not least <= value <= most:
        raise _Unfit(f"{_shown(value)} is outside {least} to {most}")
    return value


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Unfit(f"{_shown(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _Unfit(f"{_shown(value)} is not a finite number")
    return number


def _float32(value: object) -> float:
    number = _float(value)
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        raise _Unfit(f"{_shown(value)} does not fit in F32") from None


def _date(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    text = _text(value)
    try:
        return read_date(text)
    except ValueError:
        raise _Unfit(f"{_shown(text)} is not a day; write {DATE_FORM}") from None


def _date_time(value: object) -> datetime:
    text = value.isoformat() if isinstance(value, datetime) else _text(value)
    try:
        return read_date_time(text)
    except ValueError:
        raise _Unfit(f"{_shown(text)} is not a time; write {DATE_TIME_FORM}") from None


_FITS: dict[ScalarType, Callable[[object], Value]] = {
    ScalarType.STRING: _text,
    ScalarType.BLOB: _text,
    ScalarType.BOOL: _bool,
    ScalarType.F32: _float32,
    ScalarType.F64: _float,
    ScalarType.DATE: _date,
    ScalarType.DATE_TIME: _date_time,
}


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**40 else "this number"
    return text if len(text) <= 60 else text[:57] + "…"


# -- undeclared ----------------------------------------------------------------------------------------


def _inferred(name: str, value: object) -> Value:
    if isinstance(value, list):
        return tuple(_inferred(name, item) for item in cast("list[object]", value))
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise BadRequest(f"parameter '{name}': an object is no value", parameter=name)
